/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hostlist.c - expanding and folding hostlists, and names as people count them
 *
 * Expanding takes two passes over the text: the first checks it and counts
 * names and bytes, so that the second writes into one block and cannot fail.
 */
#include "base/hostlist.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest name written; it also bounds the recursion over brackets, each of
 * which writes a digit at least. */
#define NAME_MAX_BYTES 255
/* More digits than this do not fit the arithmetic. */
#define NUMBER_MAX_DIGITS 18

struct range {
	uint64_t low, high;
	size_t width; /* digits of low: the least that are written */
};

/* What the first pass learns; count saturates above max_names. */
struct scan {
	const char *text;
	uint64_t max_names, n_names, n_bytes;
	struct weft_error *err;
};

static int fail(const struct scan *s, const char *at, const char *what)
{
	return weft_fail_at(s->err, WEFT_EINVAL, "", 0, (int)(at - s->text) + 1,
			    "%s", what);
}

static const char *skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

static bool is_name_byte(char c)
{
	return (unsigned char)c > ' ' && c != 127 && !strchr(",[]", c);
}

static size_t digits_of(uint64_t value)
{
	size_t digits = 1;

	while (value /= 10)
		digits++;
	return digits;
}

static const char *number_read(const char *p, uint64_t *value, size_t *width)
{
	const char *start = p;

	*value = 0;
	for (; isdigit((unsigned char)*p); p++)
		if (p - start < NUMBER_MAX_DIGITS)
			*value = *value * 10 + (uint64_t)(*p - '0');
	*width = (size_t)(p - start);
	return p;
}

/* Reads "8" or "08-11" without judging it. */
static const char *range_read(const char *p, struct range *r)
{
	size_t high_width;

	p = number_read(p, &r->low, &r->width);
	r->high = r->low;
	if (*p == '-')
		p = number_read(p + 1, &r->high, &high_width);
	return p;
}

/* Checks the range at p and returns what follows it, or NULL. */
static const char *range_check(const struct scan *s, const char *p,
			       struct range *r)
{
	const char *dash, *end = range_read(p, r);
	size_t high_width;

	if (!r->width)
		return fail(s, p,
			    *p == ']' ? "empty brackets; expected numbers"
				      : "expected a number in the brackets"),
		       NULL;
	dash = p + r->width;
	high_width = *dash == '-' ? (size_t)(end - dash - 1) : r->width;
	if (!high_width)
		return fail(s, end, "expected the last number of the range"),
		       NULL;
	if (r->width > NUMBER_MAX_DIGITS || high_width > NUMBER_MAX_DIGITS)
		return fail(s, p, "expected numbers of at most 18 digits"),
		       NULL;
	if (high_width != r->width && dash[1] == '0')
		return fail(s, dash + 1,
			    "both ends of a range must have the same width"),
		       NULL;
	if (r->high < r->low)
		return fail(s, p, "the range descends; expected LOW-HIGH"),
		       NULL;
	return end;
}

static uint64_t saturating_multiply(uint64_t a, uint64_t b, uint64_t limit)
{
	return b && a > limit / b ? limit + 1 : a * b;
}

/* Checks the bracket group whose '[' is at p: *count is multiplied by its
 * numbers, *longest grows by its widest.  Returns what follows the ']'. */
static const char *group_check(const struct scan *s, const char *p,
			       uint64_t *count, size_t *longest)
{
	const char *open = p;
	uint64_t n = 0;
	size_t widest = 0;

	do {
		struct range r;
		size_t width;

		p = range_check(s, skip_blanks(p + 1), &r);
		if (!p)
			return NULL;
		width = digits_of(r.high);
		width = width > r.width ? width : r.width;
		widest = width > widest ? width : widest;
		n += r.high - r.low + 1;
		if (n > s->max_names)
			n = s->max_names + 1;
		p = skip_blanks(p);
	} while (*p == ',');
	if (!*p)
		return fail(s, open,
			    "this bracket is never closed; expected ']'"),
		       NULL;
	if (*p != ']')
		return fail(s, p, "expected a number, ',' or ']'"), NULL;
	*count = saturating_multiply(*count, n, s->max_names);
	*longest += widest;
	return p + 1;
}

/* Checks one item (up to a comma) and adds its names to the count. */
static const char *item_check(struct scan *s, const char *p)
{
	const char *start = p;
	uint64_t count = 1;
	size_t longest = 0;

	while (*p && *p != ',' && *p != ' ' && *p != '\t') {
		if (*p == '[') {
			p = group_check(s, p, &count, &longest);
			if (!p)
				return NULL;
		} else if (is_name_byte(*p)) {
			p++;
			longest++;
		} else {
			return fail(s, p,
				    *p == ']'
					    ? "']' without '['; expected a name"
					    : "a control character; expected a "
					      "name"),
			       NULL;
		}
	}
	if (p == start)
		return fail(s, p, "expected a name"), NULL;
	if (longest > NAME_MAX_BYTES)
		return fail(s, start, "expected a name of at most 255 bytes"),
		       NULL;
	s->n_names += count;
	s->n_bytes += count * (longest + 1);
	if (s->n_names > s->max_names) {
		weft_fail_at(s->err, WEFT_EINVAL, "", 0,
			     (int)(start - s->text) + 1,
			     "expected at most %llu names",
			     (unsigned long long)s->max_names);
		return NULL;
	}
	return p;
}

static int text_check(struct scan *s)
{
	const char *p = skip_blanks(s->text);

	for (;;) {
		p = item_check(s, p);
		if (!p)
			return -1;
		p = skip_blanks(p);
		if (!*p)
			return 0;
		if (*p != ',')
			return fail(s, p, "expected ',' between names");
		p = skip_blanks(p + 1);
	}
}

/* The second pass: names go to out, the one being built is in name. */
struct writer {
	char **names;
	uint32_t n;
	char *out;
	char name[NAME_MAX_BYTES + 1];
};

static size_t number_write(char *out, uint64_t value, size_t width)
{
	size_t digits = digits_of(value);

	if (digits < width)
		digits = width;
	for (size_t i = digits; i-- > 0; value /= 10)
		out[i] = (char)('0' + value % 10);
	return digits;
}

static const char *group_end(const char *p)
{
	return strchr(p, ']') + 1;
}

/* Writes every name of the rest of an item at p behind the first `used` bytes
 * of the name, and returns the end of the item. */
static const char *item_write(struct writer *w, const char *p, size_t used)
{
	const char *end;

	for (; is_name_byte(*p); p++)
		w->name[used++] = *p;
	if (*p != '[') {
		w->names[w->n++] = w->out;
		memcpy(w->out, w->name, used);
		w->out[used] = '\0';
		w->out += used + 1;
		return p;
	}
	end = group_end(p);
	do {
		struct range r;

		p = skip_blanks(range_read(skip_blanks(p + 1), &r));
		for (uint64_t v = r.low; v <= r.high; v++)
			item_write(w, end,
				   used + number_write(w->name + used, v,
						       r.width));
	} while (*p == ',');
	for (; is_name_byte(*end) || *end == '['; end++)
		if (*end == '[')
			end = group_end(end) - 1;
	return end;
}

int weft_hostlist_decode(const char *text, uint32_t max_names,
			 struct weft_hostlist *out, struct weft_error *err)
{
	struct scan scan = {.text = text, .max_names = max_names, .err = err};
	struct writer writer = {0};
	const char *p = skip_blanks(text);
	size_t index_bytes;

	out->names = NULL;
	out->n = 0;
	if (text_check(&scan))
		return -1;
	index_bytes = (size_t)scan.n_names * sizeof(*out->names);
	writer.names = weft_calloc(1, index_bytes + scan.n_bytes, err);
	if (!writer.names)
		return -1;
	writer.out = (char *)writer.names + index_bytes;
	while (*p) {
		p = skip_blanks(item_write(&writer, p, 0));
		if (*p == ',')
			p = skip_blanks(p + 1);
	}
	out->names = writer.names;
	out->n = writer.n;
	return 0;
}

void weft_hostlist_free(struct weft_hostlist *list)
{
	free(list->names);
	list->names = NULL;
	list->n = 0;
}

int weft_hostlist_column(const char *text, uint32_t index)
{
	struct scan scan = {.text = text, .max_names = UINT32_MAX};
	const char *p = skip_blanks(text);

	for (;;) {
		const char *item = p;

		p = item_check(&scan, p);
		if (!p)
			return 1;
		if (scan.n_names > index)
			return (int)(item - text) + 1;
		p = skip_blanks(p);
		if (*p != ',')
			return 1;
		p = skip_blanks(p + 1);
	}
}

/* Compares the digit runs at *a and *b as numbers and moves behind them. */
static int number_compare(const char **a, const char **b)
{
	size_t n_a, n_b;
	int order;

	while (**a == '0')
		++*a;
	while (**b == '0')
		++*b;
	n_a = strspn(*a, "0123456789");
	n_b = strspn(*b, "0123456789");
	if (n_a != n_b)
		return n_a < n_b ? -1 : 1;
	order = memcmp(*a, *b, n_a);
	*a += n_a;
	*b += n_b;
	return order;
}

int weft_name_compare(const char *a, const char *b)
{
	const char *p = a, *q = b;

	while (*p && *q) {
		if (isdigit((unsigned char)*p) && isdigit((unsigned char)*q)) {
			int order = number_compare(&p, &q);

			if (order)
				return order;
		} else if (*p != *q) {
			return (unsigned char)*p < (unsigned char)*q ? -1 : 1;
		} else {
			p++;
			q++;
		}
	}
	if (*p || *q)
		return *p ? 1 : -1;
	return strcmp(a, b);
}

/* The number by which the items of a run differ: bytes at..at+width of the
 * item, in front of any bracket. */
struct field {
	size_t at, width;
	uint64_t value;
};

static bool field_read(const char *item, size_t at, struct field *field)
{
	number_read(item + at, &field->value, &field->width);
	field->at = at;
	return field->width > 0 && field->width <= NUMBER_MAX_DIGITS;
}

/* Whether b continues the run of a: the same but for a larger number, which is
 * at a's field when known (first == false) or is found (first == true). */
static bool run_continues(const char *a, const char *b, bool first,
			  struct field *a_field, struct field *b_field)
{
	size_t at = a_field->at;

	if (first) {
		for (at = 0; a[at] && a[at] == b[at] && a[at] != '['; at++)
			;
		while (at > 0 && isdigit((unsigned char)a[at - 1]))
			at--;
		if (!field_read(a, at, a_field))
			return false;
	}
	return strncmp(a, b, at) == 0 && field_read(b, at, b_field) &&
	       b_field->value > a_field->value &&
	       strcmp(a + at + a_field->width, b + at + b_field->width) == 0;
}

/* "07-11" decodes to 11 after 10 only if 11 is what width 2 makes of it. */
static bool range_extends(const struct field *low, const struct field *last,
			  const struct field *next)
{
	size_t digits = digits_of(next->value);

	return next->value == last->value + 1 &&
	       next->width == (digits > low->width ? digits : low->width);
}

static void range_write(FILE *out, const char *low_item, const char *last_item,
			const struct field *low, const struct field *last)
{
	fprintf(out, "%.*s", (int)low->width, low_item + low->at);
	if (last->value != low->value)
		fprintf(out, "-%.*s", (int)last->width, last_item + last->at);
}

/* Writes the longest run at the head of items as one item with a bracket;
 * returns how many items it holds. */
static uint32_t run_write(FILE *out, const char *const *items, uint32_t n)
{
	struct field low, last, next;
	const char *low_item = items[0];
	uint32_t i = 1;

	low.at = 0;
	if (n < 2 || !run_continues(items[0], items[1], true, &low, &next)) {
		fputs(items[0], out);
		return 1;
	}
	last = low;
	fprintf(out, "%.*s[", (int)low.at, low_item);
	for (; i < n &&
	       run_continues(items[i - 1], items[i], false, &last, &next);
	     i++) {
		if (!range_extends(&low, &last, &next)) {
			range_write(out, low_item, items[i - 1], &low, &last);
			fputc(',', out);
			low = next;
			low_item = items[i];
		}
		last = next;
	}
	range_write(out, low_item, items[i - 1], &low, &last);
	fprintf(out, "]%s", items[i - 1] + last.at + last.width);
	return i;
}

/* Folds every run of items; *block then holds *n_out NUL-terminated items. */
static int items_fold(const char *const *items, uint32_t n, char **block,
		      uint32_t *n_out)
{
	size_t size = 0;
	FILE *out = open_memstream(block, &size);
	bool failed;

	if (!out)
		return -1;
	*n_out = 0;
	for (uint32_t i = 0; i < n; ++*n_out) {
		i += run_write(out, items + i, n - i);
		fputc('\0', out);
	}
	failed = ferror(out);
	if (fclose(out) == 0 && !failed)
		return 0;
	free(*block);
	*block = NULL;
	return -1;
}

static const char **block_index(const char *block, uint32_t n)
{
	const char **items = calloc(n, sizeof(*items));

	if (!items)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		items[i] = block;
		block += strlen(block) + 1;
	}
	return items;
}

/* In place: the items lie end to end. */
static char *items_join(char *block, uint32_t n)
{
	for (char *p = block; n-- > 1; *p++ = ',')
		p += strlen(p);
	return block;
}

/* Each round folds one number of the names, so that "a0-b0,a0-b1,a1-b0,a1-b1"
 * becomes "a0-b[0-1],a1-b[0-1]" and then "a[0-1]-b[0-1]"; a name has few
 * numbers, which bounds the recursion. */
char *weft_hostlist_encode(const char *const *names, uint32_t n)
{
	const char **items;
	char *block, *text = NULL;
	uint32_t n_folded;

	if (!n)
		return calloc(1, 1);
	if (items_fold(names, n, &block, &n_folded))
		return NULL;
	if (n_folded == n)
		return items_join(block, n);
	items = block_index(block, n_folded);
	if (items)
		text = weft_hostlist_encode(items, n_folded);
	free(items);
	free(block);
	return text;
}
