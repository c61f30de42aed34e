/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_gpu_fabric.c - which NVLink domain each host is in
 *
 * Lines "HOST,CLUSTER-UUID,CLIQUE-ID", as
 *     nvidia-smi --query-gpu=fabric.clusterUuid,fabric.cliqueId
 *                --format=csv,noheader
 * prints them for each GPU behind the host's name, which pdsh and clush put
 * there with a colon.  A host may have a line for each GPU.  GPUs outside of
 * any domain have [N/A] or the zero UUID.
 */
#include "topology/import/import.h"
#include "topology/import/lines.h"

#include <stdio.h>
#include <string.h>

static const char *const nowhere[] = {
	"",
	"[N/A]",
	"N/A",
	"[Not Supported]",
	"00000000-0000-0000-0000-000000000000",
};

static bool is_nowhere(struct weft_span uuid)
{
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
		if (weft_span_is(uuid, nowhere[i]))
			return true;
	return false;
}

/* "host: uuid, clique", "host,uuid,clique" or blanks between; 2 or 3 fields,
 * since a bare UUID is a domain of one clique. */
static uint32_t fields_split(struct weft_span line, struct weft_span *field)
{
	uint32_t n = 0;

	while (n < 3 && weft_span_word(&line, ",;\t ", &field[n]))
		n++;
	if (n && field[0].at[field[0].size - 1] == ':')
		field[0].size--;
	return weft_span_trim(line).size ? 4 : n;
}

static int line_ignore(struct weft_survey *s, struct weft_place where,
		       const char *why, struct weft_error *err)
{
	return weft_survey_note(s, WEFT_FINDING_LINE_IGNORED, NULL, where, err,
				"%s; expected HOST,CLUSTER-UUID,CLIQUE", why);
}

static bool is_header(const struct weft_span *field, uint32_t n)
{
	return n >= 2 && (weft_span_find(field[1], "lusterUuid") ||
			  weft_span_find(field[1], "luster_uuid"));
}

static int line_use(struct weft_survey *s, struct weft_span line,
		    struct weft_place where, struct weft_error *err)
{
	char name[WEFT_NAME_SIZE], domain[2 * WEFT_NAME_SIZE];
	struct weft_span field[3];
	uint32_t n = fields_split(line, field), host;

	if (is_header(field, n))
		return 0;
	if (n < 2 || n > 3)
		return line_ignore(s, where, "not three fields", err);
	if (field[0].size == 0 || field[0].size >= sizeof(name) ||
	    field[1].size >= sizeof(name) ||
	    (n == 3 && field[2].size >= sizeof(name)))
		return line_ignore(s, where, "a name is empty or too long",
				   err);
	host = weft_survey_host(s, weft_span_copy(field[0], name, sizeof(name)),
				where, err);
	if (host == WEFT_NONE)
		return -1;
	if (is_nowhere(field[1]))
		return 0;
	snprintf(domain, sizeof(domain), "%.*s%s%.*s", (int)field[1].size,
		 field[1].at, n == 3 ? "." : "",
		 n == 3 ? (int)field[2].size : 0, n == 3 ? field[2].at : "");
	return weft_survey_set_text(s, host, WEFT_HOST_NVLINK, domain, where,
				    err);
}

int weft_import_gpu_fabric(struct weft_survey *s,
			   const struct weft_import_input *input,
			   struct weft_error *err)
{
	struct weft_lines lines = weft_lines_start(input->text, input->size);
	struct weft_span line;

	while (weft_lines_next(&lines, &line)) {
		struct weft_place where = {input->source, lines.number};

		line = weft_span_trim(line);
		if (line.size == 0 || *line.at == '#')
			continue;
		if (line_use(s, line, where, err))
			return -1;
	}
	if (s->n_hosts == 0)
		return weft_fail_at(err, WEFT_EINVAL, input->path, 0, 0,
				    "no host; expected lines "
				    "HOST,CLUSTER-UUID,CLIQUE");
	return 0;
}
