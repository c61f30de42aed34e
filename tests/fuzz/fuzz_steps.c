/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_steps.c - any bytes as what a job, or NCCL's Inspector, logs: refused
 * with a message, or steps that take time */
#include "lab/calibrate/steps.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void steps_check(const struct steps *steps)
{
	for (uint32_t i = 0; i < steps->n; i++)
		require(steps->step_s[i] > 0 && isfinite(steps->step_s[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct steps_job job = {
		.tokens = 4096, .predicted_s = 2, .micro_batches = 4};
	struct steps steps = {0};
	struct weft_error err = {0};
	char *text = malloc(size + 1);

	require(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (steps_read(text, size, &job, &steps, &err) == 0) {
		steps_check(&steps);
		if (steps_sum(&steps, &err) == 0)
			require(steps.low_s <= steps.median_s &&
				steps.median_s <= steps.high_s);
	}
	require(!err.code || (err.code <= 125 && err.text[0]));
	steps_free(&steps);
	free(text);
	return 0;
}
