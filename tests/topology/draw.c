/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draw.c - pictures of small fabrics against what they looked like when a
 * person last looked: tests/pictures/NAME.yaml and NAME.FORMAT.  A new case
 * needs no code: "draw NAME.yaml FORMAT" prints what belongs there. */
#include "topology/draw/draw.h"
#include "tests/lib/check.h"
#include "topology/draw/palette.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A scene that has something of everything: the first node is closed, the
 * second busy, the GPUs of the last two are a job's, in pairs. */
struct stage {
	struct weft_fabric *f;
	uint8_t *use;
	uint32_t *rank, *pair;
	struct weft_colouring colouring;
	struct weft_fact fact;
	struct weft_scene scene;
};

static void seats_fill(struct stage *s)
{
	const struct weft_fabric *f = s->f;
	uint32_t job = f->n_nodes > 2 ? f->n_nodes - 2 : 0;

	for (uint32_t g = 0; g < f->n_gpus; g++) {
		uint32_t node = f->gpu_node[g];

		s->rank[g] = s->pair[g] = WEFT_NONE;
		if (node >= job) {
			s->use[g] = WEFT_USE_JOB;
			s->rank[g] = s->scene.n_ranks++;
			s->pair[g] = s->rank[g] / 2;
		} else if (node < 2) {
			s->use[g] = node ? WEFT_USE_BUSY : WEFT_USE_CLOSED;
		}
	}
}

static void stage_open(struct stage *s, struct weft_fabric *f)
{
	memset(s, 0, sizeof(*s));
	s->f = f;
	s->use = calloc(f->n_gpus, sizeof(*s->use));
	s->rank = calloc(f->n_gpus, sizeof(*s->rank));
	s->pair = calloc(f->n_gpus, sizeof(*s->pair));
	assert_true(s->use && s->rank && s->pair);
	seats_fill(s);
	s->colouring = (struct weft_colouring){
		.name = "tp",
		.noun = "tp group",
		.n_groups = (s->scene.n_ranks + 1) / 2,
		.group = s->pair,
	};
	s->fact = (struct weft_fact){"Cost", "1 < 2 & 3", "\"quoted\""};
	s->scene.fabric = f;
	s->scene.title = "a job on <f> & \"g\"";
	s->scene.use = s->use;
	s->scene.rank = s->rank;
	s->scene.colourings = &s->colouring;
	s->scene.n_colourings = 1;
	s->scene.facts = &s->fact;
	s->scene.n_facts = 1;
}

static void stage_close(struct stage *s)
{
	free(s->use);
	free(s->rank);
	free(s->pair);
	weft_fabric_free(s->f);
}

static char *picture(const struct weft_scene *scene, const char *format,
		     uint32_t columns, bool colour)
{
	const struct weft_renderer *r = weft_renderer_find(format, NULL);
	struct weft_draw_options options = {
		.columns = columns, .colour = colour, .plain = true};
	struct weft_error err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(r);
	assert_non_null(out);
	r->render(scene, &options, out, &err);
	assert_no_error(&err);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *picture_of_file(const char *path, const char *format)
{
	struct weft_error err = {0};
	struct weft_fabric *f = weft_fabric_load(path, &err);
	struct stage s;
	char *text;

	assert_no_error(&err);
	stage_open(&s, f);
	text = picture(&s.scene, format, 72, false);
	stage_close(&s);
	return text;
}

static int case_check(const char *folder, const char *name)
{
	static const char *const formats[] = {"text", "svg", "dot"};
	char path[1024];
	int failed = 0;

	for (size_t i = 0; i < 3; i++) {
		char *want, *got;

		snprintf(path, sizeof(path), "%s/%s.yaml", folder, name);
		got = picture_of_file(path, formats[i]);
		snprintf(path, sizeof(path), "%s/%s.%s", folder, name,
			 formats[i]);
		want = test_read_file(path, NULL);
		if (!want || strcmp(want, got) != 0) {
			print_error("%s\nexpected:\n%s\nfound:\n%s", path,
				    want ? want : "(no file)", got);
			failed = 1;
		}
		free(want);
		free(got);
	}
	return failed;
}

static void pictures_are_as_they_were(void **state)
{
	char folder[512];
	const struct dirent *entry;
	int n = 0, failed = 0;
	DIR *dir;

	(void)state;
	snprintf(folder, sizeof(folder), "%s", test_source("tests/pictures"));
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		char name[256];
		const char *dot = strrchr(entry->d_name, '.');

		if (!dot || strcmp(dot, ".yaml") != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(dot - entry->d_name),
			 entry->d_name);
		failed += case_check(folder, name);
		n++;
	}
	closedir(dir);
	assert_int_equal(failed, 0);
	assert_true(n >= 4);
}

/* ---- properties ---- */

static const char small[] = "weft: fabric/1\n"
			    "name: small\n"
			    "nodes:\n"
			    "  n[0-5]: 4\n"
			    "levels:\n"
			    "  leaf:\n"
			    "    L[0-1]: n[0-5]\n";

static void stage_small(struct stage *s)
{
	struct weft_error err = {0};

	stage_open(s, weft_fabric_parse(small, strlen(small), "small", &err));
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		n++;
	return n;
}

static void text_keeps_to_its_width(void **state)
{
	struct stage s;

	(void)state;
	stage_small(&s);
	for (uint32_t columns = 60; columns < 130; columns += 7) {
		char *text = picture(&s.scene, "text", columns, false);
		char *rest = text, *line;

		while ((line = strsep(&rest, "\n")) != NULL)
			if (strlen(line) > columns)
				fail_msg("%u columns: \"%s\"", columns, line);
		free(text);
	}
	stage_close(&s);
}

static void text_without_colour_has_no_escapes(void **state)
{
	struct stage s;
	char *plain, *colour;

	(void)state;
	stage_small(&s);
	plain = picture(&s.scene, "text", 80, false);
	colour = picture(&s.scene, "text", 80, true);
	assert_null(strchr(plain, '\033'));
	assert_non_null(strchr(colour, '\033'));
	free(plain);
	free(colour);
	stage_close(&s);
}

static void page_escapes_what_could_end_its_script(void **state)
{
	struct stage s;
	char *page;

	(void)state;
	stage_small(&s);
	s.scene.title = "</script><script>alert(1)</script><!--";
	page = picture(&s.scene, "html", 0, false);
	assert_null(strstr(page, "alert(1)</script>"));
	assert_int_equal(count(page, "<script"), 2);
	assert_int_equal(count(page, "</script>"), 2);
	assert_null(strstr(page, "@SCENE@"));
	assert_null(strstr(page, "http:"));
	assert_null(strstr(page, "https:"));
	free(page);
	stage_close(&s);
}

static void json_counts_add_up(void **state)
{
	struct stage s;
	json_t *document, *gpus;
	json_int_t sum = 0;
	const char *key;
	json_t *value;
	char *text;

	(void)state;
	stage_small(&s);
	text = picture(&s.scene, "json", 0, false);
	document = json_loads(text, 0, NULL);
	assert_non_null(document);
	gpus = json_object_get(document, "gpus");
	json_object_foreach(gpus, key, value) sum += json_integer_value(value);
	assert_int_equal(sum, s.f->n_gpus);
	assert_int_equal(json_integer_value(json_object_get(gpus, "job")),
			 s.scene.n_ranks);
	json_decref(document);
	free(text);
	stage_close(&s);
}

static void bytes_that_are_no_text_do_no_harm(void **state)
{
	struct stage s;
	const char *const formats[] = {"text", "svg", "dot", "html", "json"};

	(void)state;
	stage_small(&s);
	s.scene.title = "\xff\xfe \x01";
	for (size_t i = 0; i < 5; i++)
		free(picture(&s.scene, formats[i], 80, false));
	stage_close(&s);
}

/* ---- colours ---- */

static double luminance(const char *hex)
{
	static const double weight[] = {0.7152, 0.2126, 0.0722};
	unsigned long rgb = strtoul(hex + 1, NULL, 16);
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		int shift = i == 0 ? 8 : i == 1 ? 16 : 0;
		double c = (double)(rgb >> shift & 0xff) / 255;

		sum += weight[i] * (c <= 0.04045
					    ? c / 12.92
					    : pow((c + 0.055) / 1.055, 2.4));
	}
	return sum;
}

/* WCAG 2: https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio */
static double contrast(const char *a, const char *b)
{
	double x = luminance(a) + 0.05, y = luminance(b) + 0.05;

	return x > y ? x / y : y / x;
}

static void colours_stand_out_from_their_paper(void **state)
{
	char colour[WEFT_COLOUR_SIZE];

	(void)state;
	for (int p = 0; p < WEFT_N_PAPERS; p++) {
		const struct weft_shades *shades = &weft_shades[p];

		assert_true(contrast(shades->ink, shades->paper) > 7);
		for (int h = 0; h < WEFT_N_HUES; h++)
			assert_true(contrast(shades->hue[h], shades->paper) >=
				    3);
		for (int i = 0; i <= 10; i++)
			assert_true(contrast(weft_ramp(p, i / 10.0, colour),
					     shades->paper) >= 2.95);
	}
}

static void ramps_get_lighter_all_the_way(void **state)
{
	char low[WEFT_COLOUR_SIZE], high[WEFT_COLOUR_SIZE];

	(void)state;
	for (int p = 0; p < WEFT_N_PAPERS; p++)
		for (int i = 0; i < 20; i++)
			assert_true(
				luminance(weft_ramp(p, i / 20.0, low)) <
				luminance(weft_ramp(p, (i + 1) / 20.0, high)));
}

/* More stands out more on either paper. */
static void heat_fades_into_its_paper(void **state)
{
	char less[WEFT_COLOUR_SIZE], more[WEFT_COLOUR_SIZE];

	(void)state;
	for (int p = 0; p < WEFT_N_PAPERS; p++)
		for (int i = 0; i < 20; i++)
			assert_true(contrast(weft_ramp(WEFT_HEAT + p, i / 20.0,
						       less),
					     weft_shades[p].paper) <
				    contrast(weft_ramp(WEFT_HEAT + p,
						       (i + 1) / 20.0, more),
					     weft_shades[p].paper));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pictures_are_as_they_were),
		cmocka_unit_test(text_keeps_to_its_width),
		cmocka_unit_test(text_without_colour_has_no_escapes),
		cmocka_unit_test(page_escapes_what_could_end_its_script),
		cmocka_unit_test(json_counts_add_up),
		cmocka_unit_test(bytes_that_are_no_text_do_no_harm),
		cmocka_unit_test(colours_stand_out_from_their_paper),
		cmocka_unit_test(ramps_get_lighter_all_the_way),
		cmocka_unit_test(heat_fades_into_its_paper),
	};
	char *text;

	if (argc != 3)
		return cmocka_run_group_tests(tests, NULL, NULL);
	text = picture_of_file(argv[1], argv[2]);
	fputs(text, stdout);
	free(text);
	return 0;
}
