/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.c - building and writing an integer program */
#include "placement/exact/program.h"

#include "topology/fabric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t program_column(struct program *p, struct program_column column,
			char letter, const uint32_t number[3])
{
	int n = 1;

	if (WEFT_GROW(p->column, p->n_columns, p->room_columns, NULL)) {
		p->out_of_memory = true;
		return 0;
	}
	column.name[0] = letter;
	column.name[1] = '\0';
	for (uint32_t i = 0; i < 3 && number[i] != WEFT_NONE; i++)
		n += snprintf(column.name + n, sizeof(column.name) - (size_t)n,
			      "%s%u", i ? "_" : "", number[i] % 100000);
	p->column[p->n_columns] = column;
	return p->n_columns++;
}

void program_row(struct program *p, double low, double high)
{
	struct program_row *row;

	if (WEFT_GROW(p->row, p->n_rows, p->room_rows, NULL)) {
		p->out_of_memory = true;
		return;
	}
	row = &p->row[p->n_rows];
	*row = (struct program_row){
		.low = low, .high = high, .first = p->n_entries};
	snprintf(row->name, sizeof(row->name), "r%u", p->n_rows++);
}

void program_put(struct program *p, uint32_t column, double value)
{
	if (!p->n_rows || value == 0)
		return;
	if (WEFT_GROW(p->entry, p->n_entries, p->room_entries, NULL)) {
		p->out_of_memory = true;
		return;
	}
	p->entry[p->n_entries++] = (struct program_entry){column, value};
}

int program_check(const struct program *p, struct weft_error *err)
{
	return p->out_of_memory ? weft_fail(err, WEFT_ENOMEM, "out of memory")
				: 0;
}

void program_free(struct program *p)
{
	free(p->column);
	free(p->row);
	free(p->entry);
	memset(p, 0, sizeof(*p));
}

static uint32_t row_end(const struct program *p, uint32_t row)
{
	return row + 1 < p->n_rows ? p->row[row + 1].first : p->n_entries;
}

/* One term; lines are kept short, as readers of the format have limits. */
static void write_term(FILE *file, uint32_t i, double value, const char *name)
{
	fprintf(file, "%s%s %.17g %s", i && i % 4 == 0 ? "\n" : "",
		value < 0 ? " -" : " +", fabs(value), name);
}

static void write_objective(const struct program *p, FILE *file)
{
	uint32_t n = 0;

	fprintf(file, "Minimize\n cost:");
	for (uint32_t c = 0; c < p->n_columns; c++)
		if (p->column[c].cost != 0)
			write_term(file, n++, p->column[c].cost,
				   p->column[c].name);
	if (!n && p->n_columns)
		fprintf(file, " 0 %s", p->column[0].name);
	fprintf(file, "\n");
}

/* A row with two limits that differ is written twice: the format has no other
 * way that all readers know. */
static void write_row(const struct program *p, uint32_t row, const char *tail,
		      const char *sense, double limit, FILE *file)
{
	uint32_t first = p->row[row].first;

	fprintf(file, " %s%s:", p->row[row].name, tail);
	for (uint32_t e = first; e < row_end(p, row); e++)
		write_term(file, e - first, p->entry[e].value,
			   p->column[p->entry[e].column].name);
	fprintf(file, " %s %.17g\n", sense, limit);
}

static void write_rows(const struct program *p, FILE *file)
{
	fprintf(file, "Subject To\n");
	for (uint32_t i = 0; i < p->n_rows; i++) {
		const struct program_row *r = &p->row[i];

		if (row_end(p, i) == r->first)
			continue;
		if (r->low == r->high) {
			write_row(p, i, "", "=", r->low, file);
			continue;
		}
		if (isfinite(r->low))
			write_row(p, i, "l", ">=", r->low, file);
		if (isfinite(r->high))
			write_row(p, i, "h", "<=", r->high, file);
	}
}

void program_write(const struct program *p, FILE *file)
{
	write_objective(p, file);
	write_rows(p, file);
	fprintf(file, "Bounds\n");
	for (uint32_t c = 0; c < p->n_columns; c++) {
		const struct program_column *column = &p->column[c];

		if (isfinite(column->high))
			fprintf(file, " %.17g <= %s <= %.17g\n", column->low,
				column->name, column->high);
		else
			fprintf(file, " %s >= %.17g\n", column->name,
				column->low);
	}
	fprintf(file, "Generals\n");
	for (uint32_t c = 0; c < p->n_columns; c++)
		if (p->column[c].whole)
			fprintf(file, " %s\n", p->column[c].name);
	fprintf(file, "End\n");
}
