/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_uplinks.c - what the links above each domain really carry
 *
 * Cables and the section `uplinks` say line rates, of which GPUs get a part:
 * the levels' bandwidth is what arrives.  That part is the bandwidth of the
 * first network level over the line rate of a node's cables per GPU, in the
 * middle of all nodes; so cables that are as the links say change nothing.
 * Without cables of nodes it is not known, and uplinks are what arrives.
 */
#include "base/compare.h"
#include "topology/cabling.h"
#include "topology/fabric_draft.h"

#include <math.h>
#include <stdlib.h>

/* Of a domain whose cables are all down: never worth it, and yet finite. */
#define DEAD_BYTES_PER_S 1.0
/* Between cables and `uplinks`, of the latter: people round. */
#define MAX_DIFFERENCE 0.01

/* Rates while they are read, all of lines; `cables` is NULL without cabling. */
struct rates {
	struct weft_draft *d;
	struct weft_fabric *f;
	struct weft_uplinks *cables;
	bool *named;			    /* [names.n] by `uplinks` */
	uint32_t *left;			    /* [n_domains] leafs not named */
	const struct weft_yaml_node **said; /* [n_domains] the last line */
	double share;
	struct weft_arena memory; /* owns the arrays */
};

/* What arrives of a line rate: at most 1, and 1 where no cable says. */
static int goodput(struct rates *r)
{
	const struct weft_fabric *f = r->f;
	const struct weft_uplinks *uplinks = r->cables;
	const struct weft_level *level = &f->levels[f->node_level];
	uint32_t n = 0;
	double *rate;

	if (WEFT_ARRAY(rate, level->n_domains, &r->memory, r->d->err))
		return -1;
	for (uint32_t k = 0; k < level->n_domains; k++) {
		uint32_t domain = level->first_domain + k;

		if (uplinks[domain].whole && uplinks[domain].n_up)
			rate[n++] = uplinks[domain].line_rate_bytes_per_s /
				    f->domains[domain].n_gpus;
	}
	WEFT_SORT(rate, n, weft_compare_reals);
	if (n)
		r->share =
			fmin(1, level[1].link.rate_bytes_per_s / rate[n / 2]);
	return 0;
}

static void rates_from_cables(struct rates *r)
{
	for (uint32_t k = 0; k < r->f->n_domains; k++) {
		const struct weft_uplinks *u = &r->cables[k];

		if (r->f->domains[k].parent != WEFT_NONE && u->whole &&
		    u->n_up + u->n_down > 0)
			r->f->uplink_rate_bytes_per_s[k] =
				fmax(DEAD_BYTES_PER_S,
				     r->share * u->line_rate_bytes_per_s);
	}
}

/* The domain that a name of `uplinks` means, or WEFT_NONE with the error. */
static uint32_t domain_named(struct rates *r, const struct weft_yaml_node *line,
			     const char *text, uint32_t index)
{
	struct weft_draft *d = r->d;
	int column = weft_hostlist_column(line->key, index);
	const struct weft_draft_name *name = weft_draft_find(&d->names, text);
	uint32_t domain;

	if (!name) {
		weft_draft_unknown(d, line, true, column, text);
		return WEFT_NONE;
	}
	domain = d->index_of[name->thing];
	if (d->things[name->thing].level == DRAFT_NODE)
		domain = r->f->gpu_domain[r->f->node_level]
					 [r->f->nodes[domain].first_gpu];
	if (r->f->domains[domain].parent == WEFT_NONE) {
		weft_yaml_fail_inside(d->doc, line, true, column, d->err,
				      "\"%s\" is the outermost domain; "
				      "expected one with links above it",
				      name->text);
		return WEFT_NONE;
	}
	if (d->things[name->thing].level == DRAFT_NODE &&
	    r->f->domains[domain].n_nodes > 1) {
		weft_yaml_fail_inside(d->doc, line, true, column, d->err,
				      "\"%s\" is of the NVLink domain %.60s; "
				      "expected that",
				      name->text, r->f->domains[domain].name);
		return WEFT_NONE;
	}
	if (r->named[name - d->names.item] ||
	    (r->said[domain] && !r->left[domain])) {
		weft_yaml_fail_inside(d->doc, line, true, column, d->err,
				      "\"%s\" is named twice in uplinks",
				      name->text);
		return WEFT_NONE;
	}
	r->named[name - d->names.item] = true;
	if (!r->said[domain]) {
		r->left[domain] = d->things[name->thing].level < DRAFT_NETWORK
					  ? 1
					  : d->things[name->thing].parts;
		r->f->uplink_rate_bytes_per_s[domain] = 0;
	}
	return domain;
}

static int line_read(struct rates *r, const struct weft_yaml_node *line)
{
	struct weft_hostlist list = {0};
	double rate = 0;
	int rc = 0;

	if (weft_yaml_rate(r->d->doc, line, &rate, r->d->err) ||
	    weft_draft_decode_key(r->d, line, &list))
		return -1;
	for (uint32_t i = 0; !rc && i < list.n; i++) {
		uint32_t domain = domain_named(r, line, list.names[i], i);

		if (domain == WEFT_NONE) {
			rc = -1;
			break;
		}
		r->f->uplink_rate_bytes_per_s[domain] += r->share * rate;
		r->left[domain]--;
		r->said[domain] = line;
	}
	weft_hostlist_free(&list);
	return rc;
}

/* Of a bundle every leaf; and what cables say as well, within a hundredth. */
static int domain_agrees(struct rates *r, uint32_t domain)
{
	const struct weft_fabric *f = r->f;
	const struct weft_yaml_node *line = r->said[domain];
	double said = f->uplink_rate_bytes_per_s[domain] / r->share, cables;

	if (r->left[domain])
		return weft_yaml_fail_key(
			r->d->doc, line, r->d->err,
			"uplinks of all but %u of the leafs %.60s; expected "
			"all of them",
			r->left[domain], f->domains[domain].name);
	if (!r->cables || !r->cables[domain].whole ||
	    !(r->cables[domain].n_up + r->cables[domain].n_down))
		return 0;
	cables = r->cables[domain].line_rate_bytes_per_s;
	if (fabs(cables - said) <= MAX_DIFFERENCE * said)
		return 0;
	return weft_yaml_fail(r->d->doc, line, r->d->err,
			      "uplinks of %.60s: %g GB/s, but its cables carry "
			      "%g GB/s; expected the same, or only one of both",
			      f->domains[domain].name, said / 1e9,
			      cables / 1e9);
}

static int section_read(struct rates *r, const struct weft_yaml_node *section)
{
	uint32_t n = r->f->n_domains;
	struct weft_error *err = r->d->err;

	if (weft_yaml_expect(r->d->doc, section, WEFT_YAML_MAP, "uplinks", err))
		return -1;
	if (WEFT_ARRAY(r->named, r->d->names.n, &r->memory, err) ||
	    WEFT_ARRAY(r->left, n, &r->memory, err) ||
	    WEFT_ARRAY(r->said, n, &r->memory, err))
		return -1;
	for (const struct weft_yaml_node *c = section->child; c; c = c->next)
		if (line_read(r, c))
			return -1;
	for (uint32_t k = 0; k < n; k++)
		if (r->said[k] && domain_agrees(r, k))
			return -1;
	return 0;
}

static int cables_count(struct rates *r)
{
	if (!r->f->cabling || r->f->node_level + 1 >= r->f->n_levels)
		return 0;
	if (WEFT_ARRAY(r->cables, r->f->n_domains, &r->memory, r->d->err) ||
	    WEFT_ARRAY(r->f->n_uplinks, r->f->n_domains, &r->d->arena,
		       r->d->err))
		return -1;
	weft_cabling_uplinks(r->f, r->cables);
	for (uint32_t k = 0; k < r->f->n_domains; k++)
		r->f->n_uplinks[k] = r->cables[k].n_up;
	if (goodput(r))
		return -1;
	rates_from_cables(r);
	return 0;
}

int weft_draft_uplinks(struct weft_draft *d, struct weft_fabric *f)
{
	const struct weft_yaml_node *section =
		weft_yaml_find(d->doc->root, "uplinks");
	struct rates r = {.d = d, .f = f, .share = 1};
	int rc = -1;

	if (!f->cabling && !section)
		return 0;
	if (WEFT_ARRAY(f->uplink_rate_bytes_per_s, f->n_domains, &d->arena,
		       d->err) == 0 &&
	    cables_count(&r) == 0)
		rc = section ? section_read(&r, section) : 0;
	weft_arena_free(&r.memory);
	return rc;
}
