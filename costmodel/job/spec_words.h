/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec_words.h - what frameworks call the keys and values of a job spec */
#ifndef WEFT_COSTMODEL_JOB_SPEC_WORDS_H
#define WEFT_COSTMODEL_JOB_SPEC_WORDS_H

#include <stddef.h>

#define WEFT_SPEC_WORD_SIZE 64

/* A word as it is looked up: without dashes before it, in lower case, with '_'
 * for '-'.  -1: longer than any word that is known. */
int weft_spec_word_fold(const char *word, size_t length,
			char folded[WEFT_SPEC_WORD_SIZE]);

/* The key of the grammar that a folded word of a framework stands for:
 * "tensor_model_parallel_size" is "tp".  NULL: none. */
const char *weft_spec_word_key(const char *folded);

/* The grammar's value for a framework's one of that key: dtype "bfloat16" is
 * "bf16".  NULL: none. */
const char *weft_spec_word_value(const char *key, const char *value,
				 size_t length);

/* The key that a word with a slip stands for, and the word without it; NULL:
 * none is near. */
const char *weft_spec_word_near(const char *folded,
				char word[WEFT_SPEC_WORD_SIZE]);

/* What to do about a folded word that is known, but no key: a sentence, or
 * NULL. */
const char *weft_spec_word_advice(const char *folded);

#endif
