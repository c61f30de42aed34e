/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairwise_load.c - measurements from files and folders */
#include "base/text.h"
#include "costmodel/measured/nccl_log.h"
#include "costmodel/measured/pairwise.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct loading {
	struct weft_pairwise *p;
	const struct weft_fabric *f;
	struct weft_findings *findings;
};

static int text_take(void *context, const char *name, const char *text,
		     size_t size, struct weft_error *err)
{
	const struct loading *l = context;

	return weft_pairwise_parse(l->p, text, size, name, l->f, l->findings,
				   err);
}

static int file_load(struct weft_pairwise *p, const char *path,
		     const struct weft_fabric *f,
		     struct weft_findings *findings, struct weft_error *err)
{
	struct loading loading = {p, f, findings};

	return weft_text_each(path, WEFT_NCCL_MAX_BYTES, text_take, &loading,
			      err);
}

static int is_seen(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Sub-folders are left alone. */
static int folder_load(struct weft_pairwise *p, const char *folder,
		       const struct weft_fabric *f,
		       struct weft_findings *findings, struct weft_error *err)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, is_seen, alphasort), rc = 0;
	uint32_t n_files = 0;

	if (n < 0)
		return weft_fail_at(err, WEFT_EIO, folder, 0, 0, "%s",
				    strerror(errno));
	for (int i = 0; i < n; i++) {
		char path[4096];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s", folder,
			 entries[i]->d_name);
		if (rc == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
			n_files++;
			rc = file_load(p, path, f, findings, err);
		}
		free(entries[i]);
	}
	free(entries);
	if (rc == 0 && !n_files)
		rc = weft_fail_at(err, WEFT_EINVAL, folder, 0, 0,
				  "no file in this folder");
	return rc;
}

int weft_pairwise_load(struct weft_pairwise *p, const char *path,
		       const struct weft_fabric *f,
		       struct weft_findings *findings, struct weft_error *err)
{
	struct stat st;

	if (stat(path, &st))
		return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				    strerror(errno));
	return S_ISDIR(st.st_mode) ? folder_load(p, path, f, findings, err)
				   : file_load(p, path, f, findings, err);
}

void weft_pairwise_free(struct weft_pairwise *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->n_sources; i++)
		free(p->sources[i]);
	free(p->sources);
	free(p->pairs);
	free(p->tests);
	*p = (struct weft_pairwise){0};
}
