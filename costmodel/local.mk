# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_costmodel.la
libweft_costmodel_la_SOURCES = \
	%D%/job/compute.c \
	%D%/job/flops.c \
	%D%/job/gpu.c \
	%D%/job/memory.c \
	%D%/job/model.c \
	%D%/job/model_config.c \
	%D%/job/model_config.h \
	%D%/job/model_shapes.c \
	%D%/job/parallelism.c \
	%D%/job/software.c \
	%D%/job/spec.c \
	%D%/job/spec_resolve.c \
	%D%/job/spec_shape.c \
	%D%/job/spec_words.c \
	%D%/job/spec_words.h \
	%D%/measured/nccl_log.c \
	%D%/measured/nccl_log_csv.c \
	%D%/measured/nccl_log_draft.c \
	%D%/measured/nccl_log_draft.h \
	%D%/measured/nccl_log_inspector.c \
	%D%/measured/nccl_log_json.c \
	%D%/measured/nccl_log_text.c \
	%D%/time/carried.c \
	%D%/time/cost.c \
	%D%/time/cost_clique.c \
	%D%/time/flows/flows.c \
	%D%/time/flows/flows_all.c \
	%D%/time/flows/flows_group.c \
	%D%/time/flows/flows_parts.h \
	%D%/time/flows/flows_paths.c \
	%D%/time/flows/flows_tour.h \
	%D%/time/flows/flows_ways.c \
	%D%/time/health.c \
	%D%/time/load.c \
	%D%/time/range.c \
	%D%/time/routing.c \
	%D%/time/scaling.c \
	%D%/time/sharing.c \
	%D%/time/span.c \
	%D%/time/span_meet.c \
	%D%/time/span_time.c \
	%D%/time/step.c \
	%D%/time/step_compute.c \
	%D%/time/step_exposed.c \
	%D%/time/step_parts.h \
	%D%/time/straggler.c \
	%D%/traffic/collective.c \
	%D%/traffic/matrix.c \
	%D%/traffic/schedule.c \
	%D%/traffic/schedule_layers.c \
	%D%/traffic/schedule_parts.h \
	%D%/traffic/schedule_replicas.c \
	%D%/traffic/schedule_shape.c \
	%D%/traffic/traffic.c \
	%D%/traffic/traffic_build.c \
	%D%/traffic/traffic_parts.h \
	%D%/traffic/traffic_rows.c \
	%D%/traffic/traffic_rows.h \
	# End of libweft_costmodel_la_SOURCES
libweft_costmodel_la_LIBADD = libweft_topology.la

weft_costmodel_headers = \
	%D%/job/compute.h \
	%D%/job/flops.h \
	%D%/job/gpu.h \
	%D%/job/memory.h \
	%D%/job/model.h \
	%D%/job/parallelism.h \
	%D%/job/software.h \
	%D%/job/spec.h \
	%D%/measured/nccl_log.h \
	%D%/time/span_parts.h \
	%D%/time/cost.h \
	%D%/time/cost_parts.h \
	%D%/time/flows.h \
	%D%/time/health.h \
	%D%/time/load.h \
	%D%/time/range.h \
	%D%/time/routing.h \
	%D%/time/scaling.h \
	%D%/time/span.h \
	%D%/time/step.h \
	%D%/time/straggler.h \
	%D%/traffic/collective.h \
	%D%/traffic/matrix.h \
	%D%/traffic/schedule.h \
	%D%/traffic/traffic.h \
	# End of weft_costmodel_headers

# Measured bandwidth, audited: its findings are of surveys, which the plugin does
# not link.
noinst_LTLIBRARIES += libweft_measured.la
libweft_measured_la_SOURCES = \
	%D%/measured/pairwise.c \
	%D%/measured/pairwise.h \
	%D%/measured/pairwise_fit.c \
	%D%/measured/pairwise_fit.h \
	%D%/measured/pairwise_load.c \
	%D%/measured/pairwise_read.c \
	%D%/measured/pairwise_set.c \
	# End of libweft_measured_la_SOURCES

# Launch scripts and frameworks' configurations as specs: for the command line and
# job_submit.
noinst_LTLIBRARIES += libweft_script.la
libweft_script_la_SOURCES = \
	%D%/script/draft.c \
	%D%/script/draft.h \
	%D%/script/draft_common.c \
	%D%/script/facts.c \
	%D%/script/facts.h \
	%D%/script/launch.c \
	%D%/script/launch.h \
	%D%/script/marked.c \
	%D%/script/marked.h \
	%D%/script/readers.c \
	%D%/script/readers_megatron.c \
	%D%/script/readers_verl.c \
	%D%/script/script.c \
	%D%/script/script.h \
	%D%/script/settle.c \
	%D%/script/shell.c \
	%D%/script/shell.h \
	%D%/script/shell_dollar.c \
	%D%/script/shell_keyword.c \
	%D%/script/shell_parts.h \
	%D%/script/shell_state.c \
	%D%/script/shell_test.c \
	%D%/script/shell_word.c \
	%D%/script/toml.c \
	%D%/script/tree.c \
	# End of libweft_script_la_SOURCES
