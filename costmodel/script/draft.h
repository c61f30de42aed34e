/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draft.h - a spec in the making: keys, what they come from, what is missing */
#ifndef WEFT_COSTMODEL_SCRIPT_DRAFT_H
#define WEFT_COSTMODEL_SCRIPT_DRAFT_H

#include "costmodel/script/launch.h"
#include "costmodel/script/script.h"

struct slot {
	const char *key;
	char value[128];
	const struct fact *from; /* NULL: it follows from others */
	bool given, unknown;
};

struct weft_draft {
	const struct launch *launch; /* NULL: a configuration alone */
	struct facts *facts;
	const struct weft_script_options *options;
	struct weft_script *script;
	struct slot slots[WEFT_SCRIPT_KEYS];
	uint32_t n_slots;
};

/* The key's slot, made where there is none yet. */
struct slot *draft_slot(struct weft_draft *draft, const char *key);
/* Its whole number; 0: not given. */
uint32_t draft_number(struct weft_draft *draft, const char *key);
bool draft_given(const struct weft_draft *draft, const char *key);

/* Sets a key, whatever it was before. */
void draft_set(struct weft_draft *draft, const char *key, const char *value,
	       const struct fact *from);
void draft_set_number(struct weft_draft *draft, const char *key, uint32_t value,
		      const struct fact *from);
void draft_drop(struct weft_draft *draft, const char *key);

void draft_assume(struct weft_draft *draft, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void draft_miss(struct weft_draft *draft, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* draft_common.c: keys that are called alike everywhere, and how many GPUs
 * there are. */
void draft_take_words(struct weft_draft *draft);
void draft_take_dtype(struct weft_draft *draft);
void draft_take_model(struct weft_draft *draft, const char *name);
void draft_take_ulysses(struct weft_draft *draft);
void draft_take_sizes(struct weft_draft *draft);

/* How many copies of the model the GPUs hold; 0: not known, or no whole number.
 */
uint32_t draft_replicas(struct weft_draft *draft);

/* A fact by name, if it is there and on. */
bool draft_on(const struct weft_draft *draft, const char *name);
bool draft_has(const struct weft_draft *draft, const char *name);
/* The program's name has the part; this launcher starts it. */
bool draft_program_has(const struct weft_draft *draft, const char *part);
bool draft_launched_by(const struct weft_draft *draft, enum launcher launcher);

/* settle.c: after the framework's reader. */
void draft_settle(struct weft_draft *draft);

/* readers_megatron.c */
bool megatron_suits(const struct weft_draft *draft);
void megatron_take(struct weft_draft *draft);
bool nemo_suits(const struct weft_draft *draft);
void nemo_take(struct weft_draft *draft);
/* Pipelines whose ends have fewer layers, after pp, layers and model. */
void draft_take_stages(struct weft_draft *draft);

/* readers_verl.c */
bool verl_suits(const struct weft_draft *draft);
bool verl_about(const struct fact *fact);
void verl_take(struct weft_draft *draft);

#endif
