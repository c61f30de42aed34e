/* SPDX-License-Identifier: GPL-3.0-or-later */
/* setup_collect.c - asking Slurm, the network, the cloud and nodes what the
 * cluster is
 */
#include "base/hostlist.h"
#include "cli/command.h"
#include "cli/setup/setup.h"
#include "cli/slurm/slurm_live.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- who is there to be asked ---- */

/* The host's /sys; in a container it may be mounted elsewhere. */
static const char *sys_folder(void)
{
	const char *folder = getenv("WEFT_SYSFS");

	return folder ? folder : "/sys";
}

static bool first_line_has(const char *path, const char *text)
{
	char line[128] = "";
	FILE *in = fopen(path, "re");
	bool has = in && fgets(line, sizeof(line), in) && strstr(line, text);

	if (in)
		fclose(in);
	return has;
}

/* An adapter of Ethernet (RoCE) is in the same folder. */
static bool has_infiniband(void)
{
	const struct dirent *entry;
	char path[PATH_MAX];
	bool has = false;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/class/infiniband", sys_folder());
	folder = opendir(path);
	while (folder && !has && (entry = readdir(folder)) != NULL) {
		snprintf(path, sizeof(path),
			 "%s/class/infiniband/%s/ports/1/link_layer",
			 sys_folder(), entry->d_name);
		has = first_line_has(path, "InfiniBand");
	}
	if (folder)
		closedir(folder);
	return has;
}

/* Whether a text of the machine's firmware has `name`. */
static bool firmware_says(const char *field, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/class/dmi/id/%s", sys_folder(), field);
	return first_line_has(path, name);
}

static bool in_amazon(void)
{
	return firmware_says("sys_vendor", "Amazon");
}

static bool in_google(void)
{
	return firmware_says("sys_vendor", "Google");
}

/* The vendor is also that of any Hyper-V; the tag is Azure's own. */
static bool in_azure(void)
{
	return firmware_says("chassis_asset_tag",
			     "7783-7084-3265-9085-8269-3286-77");
}

static bool in_oracle(void)
{
	return firmware_says("chassis_asset_tag", "OracleCloud.com");
}

static bool in_kubernetes(void)
{
	return getenv("KUBERNETES_SERVICE_HOST") != NULL;
}

/* Whose answers are asked for where `here` holds; none changes anything.  Rows
 * of one name are tried until one answers. */
static const struct collector {
	const char *name, *format, *program, *command;
	bool (*here)(void);
} collectors[] = {
	{"infiniband", "ibnetdiscover", "ibnetdiscover",
	 "timeout 120 ibnetdiscover", has_infiniband},
	{"infiniband", "ibnetdiscover", "iblinkinfo",
	 "timeout 120 iblinkinfo -l", has_infiniband},
	{"aws", "aws", "aws",
	 "timeout 120 aws ec2 describe-instance-topology --output json",
	 in_amazon},
	{"gcp", "gcp", "gcloud",
	 "timeout 120 gcloud compute instances list --format=json", in_google},
	{"azure", "azure", "az", "timeout 120 az vm list --output json",
	 in_azure},
	{"oci", "oci", "oci",
	 "timeout 120 oci compute compute-host list --all --compartment-id "
	 "\"$(curl -sf -H 'Authorization: Bearer Oracle' "
	 "http://169.254.169.254/opc/v2/instance/compartmentId)\"",
	 in_oracle},
	{"kubernetes", "kubernetes", "kubectl",
	 "timeout 60 kubectl get nodes -o json", in_kubernetes},
};
#define N_COLLECTORS (sizeof(collectors) / sizeof(collectors[0]))

static bool is_given(const struct setup *s, const char *format)
{
	for (uint32_t i = 0; i < s->sources.n; i++)
		if (s->sources.list[i].importer &&
		    strcmp(s->sources.list[i].importer->name, format) == 0)
			return true;
	return false;
}

/* An answer that cannot be read must not stop the others: it is tried on an
 * inventory of its own. */
static bool is_readable(const struct setup *s, const struct source *source,
			struct weft_error *why)
{
	struct weft_inventory alone = {0};
	int rc = weft_import_text(&alone, source->importer, source->text,
				  source->size, source->path, source->hosts,
				  &s->sources.import, why);

	weft_inventory_free(&alone);
	return rc == 0;
}

/* Runs a command whose answer becomes a source; *told: it had one, else why
 * says what is wrong with it, if it is known. */
static int answer_take(struct setup *s, const char *command, const char *format,
		       const char *hosts, bool *told, struct weft_error *why,
		       struct weft_error *err)
{
	struct source source = {.hosts = hosts};

	*told = false;
	*why = (struct weft_error){0};
	if (setup_command_add(s, true, err, "%s", command))
		return -1;
	source.path = s->commands[s->n_commands - 1].text;
	source.text = command_read(command, &source.size, NULL);
	if (!source.text)
		return 0;
	source.importer =
		format ? weft_importer_find(format, err)
		       : weft_importer_guess(source.text, source.size);
	if (!source.importer || !is_readable(s, &source, why)) {
		free(source.text);
		return format && !source.importer ? -1 : 0;
	}
	*told = true;
	return sources_add_read(&s->sources, &source, err);
}

/* What the admin can do where none of the rows of a name has answered: `tried`
 * is the first that ran, or NULL. */
static int silence_tell(struct setup *s, const struct collector *c,
			const struct collector *tried,
			const struct weft_error *why, struct weft_error *err)
{
	if (!tried)
		return checks_add(&s->checks, c->name, false, err,
				  "no %s in PATH; install it, or run \"%s\" "
				  "elsewhere and give its answer with --from "
				  "%s FILE",
				  c->program, c->command, c->format);
	if (why->code)
		return checks_add(&s->checks, c->name, false, err,
				  "the answer of \"%s\" cannot be used: %s",
				  tried->command, why->text);
	return checks_add(&s->checks, c->name, false, err,
			  "no answer from: %s (as root?); give one with --from",
			  tried->command);
}

/* The rows first[n] have one name. */
static int collectors_run(struct setup *s, const struct collector *first,
			  size_t n, struct weft_error *err)
{
	const struct collector *tried = NULL;
	struct weft_error fault = {0};

	if (is_given(s, first->format) || !first->here())
		return 0;
	for (const struct collector *c = first; c < first + n; c++) {
		struct weft_error why;
		bool told;

		if (!command_exists(c->program))
			continue;
		if (answer_take(s, c->command, c->format, NULL, &told, &why,
				err))
			return -1;
		if (told)
			return checks_add(&s->checks, c->name, true, err,
					  "asked: %s", c->command);
		fault = tried ? fault : why;
		tried = tried ? tried : c;
	}
	return silence_tell(s, first, tried, &fault, err);
}

/* ---- Slurm ---- */

/* Where it runs, it is a source of its own, and says where files belong. */
static int slurm_collect(struct setup *s, struct weft_error *err)
{
	char release[64], select[64], topology[64];
	struct weft_error why = {0};

	if (slurm_config_read(&s->config, &why))
		return checks_add(&s->checks, "slurm", s->sources.n > 0, err,
				  "%s", why.text);
	slurm_config_value(&s->config, "SLURM_VERSION", release,
			   sizeof(release));
	slurm_config_value(&s->config, "SelectType", select, sizeof(select));
	slurm_config_value(&s->config, "TopologyPlugin", topology,
			   sizeof(topology));
	slurm_config_value(&s->config, "ClusterName", s->cluster,
			   sizeof(s->cluster));
	if (s->cluster[0] && !s->sources.hierarchy_options.name)
		s->sources.hierarchy_options.name = s->cluster;
	for (uint32_t i = 0; i < s->sources.n; i++)
		if (s->sources.list[i].live)
			return 0;
	if (setup_command_add(s, true, err, "scontrol show config") ||
	    setup_command_add(s, true, err, "scontrol --oneliner show nodes") ||
	    setup_command_add(s, true, err, "scontrol show topology") ||
	    sources_add(&s->sources, "slurm-live", err))
		return -1;
	return checks_add(&s->checks, "slurm",
			  strncmp(select, "select/cons_tres", 16) == 0, err,
			  "Slurm %s, %s, %s%s", release, select,
			  topology[0] ? topology : "no topology plugin",
			  strncmp(select, "select/cons_tres", 16) == 0
				  ? ""
				  : "; weft wraps select/cons_tres alone");
}

/* ---- insides of nodes ---- */

static bool same_kind(const struct weft_inventory_host *a,
		      const struct weft_inventory_host *b)
{
	const char *x = a->gpu_kind.text ? a->gpu_kind.text : "";
	const char *y = b->gpu_kind.text ? b->gpu_kind.text : "";

	return a->gpus.value == b->gpus.value && strcmp(x, y) == 0;
}

/* All hosts that are like host h, as a hostlist of the arena; NULL: h is not
 * the first of them. */
static const char *kind_hosts(struct weft_inventory *v, uint32_t h,
			      struct weft_error *err)
{
	const char **names = weft_calloc(v->n_hosts, sizeof(*names), err);
	const char *list = NULL;
	char *text;
	uint32_t n = 0;

	for (uint32_t i = 0; names && i < v->n_hosts; i++) {
		if (!same_kind(&v->hosts[i], &v->hosts[h]))
			continue;
		if (i < h)
			n = v->n_hosts;
		if (n < v->n_hosts)
			names[n++] = v->hosts[i].name;
	}
	if (names && n && names[0] == v->hosts[h].name) {
		text = weft_hostlist_encode(names, n);
		list = text ? weft_arena_text(&v->arena, text, strlen(text),
					      err)
			    : NULL;
		free(text);
	}
	free(names);
	return list;
}

#define INSIDE_ASKS                                                            \
	"if command -v nvidia-smi >/dev/null; then nvidia-smi topo -m; "       \
	"elif command -v rocm-smi >/dev/null; then rocm-smi --showtopo; "      \
	"else amd-smi topology; fi"

/* One node of a kind is asked what joins its GPUs, or the admin is shown how.
 */
static int inside_ask(struct setup *s, const struct weft_inventory_host *host,
		      const char *hosts, struct weft_error *err)
{
	char command[1024], who[128];
	struct weft_error why;
	bool told;

	/* A check is a line: of many hosts it names one. */
	snprintf(who, sizeof(who),
		 strlen(hosts) > 60 ? "%.80s and others like it" : "%.80s",
		 strlen(hosts) > 60 ? host->name : hosts);

	snprintf(command, sizeof(command),
		 "timeout 120 srun --quiet --nodes=1 --ntasks=1 --nodelist=%s "
		 "--gpus-per-node=%.0f --time=1 --immediate=60 sh -c '%s'",
		 host->name, host->gpus.value, INSIDE_ASKS);
	if (!s->srun)
		return setup_command_add(s, false, err, "%s", command) ||
				       checks_add(
					       &s->checks, "gpus", true, err,
					       "what joins the GPUs of %s is "
					       "not known yet; with --srun "
					       "one of them is asked, by a "
					       "job of a minute",
					       who)
			       ? -1
			       : 0;
	if (answer_take(s, command, NULL, hosts, &told, &why, err))
		return -1;
	return checks_add(&s->checks, "gpus", told, err,
			  told ? "%s: as %s says"
			       : "%s: no answer of nvidia-smi or rocm-smi "
				 "from %s; is it idle?",
			  who, host->name);
}

/* Names go into a command. */
static bool is_word(const char *name)
{
	return !name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789._-")];
}

static bool insides_given(const struct setup *s)
{
	return is_given(s, "nvidia-smi") || is_given(s, "rocm-smi") ||
	       is_given(s, "nccl-xml") || is_given(s, "hwloc-xml");
}

/* The nodes that Slurm lists, in a inventory that is looked at for this alone;
 * its hostlists must live as long as the sources. */
static int insides_collect(struct setup *s, struct weft_error *err)
{
	struct weft_inventory *v = &s->nodes;
	int rc = 0;

	if (!s->config.text || insides_given(s))
		return 0;
	if (slurm_live_read(v, &s->sources.import, err))
		return -1;
	for (uint32_t h = 0; h < v->n_hosts && rc == 0; h++) {
		const char *hosts =
			v->hosts[h].gpus.value > 0 && is_word(v->hosts[h].name)
				? kind_hosts(v, h, err)
				: NULL;

		if (hosts)
			rc = inside_ask(s, &v->hosts[h], hosts, err);
	}
	return rc;
}

/* ---- all ---- */

int setup_collect(struct setup *s, struct weft_error *err)
{
	if (slurm_collect(s, err))
		return -1;
	for (size_t i = 0, end; i < N_COLLECTORS; i = end) {
		for (end = i + 1;
		     end < N_COLLECTORS &&
		     strcmp(collectors[end].name, collectors[i].name) == 0;)
			end++;
		if (collectors_run(s, &collectors[i], end - i, err))
			return -1;
	}
	if (insides_collect(s, err))
		return -1;
	if (s->sources.n)
		return 0;
	return weft_fail(err, WEFT_EINVAL,
			 "no source describes the cluster: scontrol has no "
			 "answer, and no file is given with --from FORMAT "
			 "FILE");
}
