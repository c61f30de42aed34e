/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_ufm.c - cables as NVIDIA's UFM has them
 *
 * Its links, /ufmRest/resources/links:
 *	[{"source_guid": "...", "source_port": "1",
 *	  "source_port_node_description": "n012 mlx5_3",
 *	  "destination_port": "19",
 *	  "destination_port_node_description": "leaf03:19",
 *	  "width": "IB_4x"}, ...]
 * A host's description has its adapter behind a blank, a switch's its port
 * behind a colon.  And the tables of cables that are meant to be, which UFM
 * holds against those:
 *	#Fields:StartDevice,StartPort,...,EndDevice,EndPort,...,Speed,...
 *	leaf03,Port 19,...,n012,mlx5_3,...
 */
#include "base/lines.h"
#include "topology/import/import.h"
#include "topology/import/infiniband/ibnet_words.h"
#include "topology/import/json_source.h"
#include "topology/import/links.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CELL 256

struct ufm {
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_error *err;
	struct weft_told_links told;
	uint32_t left_out;
};

/* One end as the file has it. */
struct side {
	char device[CELL], port[CELL];
	bool is_switch;
};

static int fail(const struct ufm *u, int line, const char *what)
{
	return weft_fail_at(u->err, WEFT_EINVAL, u->input->path, line, 0, "%s",
			    what);
}

static int end_fill(struct ufm *u, const struct side *side, int line,
		    struct weft_end *end)
{
	const struct weft_place where = {u->input->source, line};
	char name[CELL];

	ibnet_word_clean((struct weft_span){side->device, strlen(side->device)},
			 name, sizeof(name));
	return weft_told_end(u->s, name, side->port, side->is_switch, where,
			     end, u->err);
}

static int link_take(struct ufm *u, const struct side *a, const struct side *b,
		     double rate, int line)
{
	struct weft_inventory_cable cable = {
		.n = 1,
		.rate_bytes_per_s = rate,
		.where = {u->input->source, line},
	};

	if (!a->device[0] || !b->device[0] ||
	    (!a->is_switch && !b->is_switch)) {
		u->left_out++;
		return 0;
	}
	if (end_fill(u, a, line, &cable.a) || end_fill(u, b, line, &cable.b))
		return -1;
	return weft_told_links_keep(&u->told, &cable, u->err);
}

/* ---- links ---- */

/* "leaf03:19", "MF0;leaf03:MQM9700/U1:19", "n012 mlx5_3", "n012 HCA-1". */
static void side_read(const char *desc, const char *port, struct side *side)
{
	struct weft_span text = {desc, strlen(desc)};
	const char *colon = strrchr(desc, ':');
	struct ibnet_adapter_words words;
	struct ibnet_switch_words parts;

	*side = (struct side){0};
	if (ibnet_is_sharp(text))
		return;
	if (colon && !strchr(colon, ' ')) {
		text.size = (size_t)(colon - desc);
		ibnet_switch_words(text, &parts);
		weft_span_copy(parts.name, side->device, CELL);
		snprintf(side->port, CELL, "%s", *port ? port : colon + 1);
		side->is_switch = true;
		return;
	}
	ibnet_adapter_words(text, &words);
	if (!words.host.size) /* a switch whose ports have no names */
		snprintf(side->device, CELL, "%.*s", CELL - 1, desc);
	else
		weft_span_copy(words.host, side->device, CELL);
	side->is_switch = !words.part.size;
	if (side->is_switch)
		snprintf(side->port, CELL, "%.*s", CELL - 1, port);
	else
		weft_span_copy(words.part, side->port, CELL);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = weft_json_text(object, key);

	return text ? text : "";
}

static int links_read(struct ufm *u, const json_t *list)
{
	struct side a, b;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *link = json_array_get(list, i);

		side_read(text_of(link, "source_port_node_description"),
			  text_of(link, "source_port"), &a);
		side_read(text_of(link, "destination_port_node_description"),
			  text_of(link, "destination_port"), &b);
		if (link_take(u, &a, &b, 0, 0))
			return -1;
	}
	return 0;
}

static int json_read(struct ufm *u)
{
	json_t *root = weft_json_source(u->input, u->err);
	int rc;

	if (!root)
		return -1;
	rc = json_is_array(root)
		     ? links_read(u, root)
		     : fail(u, 0,
			    "expected the list that /ufmRest/resources/links "
			    "answers");
	json_decref(root);
	return rc;
}

/* ---- tables ---- */

enum column {
	START_DEVICE,
	START_PORT,
	END_DEVICE,
	END_PORT,
	SPEED,
	N_COLUMNS
};
static const char *const column_names[N_COLUMNS] = {
	"StartDevice", "StartPort", "EndDevice", "EndPort", "Speed"};

struct columns {
	char separator;
	uint32_t of[N_COLUMNS]; /* column of a name, or WEFT_NONE */
	uint32_t n;		/* of the header */
};

/* "Start Device" and "start_device" are StartDevice. */
static bool is_column(struct weft_span cell, const char *name)
{
	for (size_t i = 0; i < cell.size; i++) {
		char c = (char)tolower((unsigned char)cell.at[i]);

		if (c == ' ' || c == '_')
			continue;
		if (!*name || c != tolower((unsigned char)*name))
			return false;
		name++;
	}
	return !*name;
}

/* Without "#", "#Fields:" before the first name. */
static bool head_read(struct weft_span line, struct columns *t)
{
	struct weft_span cell;
	uint32_t *of = t->of;

	weft_fill_none(of, N_COLUMNS);
	if (weft_span_starts(line, "#Fields:")) {
		line.at += 8;
		line.size -= 8;
	} else if (weft_span_starts(line, "#")) {
		line.at++;
		line.size--;
	}
	t->separator = line.size && memchr(line.at, ';', line.size)    ? ';'
		       : line.size && memchr(line.at, '\t', line.size) ? '\t'
								       : ',';
	for (t->n = 0; weft_span_csv(&line, t->separator, &cell); t->n++)
		for (int c = 0; c < N_COLUMNS; c++)
			if (is_column(cell, column_names[c]))
				of[c] = t->n;
	for (int c = 0; c < SPEED; c++)
		if (of[c] == WEFT_NONE)
			return false;
	return true;
}

/* Switches' ports are "Port 19" and "Blade 3_Port 1/7", or a bare number. */
static bool is_switch_port(const char *port)
{
	return strncasecmp(port, "port ", 5) == 0 ||
	       strncasecmp(port, "blade ", 6) == 0 ||
	       (*port && !port[strspn(port, "0123456789/")]);
}

static void cell_take(struct side *side, bool port, struct weft_span cell)
{
	weft_span_copy(cell, port ? side->port : side->device, CELL);
	if (port)
		side->is_switch = is_switch_port(side->port);
}

/* "400G", "NDR"? Only what is a number of Gb/s. */
static double speed_read(struct weft_span cell)
{
	char text[32], *end;
	double gbps = strtod(weft_span_copy(cell, text, sizeof(text)), &end);

	return end != text && (*end == 'G' || *end == 'g' || !*end) &&
			       gbps >= 1 && gbps <= 10000
		       ? gbps * 1e9 / 8
		       : 0;
}

static int row_read(struct ufm *u, struct weft_span line,
		    const struct columns *t, int number)
{
	const struct weft_place where = {u->input->source, number};
	const uint32_t *of = t->of;
	struct side a = {0}, b = {0};
	struct weft_span cell;
	double rate = 0;
	uint32_t n = 0;

	for (; weft_span_csv(&line, t->separator, &cell); n++) {
		if (n == of[START_DEVICE] || n == of[START_PORT])
			cell_take(&a, n == of[START_PORT], cell);
		else if (n == of[END_DEVICE] || n == of[END_PORT])
			cell_take(&b, n == of[END_PORT], cell);
		else if (n == of[SPEED])
			rate = speed_read(cell);
	}
	if (n < t->n)
		return weft_inventory_note(u->s, WEFT_FINDING_LINE_IGNORED,
					   NULL, where, u->err,
					   "not as many cells as columns");
	return link_take(u, &a, &b, rate, number);
}

static int table_read(struct ufm *u)
{
	struct weft_lines lines =
		weft_lines_start(u->input->text, u->input->size);
	struct weft_span line;
	struct columns t;
	bool headed = false;

	while (weft_lines_next(&lines, &line)) {
		if (!weft_span_trim(line).size)
			continue;
		if (!headed && !head_read(line, &t))
			return fail(u, lines.number,
				    "expected the columns StartDevice, "
				    "StartPort, EndDevice and EndPort");
		if (headed && row_read(u, line, &t, lines.number))
			return -1;
		headed = true;
	}
	return headed ? 0 : fail(u, 0, "an empty file");
}

/* ---- both ---- */

int weft_import_ufm(struct weft_inventory *s,
		    const struct weft_import_input *input,
		    struct weft_error *err)
{
	struct ufm u = {.s = s, .input = input, .err = err};
	const char *at = input->text + strspn(input->text, " \t\r\n");
	int rc = *at == '[' || *at == '{' ? json_read(&u) : table_read(&u);

	if (rc == 0 && !u.told.n)
		rc = fail(&u, 0, "no cable with a switch at one end");
	if (rc == 0)
		rc = weft_told_links_add(&u.told, s, err);
	if (rc == 0 && u.left_out)
		rc = weft_inventory_note(
			s, WEFT_FINDING_INPUT_PARTIAL, NULL,
			(struct weft_place){input->source, 0}, err,
			"%u link%s left out: inside of switches (SHARP), or "
			"without a switch",
			u.left_out, u.left_out == 1 ? " is" : "s are");
	free(u.told.links);
	return rc;
}

bool weft_looks_ufm(const char *text, size_t size)
{
	struct weft_lines lines = weft_lines_start(text, size);
	struct weft_span line;
	struct columns t;

	if (size && strstr(text, "\"source_port_node_description\""))
		return true;
	while (weft_lines_next(&lines, &line))
		if (weft_span_trim(line).size)
			return head_read(line, &t);
	return false;
}
