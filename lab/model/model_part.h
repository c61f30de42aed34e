/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_part.h - answers of calculators that another one shows as its parts
 *
 * Each keeps what its report points to, so it must stay where it is.
 */
#ifndef WEFT_LAB_MODEL_MODEL_PART_H
#define WEFT_LAB_MODEL_MODEL_PART_H

#include "lab/calculators/chunks.h"
#include "lab/calculators/pipeline.h"
#include "lab/calculators/sequence.h"
#include "lab/model/model.h"

struct model_pipeline_part {
	struct weft_pipeline right, seed;
	char title[128];
	struct model_report report;
};
int model_pipeline_part(const struct weft_pipeline_job *job,
			const struct model_options *options,
			struct model_pipeline_part *part,
			struct weft_error *err);

struct model_sequence_part {
	struct weft_sequence right, seed;
	struct model_bar bars[4];
	char title[128];
	struct model_report report;
};
int model_sequence_part(const struct weft_sequence_job *job,
			const struct model_options *options,
			struct model_sequence_part *part,
			struct weft_error *err);

struct model_chunks_part {
	struct weft_chunks right, seed;
	char title[128];
	struct model_report report;
};
int model_chunks_part(const struct weft_chunks_job *job,
		      const struct model_options *options,
		      struct model_chunks_part *part, struct weft_error *err);

#endif
