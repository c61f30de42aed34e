/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.c - what other jobs send over each link */
#include "costmodel/time/load.h"

#include "costmodel/time/cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_STEP 64

int weft_load_parts_add(struct weft_load_parts *parts,
			const struct weft_load_part *part,
			struct weft_error *err)
{
	struct weft_load_part *grown;

	if (parts->n == parts->room) {
		grown = weft_realloc(parts->part,
				     parts->room + (size_t)ROOM_STEP,
				     sizeof(*grown), err);
		if (!grown)
			return -1;
		parts->part = grown;
		parts->room += ROOM_STEP;
	}
	parts->part[parts->n++] = *part;
	return 0;
}

void weft_load_parts_free(struct weft_load_parts *parts)
{
	int saved = errno;

	free(parts->part);
	memset(parts, 0, sizeof(*parts));
	errno = saved;
}

int weft_load_build(const struct weft_fabric *f, struct weft_load *load,
		    struct weft_error *err)
{
	size_t n = 2 * (size_t)f->n_domains;

	memset(load, 0, sizeof(*load));
	load->fabric = f;
	load->link = weft_calloc(n, sizeof(*load->link), err);
	load->n_parts = weft_calloc(n, sizeof(*load->n_parts), err);
	return load->link && load->n_parts ? 0 : -1;
}

void weft_load_free(struct weft_load *load)
{
	int saved = errno;

	if (load) {
		free(load->link);
		free(load->n_parts);
		memset(load, 0, sizeof(*load));
	}
	errno = saved;
}

static void link_add(struct weft_load_link *link,
		     const struct weft_load_link *add, double sign)
{
	link->duty += sign * add->duty;
	link->duty_squared += sign * add->duty * add->duty;
	link->flows += sign * add->flows;
	link->rate_bytes_per_s += sign * add->rate_bytes_per_s;
	link->gpus += sign * add->gpus;
}

void weft_load_add(struct weft_load *load, const struct weft_load_parts *parts)
{
	for (uint32_t i = 0; i < parts->n; i++) {
		const struct weft_load_part *part = &parts->part[i];

		link_add(&load->link[part->link], &part->add, 1);
		load->n_parts[part->link]++;
	}
	load->n++;
}

void weft_load_subtract(struct weft_load *load,
			const struct weft_load_parts *parts)
{
	for (uint32_t i = 0; i < parts->n; i++) {
		const struct weft_load_part *part = &parts->part[i];
		struct weft_load_link *link = &load->link[part->link];

		link_add(link, &part->add, -1);
		/* Rounding must not add up over years. */
		if (--load->n_parts[part->link] == 0)
			*link = (struct weft_load_link){0};
	}
	load->n--;
}

double weft_load_capacity(const struct weft_load *load, uint32_t domain)
{
	double capacity = weft_cost_uplink_rate(load->fabric, domain);

	return load->slowness ? capacity / fmax(load->slowness[domain], 1)
			      : capacity;
}

double weft_load_rate(const struct weft_load *load, uint32_t domain, bool up)
{
	double capacity = weft_load_capacity(load, domain);
	const struct weft_load_link *link = &load->link[2 * domain + !up];

	if (isinf(capacity))
		return capacity;
	return fmax(capacity - link->rate_bytes_per_s,
		    capacity / (link->duty + 1));
}

/* What n flows get of a link where m others send at `rate` as long as they are
 * alone. */
static double share(double capacity, double n, double m, double rate)
{
	return fmax(capacity - rate, capacity * n / (n + m));
}

/* The average of n calls of other jobs on a link: how much of the time it
 * sends, and what while it does. */
struct other {
	double n, duty, flows, rate;
};

static struct other other_of(const struct weft_load_link *link, double capacity)
{
	return (struct other){
		.n = link->duty * link->duty / link->duty_squared,
		.duty = fmin(link->duty_squared / link->duty, 1),
		.flows = link->flows / link->duty,
		.rate = fmin(link->rate_bytes_per_s / link->duty, capacity),
	};
}

/* One of their steps beside n flows that send at `rate`, and the mean of the
 * others, over the step alone. */
static double longer(const struct weft_load_link *link,
		     const struct other *other, double capacity, double n,
		     double rate)
{
	double left;

	n += link->flows - other->duty * other->flows;
	rate += link->rate_bytes_per_s - other->duty * other->rate;
	left = share(capacity, other->flows, n, rate);
	return 1 + other->duty * fmax(other->rate / left - 1, 0);
}

double weft_load_call_s(const struct weft_load *load,
			const struct weft_load_call *call, double *lost_gpu_s)
{
	const struct weft_load_link *link = &load->link[call->link];
	double capacity = weft_load_capacity(load, call->link / 2);
	double alone_s = fmax(call->alone_s, call->bytes / capacity);
	double rate = call->bytes / alone_s;
	double beside, quiet, none, at_once, met, time_s;
	struct other other;

	*lost_gpu_s = 0;
	if (!(link->duty > 0 && link->duty_squared > 0))
		return alone_s;
	other = other_of(link, capacity);
	beside = longer(link, &other, capacity, call->n_flows, rate);
	quiet = (1 - other.duty) / beside;
	none = pow(quiet, other.n);
	if (!(none < 1))
		return alone_s;
	at_once = other.n * (1 - quiet) / (1 - none);
	met = fmin(rate, share(capacity, call->n_flows, at_once * other.flows,
			       at_once * other.rate));
	time_s = call->bytes / (none * rate + (1 - none) * met);
	*lost_gpu_s = time_s * link->gpus / other.duty *
		      (1 - longer(link, &other, capacity, 0, 0) / beside);
	return time_s;
}
