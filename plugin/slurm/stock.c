/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stock.c - finding and calling Slurm's own select/cons_tres */
#include "config.h" /* dladdr */

#include "plugin/slurm/stock.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "src/common/log.h"
#include "src/common/read_config.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

#define STOCK_FILE "select_cons_tres.so"

extern const char plugin_type[];

struct weft_stock weft_stock;
static plugin_handle_t stock_handle = PLUGIN_INVALID_HANDLE;

static const char *stock_names[] = {
#define OP(result, name, params, args) "select_p_" #name,
#define HOOK			       OP
#include "plugin/weft_ops.def"
#undef HOOK
#undef OP
};
#define N_STOCK_NAMES (sizeof(stock_names) / sizeof(stock_names[0]))

/* The pointers are filled in as an array, in the order of the names. */
_Static_assert(sizeof(struct weft_stock) == N_STOCK_NAMES * sizeof(void *),
	       "one pointer for each name");

/* The file this code was loaded from: under stock's name, weft shadows it. */
static bool loaded_as(const char *name)
{
	Dl_info info;
	const char *base = NULL;

	if (dladdr(&weft_stock, &info) && info.dli_fname) {
		base = strrchr(info.dli_fname, '/');
		base = base ? base + 1 : info.dli_fname;
	}
	return base && strcmp(base, name) == 0;
}

/* A copy of weft under stock's name must not be taken for stock: it says its
 * own type. */
static bool is_stock(const char *path)
{
	char type[64] = "";
	struct stat status;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	if (weft_compat_peek(path, type, sizeof(type)) != SLURM_SUCCESS)
		return false;
	return strcmp(type, plugin_type) != 0;
}

/* Writes the first stock plugin along PluginDir into path. */
static bool stock_find(char *path, size_t size)
{
	char *dirs = xstrdup(slurm_conf.plugindir), *rest = NULL;
	bool found = false;

	for (char *dir = dirs ? strtok_r(dirs, ":", &rest) : NULL;
	     dir && !found; dir = strtok_r(NULL, ":", &rest)) {
		int length = snprintf(path, size, "%s/" STOCK_FILE, dir);

		found = length > 0 && (size_t)length < size && is_stock(path);
	}
	xfree(dirs);
	return found;
}

int weft_stock_load(bool *shadow)
{
	char path[PATH_MAX];

	*shadow = loaded_as(STOCK_FILE);
	if (stock_handle != PLUGIN_INVALID_HANDLE)
		return SLURM_SUCCESS;
	if (!stock_find(path, sizeof(path))) {
		error("weft: Slurm's own " STOCK_FILE
		      " is in no folder of PluginDir=%s",
		      slurm_conf.plugindir);
		return SLURM_ERROR;
	}
	if (plugin_load_from_file WEFT_LOAD_ARGS(&stock_handle, path) !=
	    SLURM_SUCCESS) {
		stock_handle = PLUGIN_INVALID_HANDLE;
		error("weft: cannot load %s", path);
		return SLURM_ERROR;
	}
	if (plugin_get_syms(stock_handle, N_STOCK_NAMES, stock_names,
			    (void **)&weft_stock) < (int)N_STOCK_NAMES) {
		error("weft: %s lacks functions of Slurm " SLURM_VERSION_STRING,
		      path);
		weft_stock_unload();
		return SLURM_ERROR;
	}
	return SLURM_SUCCESS;
}

void weft_stock_unload(void)
{
	if (stock_handle != PLUGIN_INVALID_HANDLE)
		plugin_unload(stock_handle);
	stock_handle = PLUGIN_INVALID_HANDLE;
	memset(&weft_stock, 0, sizeof(weft_stock));
}

double weft_stock_s;

int weft_stock_job_test(const struct weft_job_test *test)
{
	double start_s = weft_worked_s(), deadline_s = weft_deadline(), took_s;
	int rc = weft_stock.job_test(
		test->job, test->nodes, test->min_nodes, test->max_nodes,
		test->want_nodes, test->mode, test->preemptable,
		test->preempted, test->excluded WEFT_WILL_RUN_OF(test));

	took_s = weft_worked_s() - start_s;
	weft_stock_s += took_s;
	if (deadline_s > 0)
		weft_deadline_set(deadline_s + took_s);
	return rc;
}
