# SPDX-License-Identifier: GPL-3.0-or-later
bin_PROGRAMS += weft
weft_SOURCES = \
	%D%/calibration.c \
	%D%/calibration.h \
	%D%/clock.h \
	%D%/cmd.h \
	%D%/cmd_calibrate.c \
	%D%/cmd_fabric.c \
	%D%/cmd_model.c \
	%D%/cmd_plan.c \
	%D%/cmd_score.c \
	%D%/cmd_synth.c \
	%D%/csv.c \
	%D%/csv.h \
	%D%/fit.c \
	%D%/fit.h \
	%D%/model.c \
	%D%/model.h \
	%D%/model_allreduce.c \
	%D%/model_chunks.c \
	%D%/model_conventions.c \
	%D%/model_facts.c \
	%D%/model_memory.c \
	%D%/model_nccl.c \
	%D%/model_overlap.c \
	%D%/model_parallelism.c \
	%D%/model_part.h \
	%D%/model_pipeline.c \
	%D%/model_sequence.c \
	%D%/model_step.c \
	%D%/model_straggler.c \
	%D%/model_traffic.c \
	%D%/model_whatif.c \
	%D%/option.c \
	%D%/option.h \
	%D%/overlap.h \
	%D%/overlap_files.c \
	%D%/overlap_json.c \
	%D%/overlap_text.c \
	%D%/quantity.c \
	%D%/quantity.h \
	%D%/ranks.c \
	%D%/ranks.h \
	%D%/report.c \
	%D%/report.h \
	%D%/request.c \
	%D%/request.h \
	%D%/slurm_state.c \
	%D%/slurm_state.h \
	%D%/step_row.c \
	%D%/step_row.h \
	%D%/step_run.c \
	%D%/step_run.h \
	%D%/step_shape.c \
	%D%/step_shape.h \
	%D%/step_table.c \
	%D%/step_table.h \
	%D%/weft.c \
	# End of weft_SOURCES
weft_LDADD = \
	libweft_trace.la \
	libweft_placement.la \
	$(JANSSON_LIBS) \
	$(ZLIB_LIBS) \
	# End of weft_LDADD
