# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_costmodel.la
libweft_costmodel_la_SOURCES = \
	%D%/calibrate.c \
	%D%/calibrate_link.c \
	%D%/calibrate_link.h \
	%D%/calibrate_nodes.c \
	%D%/chunks.c \
	%D%/traffic/collective.c \
	%D%/traffic/collective_flows.c \
	%D%/job/compute.c \
	%D%/convention.c \
	%D%/time/cost.c \
	%D%/curve.c \
	%D%/fact.c \
	%D%/job/flops.c \
	%D%/time/flows.c \
	%D%/time/flows_parts.h \
	%D%/time/flows_paths.c \
	%D%/time/flows_ways.c \
	%D%/job/gpu.c \
	%D%/gradsync.c \
	%D%/time/health.c \
	%D%/interconnect.c \
	%D%/time/load.c \
	%D%/traffic/matrix.c \
	%D%/job/memory.c \
	%D%/job/model.c \
	%D%/nccl.c \
	%D%/measured/nccl_log.c \
	%D%/measured/nccl_log_csv.c \
	%D%/measured/nccl_log_draft.c \
	%D%/measured/nccl_log_draft.h \
	%D%/measured/nccl_log_json.c \
	%D%/measured/nccl_log_text.c \
	%D%/nccl_machines.c \
	%D%/nccl_model.c \
	%D%/nccl_model.h \
	%D%/nccl_tables.c \
	%D%/job/parallelism.c \
	%D%/pipeline.c \
	%D%/time/range.c \
	%D%/time/routing.c \
	%D%/time/scaling.c \
	%D%/traffic/schedule.c \
	%D%/traffic/schedule_layers.c \
	%D%/traffic/schedule_parts.h \
	%D%/traffic/schedule_replicas.c \
	%D%/traffic/schedule_shape.c \
	%D%/sequence.c \
	%D%/time/sharing.c \
	%D%/job/software.c \
	%D%/time/span.c \
	%D%/time/span_meet.c \
	%D%/job/spec.c \
	%D%/job/spec_resolve.c \
	%D%/time/step.c \
	%D%/time/straggler.c \
	%D%/tensor.c \
	%D%/traffic/traffic.c \
	%D%/traffic/traffic_build.c \
	%D%/traffic/traffic_parts.h \
	%D%/traffic/volume.c \
	%D%/whatif.c \
	# End of libweft_costmodel_la_SOURCES
libweft_costmodel_la_LIBADD = libweft_topology.la

weft_costmodel_headers = \
	%D%/calibrate.h \
	%D%/chunks.h \
	%D%/traffic/collective.h \
	%D%/job/compute.h \
	%D%/convention.h \
	%D%/time/cost.h \
	%D%/curve.h \
	%D%/fact.h \
	%D%/job/flops.h \
	%D%/time/flows.h \
	%D%/job/gpu.h \
	%D%/gradsync.h \
	%D%/time/health.h \
	%D%/interconnect.h \
	%D%/time/load.h \
	%D%/traffic/matrix.h \
	%D%/job/memory.h \
	%D%/job/model.h \
	%D%/nccl.h \
	%D%/measured/nccl_log.h \
	%D%/job/parallelism.h \
	%D%/pipeline.h \
	%D%/time/range.h \
	%D%/time/routing.h \
	%D%/time/scaling.h \
	%D%/traffic/schedule.h \
	%D%/sequence.h \
	%D%/time/sharing.h \
	%D%/time/span.h \
	%D%/job/spec.h \
	%D%/job/software.h \
	%D%/time/step.h \
	%D%/time/straggler.h \
	%D%/tensor.h \
	%D%/traffic/traffic.h \
	%D%/traffic/volume.h \
	%D%/whatif.h \
	# End of weft_costmodel_headers

# Measured waits.  Apart from the model, so that the plugin needs neither
# jansson nor zlib; for the command line and the tests.
noinst_LTLIBRARIES += libweft_trace.la
libweft_trace_la_SOURCES = \
	base/json_stream.c \
	base/json_stream.h \
	%D%/advice.c \
	%D%/advice.h \
	%D%/advice_fit.c \
	%D%/exchange.c \
	%D%/exchange.h \
	%D%/overlap.c \
	%D%/overlap.h \
	%D%/trace.c \
	%D%/trace.h \
	%D%/trace_chakra.c \
	%D%/trace_draft.c \
	%D%/trace_draft.h \
	%D%/trace_graph.c \
	%D%/trace_join.c \
	%D%/trace_kineto.c \
	%D%/trace_kineto.h \
	%D%/trace_words.c \
	%D%/waits.c \
	%D%/waits.h \
	# End of libweft_trace_la_SOURCES
libweft_trace_la_LIBADD = $(JANSSON_LIBS) $(ZLIB_LIBS)

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
