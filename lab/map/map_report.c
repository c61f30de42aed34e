/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map_report.c - the answer to a mapping problem, for people and programs */
#include "base/size.h"
#include "cli/report.h"
#include "lab/map/map.h"

#include <inttypes.h>
#include <stdio.h>

static json_t *json_cost(const struct map_cost *cost)
{
	if (!cost->known)
		return json_null();
	return cost->whole ? json_integer(cost->integer)
			   : json_real(cost->real);
}

/* Is `part` a share of `whole`?  Nothing always is; matrices with numbers below
 * 0 may have costs and bounds of which something is not. */
static bool is_share(double part, double whole)
{
	return part <= 0 || part <= whole;
}

static json_t *json_share(double part, double whole, bool known)
{
	if (!known || !is_share(part, whole))
		return json_null();
	return json_real(part > 0 ? part / whole : 0);
}

/* What is above the floor, and how much of that may still be saved. */
static struct map_cost above_floor(const struct map_answer *a)
{
	if (!a->floor.known)
		return (struct map_cost){0};
	if (a->cost.whole && a->floor.whole)
		return map_cost_whole(a->cost.integer - a->floor.integer);
	return map_cost_real(a->cost.real - a->floor.real);
}

static double room_left(const struct map_answer *a)
{
	double room = a->cost.real - a->bound.real;

	return room > 0 ? room : 0;
}

static int answer_json(const struct map_answer *a, struct weft_error *err)
{
	const struct map_cost network = above_floor(a);
	json_t *object = json_object(), *list = json_array();

	for (uint32_t i = 0; i < a->n; i++)
		json_array_append_new(list, json_integer(a->assignment[i]));
	json_object_set_new(object, "schema", json_string("weft.map/1"));
	json_object_set_new(object, "n", json_integer(a->n));
	json_object_set_new(object, "slots", json_integer(a->n_slots));
	json_object_set_new(object, "cost", json_cost(&a->cost));
	json_object_set_new(object, "bound", json_cost(&a->bound));
	json_object_set_new(
		object, "gap",
		json_share(room_left(a), a->cost.real, a->bound.known));
	json_object_set_new(object, "floor", json_cost(&a->floor));
	json_object_set_new(object, "network_cost", json_cost(&network));
	json_object_set_new(object, "network_gap",
			    json_share(room_left(a), network.real,
				       a->bound.known && network.known));
	json_object_set_new(object, "natural_cost", json_cost(&a->natural));
	json_object_set_new(object, "given_cost", json_cost(&a->given));
	json_object_set_new(object, "method", json_string(a->method));
	json_object_set_new(object, "elapsed_s", json_real(a->elapsed_s));
	json_object_set_new(object, "interrupted",
			    json_boolean(a->interrupted));
	json_object_set_new(object, "assignment", list);
	return report_print(object, err);
}

static const char *cost_text(const struct map_cost *cost, char *buffer,
			     size_t size)
{
	if (cost->whole)
		snprintf(buffer, size, "%" PRId64, cost->integer);
	else
		snprintf(buffer, size, "%.12g", cost->real);
	return buffer;
}

static void text_line(const char *name, const struct map_cost *cost)
{
	char text[64];

	printf("  %-15s %16s", name, cost_text(cost, text, sizeof(text)));
}

/* "3.1 % less": the cost beside one of the starts. */
static void text_start(const char *name, const struct map_answer *a,
		       const struct map_cost *start)
{
	if (!start->known)
		return;
	text_line(name, start);
	if (start->real > 0 && a->cost.real >= 0)
		printf("   the cost is %.4f of it", a->cost.real / start->real);
	putchar('\n');
}

static void text_bound(const struct map_answer *a,
		       const struct map_cost *network)
{
	if (!a->bound.known)
		return;
	text_line("at least", &a->bound);
	if (room_left(a) <= 0) {
		puts("   this is the optimum");
		return;
	}
	if (is_share(room_left(a), a->cost.real))
		printf("   gap %.2f %%", 100 * room_left(a) / a->cost.real);
	if (network->known && network->real > 0)
		printf(", %.2f %% of what is above the floor",
		       100 * room_left(a) / network->real);
	putchar('\n');
}

static void answer_text(const struct map_options *o, const struct map_answer *a)
{
	const struct map_cost network = above_floor(a);
	char text[32];

	if (a->floor.known)
		printf("%u vertices on %u slots\n", a->n, a->n_slots);
	else
		printf("%u facilities and locations\n", a->n);
	text_line("cost", &a->cost);
	printf("   %s, %s%s\n", a->method,
	       weft_quantity_text(a->elapsed_s, "s", text, sizeof(text)),
	       a->interrupted ? ", interrupted" : "");
	if (network.known) {
		text_line("above the floor", &network);
		putchar('\n');
	}
	text_bound(a, &network);
	text_start("natural order", a, &a->natural);
	text_start("as given", a, &a->given);
	for (uint32_t i = 0; o->list && i < a->n; i++)
		printf("%u %u\n", i, a->assignment[i]);
}

int map_report(const struct map_options *o, const struct map_answer *a,
	       struct weft_error *err)
{
	if (o->json)
		return answer_json(a, err);
	answer_text(o, a);
	return 0;
}
