/* SPDX-License-Identifier: GPL-3.0-or-later */
/* known.c - placements that have been measured */
#include "placement/objective/known.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Placements kept, at most: below a megabyte; and slots of the hash table, of
 * which two placements that fall together keep one. */
#define MOST  1024
#define SLOTS 4096

struct weft_known_one {
	struct weft_signature signature;
	struct weft_measure measure;
	bool anywhere;
};

void weft_known_free(struct weft_known *known)
{
	int saved = errno;

	free(known->one);
	free(known->at);
	free(known->met);
	memset(known, 0, sizeof(*known));
	errno = saved;
}

static uint64_t mix_real(uint64_t hash, double real)
{
	uint64_t word;

	memcpy(&word, &real, sizeof(word));
	return weft_hash_word(hash, word);
}

/* What tells a domain from others of its level, as far as times go: the link
 * above it and what others send there; on rings, tori and dragonflies also
 * where it is. */
static uint64_t mix_domain(const struct weft_fabric *f,
			   const struct weft_load *load, uint32_t domain,
			   uint64_t hash)
{
	const struct weft_domain *d = &f->domains[domain];

	hash = weft_hash_word(hash, (uint64_t)d->n_gpus << 32 | d->n_nodes);
	if (f->uplink_rate_bytes_per_s)
		hash = mix_real(hash, f->uplink_rate_bytes_per_s[domain]);
	if (f->n_uplinks)
		hash = weft_hash_word(hash, f->n_uplinks[domain]);
	if (d->level + 1 < f->n_levels &&
	    f->levels[d->level + 1].shape != WEFT_SHAPE_SWITCHED)
		hash = weft_hash_word(hash, domain);
	if (!load)
		return hash;
	if (load->slowness)
		hash = mix_real(hash, load->slowness[domain]);
	for (uint32_t link = 2 * domain; link < 2 * domain + 2; link++) {
		const struct weft_load_link *others = &load->link[link];

		if (!load->n_parts[link])
			continue;
		hash = weft_hash_word(hash, link % 2);
		hash = mix_real(hash, others->duty);
		hash = mix_real(hash, others->duty_squared);
		hash = mix_real(hash, others->flows);
		hash = mix_real(hash, others->rate_bytes_per_s);
		hash = mix_real(hash, others->gpus);
	}
	return hash;
}

static bool spans_nodes(const struct weft_fabric *f)
{
	return f->levels[f->node_level].n_domains < f->n_nodes;
}

/* Which of the places met in this turn it is; *first: it is a new one. */
static inline uint32_t meet(struct weft_known *known, uint32_t place,
			    uint32_t *n_met, bool *first)
{
	uint64_t *met = &known->met[place];

	*first = *met >> 32 != known->turn;
	if (*first)
		*met = (uint64_t)known->turn << 32 | (*n_met)++;
	return (uint32_t)*met;
}

static bool begin_turn(struct weft_known *known, const struct weft_fabric *f)
{
	size_t n = (size_t)f->n_domains + f->n_nodes;

	if (!known->met)
		known->met = weft_calloc(n, sizeof(*known->met), NULL);
	if (known->met && ++known->turn == 0) {
		memset(known->met, 0, n * sizeof(*known->met));
		known->turn = 1;
	}
	return known->met != NULL;
}

/* What is mixed rank by rank; the parts do not wait for each other. */
struct signing {
	struct weft_known *known;
	const struct weft_fabric *f;
	const struct weft_load *load;
	bool numbered; /* GPUs of a node are not alike */
	uint32_t n_nodes, n_domains[WEFT_MAX_LEVELS]; /* met so far */
	/* those of the rank before, and what they are among the ones met: most
	 * ranks are there, too */
	uint32_t node, domain, node_met, domain_met;
	uint64_t exact, nodes, domains;
};

/* The domains that a GPU is in.  Those around one that has been met have been
 * met with it. */
static void mix_domains(struct signing *s, uint32_t gpu)
{
	const struct weft_fabric *f = s->f;
	bool first = f->gpu_domain[0][gpu] != s->domain;

	if (!first)
		s->domains = weft_hash_word(s->domains, s->domain_met);
	for (uint32_t l = 0; l < f->n_levels && first; l++) {
		uint32_t d = f->gpu_domain[l][gpu];
		uint32_t met = meet(s->known, d, &s->n_domains[l], &first);

		s->domains = weft_hash_word(s->domains, met);
		if (first)
			s->domains = mix_domain(f, s->load, d, s->domains);
		if (l == 0) {
			s->domain = d;
			s->domain_met = met;
		}
	}
}

/* Its node, and what it is to that where this counts.  GPUs of a node are alike
 * where they have no rails and no domains inside it. */
static void mix_node(struct signing *s, uint32_t gpu)
{
	const struct weft_fabric *f = s->f;
	uint32_t node = f->gpu_node[gpu];
	uint64_t number = 0;
	bool first = false;

	if (node != s->node)
		s->node_met = meet(s->known, f->n_domains + node, &s->n_nodes,
				   &first);
	s->node = node;
	if (s->numbered)
		number = weft_fabric_number(f, gpu);
	s->nodes = weft_hash_word(s->nodes, number << 32 | s->node_met);
	if (first)
		s->nodes = weft_hash_word(
			s->nodes, (uint64_t)f->nodes[node].n_gpus << 32 |
					  f->nodes[node].kind);
}

bool weft_known_sign(struct weft_known *known, const struct weft_fabric *f,
		     const struct weft_load *load, const uint32_t *where,
		     uint32_t n, struct weft_signature *signature)
{
	struct signing s = {
		.known = known,
		.f = f,
		.load = load,
		.numbered = f->node_level > 0 || f->n_rails > 1 ||
			    f->levels[0].shape != WEFT_SHAPE_SWITCHED,
		.exact = WEFT_HASH_START,
		.nodes = WEFT_HASH_START,
		.domains = WEFT_HASH_START,
		.node = WEFT_NONE,
		.domain = WEFT_NONE,
	};

	if (!begin_turn(known, f))
		return false;
	for (uint32_t r = 0; r < n; r++) {
		if (where[r] >= f->n_gpus)
			return false;
		s.exact = weft_hash_word(s.exact, where[r]);
		mix_node(&s, where[r]);
		mix_domains(&s, where[r]);
	}
	signature->exact = s.exact;
	signature->links = weft_hash_word(s.nodes, s.domains);
	signature->hosts = s.nodes;
	if (!spans_nodes(f))
		return true;
	if (!begin_turn(known, f))
		return false;
	for (uint32_t r = 0, n_met = 0; r < n; r++) {
		uint32_t host = f->gpu_domain[f->node_level][where[r]];
		bool first;

		signature->hosts = weft_hash_word(
			signature->hosts, meet(known, host, &n_met, &first));
	}
	return true;
}

static uint32_t *slot_of(const struct weft_known *known, uint64_t key)
{
	return &known->at[(key ^ key >> 32) % SLOTS];
}

/* What was kept last under that key; NULL: nothing. */
static const struct weft_known_one *look_up(const struct weft_known *known,
					    uint64_t key)
{
	uint32_t at = known->at ? *slot_of(known, key) : 0;

	return at ? &known->one[at - 1] : NULL;
}

bool weft_known_find(const struct weft_known *known,
		     const struct weft_signature *signature,
		     struct weft_measure *measure)
{
	const struct weft_known_one *one = look_up(known, signature->links);

	if (!one || one->signature.links != signature->links)
		return false;
	*measure = one->measure;
	measure->inferred |= one->signature.exact != signature->exact;
	return true;
}

bool weft_known_find_time(const struct weft_known *known,
			  const struct weft_signature *signature,
			  struct weft_measure *measure)
{
	const struct weft_known_one *one = look_up(known, signature->hosts);

	if (!one || !one->anywhere || one->signature.hosts != signature->hosts)
		return false;
	measure->goal = one->measure.goal;
	measure->to_gain = one->measure.to_gain;
	measure->cost.busiest = one->measure.cost.busiest;
	measure->inferred = true;
	return true;
}

void weft_known_keep(struct weft_known *known,
		     const struct weft_signature *signature,
		     const struct weft_measure *measure, bool anywhere)
{
	uint32_t at = known->next++ % MOST;

	if (!known->at)
		known->at = weft_calloc(SLOTS, sizeof(*known->at), NULL);
	if (!known->at || (at == known->n && WEFT_GROW(known->one, known->n + 1,
						       known->room, NULL)))
		return;
	known->n += at == known->n;
	known->one[at] =
		(struct weft_known_one){*signature, *measure, anywhere};
	*slot_of(known, signature->links) = at + 1;
	if (anywhere)
		*slot_of(known, signature->hosts) = at + 1;
}
