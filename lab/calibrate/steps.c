/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steps.c - how long a job's steps took, from the lines that it logs */
#include "lab/calibrate/steps.h"

#include "base/compare.h"
#include "costmodel/measured/nccl_log_draft.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MIN_STEPS   5
#define MIN_WARM_UP 3

static const struct mark {
	const char *text;
	double unit_s;	  /* 0: tokens per second and GPU */
	const char *with; /* also in the line; NULL: nothing */
} marks[] = {
	{"elapsed time per iteration (ms):", 1e-3, NULL},
	{"train_step_timing in s:", 1, NULL},
	{"train_step_timing in s=", 1, NULL},
	{"\"train_step_timing in s\":", 1, NULL},
	{"Step Time :", 1, "TFLOP/s/GPU"},
	{" tps:", 0, NULL},
	{" wps:", 0, NULL}, /* torchtitan's of 2024 */
	{"seconds:", 1, "completed step:"},
};

/* The number at the begin of a text, which may have commas between thousands
 * and colours of a terminal before it; 0: none. */
static double number_read(const char *text, const char *end)
{
	char plain[32];
	size_t n = 0;

	while (text < end && (*text == ' ' || *text == '\033')) {
		if (*text == '\033')
			while (text < end && *text != 'm')
				text++;
		text++;
	}
	for (; text < end && n + 1 < sizeof(plain); text++) {
		if (*text == ',')
			continue;
		if (!isdigit((unsigned char)*text) && *text != '.' &&
		    *text != 'e' && *text != '+' && *text != '-')
			break;
		plain[n++] = *text;
	}
	plain[n] = '\0';
	return strtod(plain, NULL);
}

int steps_add(struct steps *steps, double step_s, struct weft_error *err)
{
	double *more;

	if (!(step_s > 0) || step_s > 1e6)
		return 0;
	more = realloc(steps->step_s, (steps->n + (size_t)1) * sizeof(*more));
	if (!more)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	steps->step_s = more;
	more[steps->n++] = step_s;
	return 0;
}

static const char *find(const char *line, const char *end, const char *text)
{
	size_t length = strlen(text);

	for (; line + length <= end; line++) {
		if (memcmp(line, text, length) == 0)
			return line + length;
	}
	return NULL;
}

/* Seconds of the step that a line is of; 0: of none. */
static double line_read(const char *line, const char *end, double tokens)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const struct mark *mark = &marks[i];
		const char *at = find(line, end, mark->text);
		double value = at ? number_read(at, end) : 0;

		if (value > 0 && (!mark->with || find(line, end, mark->with)))
			return mark->unit_s > 0 ? value * mark->unit_s
						: tokens / value;
	}
	return 0;
}

int steps_read(const char *text, size_t size, const struct steps_job *job,
	       struct steps *steps, struct weft_error *err)
{
	const char *end = text + size;

	if (nccl_inspector_looks(text, size))
		return steps_inspector_read(text, size, job, steps, err);
	while (text < end) {
		const char *next = text;

		/* progress bars end in a return */
		while (next < end && *next != '\n' && *next != '\r')
			next++;
		if (steps_add(steps, line_read(text, next, job->tokens), err))
			return -1;
		text = next + 1;
	}
	return 0;
}

double steps_median(const double *step_s, uint32_t n, struct weft_error *err)
{
	double *sorted = weft_calloc(n + (size_t)1, sizeof(*sorted), err);
	double median = -1;

	if (!sorted)
		return -1;
	if (n)
		memcpy(sorted, step_s, n * sizeof(*sorted));
	median = weft_median(sorted, n);
	free(sorted);
	return median;
}

int steps_sum(struct steps *steps, struct weft_error *err)
{
	uint32_t warm_up =
		steps->n / 10 > MIN_WARM_UP ? steps->n / 10 : MIN_WARM_UP;
	uint32_t n = steps->n > warm_up ? steps->n - warm_up : 0;

	if (n < MIN_STEPS)
		return weft_fail(err, WEFT_EINVAL,
				 "%u steps in the log, of which the first %u "
				 "are warm-up: expected %d more; lines of "
				 "Megatron-LM, NeMo, torchtitan and MaxText "
				 "are known, and calls of NCCL's Inspector "
				 "that repeat",
				 steps->n, warm_up, MIN_STEPS);
	memmove(steps->step_s, steps->step_s + warm_up,
		n * sizeof(*steps->step_s));
	steps->n = n;
	steps->median_s = weft_median(steps->step_s, n);
	steps->low_s = steps->step_s[n / 10];
	steps->high_s = steps->step_s[n - 1 - n / 10];
	return 0;
}

void steps_free(struct steps *steps)
{
	free(steps->step_s);
	*steps = (struct steps){0};
}
