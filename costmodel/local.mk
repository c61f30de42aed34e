# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_costmodel.la
libweft_costmodel_la_SOURCES = \
	%D%/calibrate.c \
	%D%/calibrate_link.c \
	%D%/calibrate_link.h \
	%D%/calibrate_nodes.c \
	%D%/chunks.c \
	%D%/collective.c \
	%D%/collective_flows.c \
	%D%/compute.c \
	%D%/convention.c \
	%D%/cost.c \
	%D%/curve.c \
	%D%/fact.c \
	%D%/flops.c \
	%D%/flows.c \
	%D%/flows_parts.h \
	%D%/flows_paths.c \
	%D%/flows_ways.c \
	%D%/gpu.c \
	%D%/gradsync.c \
	%D%/health.c \
	%D%/interconnect.c \
	%D%/load.c \
	%D%/matrix.c \
	%D%/memory.c \
	%D%/model.c \
	%D%/nccl.c \
	%D%/nccl_log.c \
	%D%/nccl_log_csv.c \
	%D%/nccl_log_draft.c \
	%D%/nccl_log_draft.h \
	%D%/nccl_log_json.c \
	%D%/nccl_log_text.c \
	%D%/nccl_machines.c \
	%D%/nccl_model.c \
	%D%/nccl_model.h \
	%D%/nccl_tables.c \
	%D%/parallelism.c \
	%D%/pipeline.c \
	%D%/range.c \
	%D%/routing.c \
	%D%/scaling.c \
	%D%/schedule.c \
	%D%/schedule_layers.c \
	%D%/schedule_parts.h \
	%D%/schedule_replicas.c \
	%D%/schedule_shape.c \
	%D%/sequence.c \
	%D%/sharing.c \
	%D%/software.c \
	%D%/span.c \
	%D%/span_meet.c \
	%D%/spec.c \
	%D%/spec_resolve.c \
	%D%/step.c \
	%D%/straggler.c \
	%D%/tensor.c \
	%D%/traffic.c \
	%D%/traffic_build.c \
	%D%/traffic_parts.h \
	%D%/volume.c \
	%D%/whatif.c \
	# End of libweft_costmodel_la_SOURCES
libweft_costmodel_la_LIBADD = libweft_topology.la

weft_costmodel_headers = \
	%D%/calibrate.h \
	%D%/chunks.h \
	%D%/collective.h \
	%D%/compute.h \
	%D%/convention.h \
	%D%/cost.h \
	%D%/curve.h \
	%D%/fact.h \
	%D%/flops.h \
	%D%/flows.h \
	%D%/gpu.h \
	%D%/gradsync.h \
	%D%/health.h \
	%D%/interconnect.h \
	%D%/load.h \
	%D%/matrix.h \
	%D%/memory.h \
	%D%/model.h \
	%D%/nccl.h \
	%D%/nccl_log.h \
	%D%/parallelism.h \
	%D%/pipeline.h \
	%D%/range.h \
	%D%/routing.h \
	%D%/scaling.h \
	%D%/schedule.h \
	%D%/sequence.h \
	%D%/sharing.h \
	%D%/span.h \
	%D%/spec.h \
	%D%/software.h \
	%D%/step.h \
	%D%/straggler.h \
	%D%/tensor.h \
	%D%/traffic.h \
	%D%/volume.h \
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
	%D%/pairwise.c \
	%D%/pairwise.h \
	%D%/pairwise_fit.c \
	%D%/pairwise_fit.h \
	%D%/pairwise_load.c \
	%D%/pairwise_read.c \
	%D%/pairwise_set.c \
	# End of libweft_measured_la_SOURCES
