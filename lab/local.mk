# SPDX-License-Identifier: GPL-3.0-or-later
# What a researcher runs now and then: calculators, replays of job streams, the
# mapper on any problem, measurements.  A library and a program of their own; the
# command line runs the program for these commands.
noinst_LTLIBRARIES += libweft_lab.la
libweft_lab_la_SOURCES = \
	%D%/advise/advise.c \
	%D%/advise/advise.h \
	%D%/advise/cmd_advise.c \
	%D%/advise/layouts.c \
	%D%/calculators/chunks.c \
	%D%/calculators/chunks.h \
	%D%/calculators/convention.c \
	%D%/calculators/convention.h \
	%D%/calculators/fact.c \
	%D%/calculators/fact.h \
	%D%/calculators/gradsync.c \
	%D%/calculators/gradsync.h \
	%D%/calculators/interconnect.c \
	%D%/calculators/interconnect.h \
	%D%/calculators/pipeline.c \
	%D%/calculators/pipeline.h \
	%D%/calculators/sequence.c \
	%D%/calculators/sequence.h \
	%D%/calculators/tensor.c \
	%D%/calculators/tensor.h \
	%D%/calculators/whatif.c \
	%D%/calculators/whatif.h \
	%D%/calibrate/calibrate.c \
	%D%/calibrate/calibrate.h \
	%D%/calibrate/calibrate_nodes.c \
	%D%/calibrate/calibration.c \
	%D%/calibrate/calibration.h \
	%D%/calibrate/cmd_calibrate.c \
	%D%/calibrate/cmd_steps.c \
	%D%/calibrate/curve.c \
	%D%/calibrate/curve.h \
	%D%/calibrate/steps.c \
	%D%/calibrate/steps.h \
	%D%/calibrate/steps_inspector.c \
	%D%/map/arch.c \
	%D%/map/arch.h \
	%D%/map/cmd_map.c \
	%D%/map/map.c \
	%D%/map/map.h \
	%D%/map/map_tree.c \
	%D%/map/mapping_bound.c \
	%D%/map/metis.c \
	%D%/map/metis.h \
	%D%/map/portfolio.c \
	%D%/map/portfolio.h \
	%D%/map/qaplib.c \
	%D%/map/qaplib.h \
	%D%/map/scan.c \
	%D%/map/scan.h \
	%D%/stop.c \
	%D%/stop.h \
	%D%/model/cmd_model.c \
	%D%/model/model.c \
	%D%/model/model.h \
	%D%/model/model_allreduce.c \
	%D%/model/model_chunks.c \
	%D%/model/model_conventions.c \
	%D%/model/model_facts.c \
	%D%/model/model_memory.c \
	%D%/model/model_nccl.c \
	%D%/model/model_overlap.c \
	%D%/model/model_parallelism.c \
	%D%/model/model_part.h \
	%D%/model/model_pipeline.c \
	%D%/model/model_sequence.c \
	%D%/model/model_step.c \
	%D%/model/model_straggler.c \
	%D%/model/model_traffic.c \
	%D%/model/model_whatif.c \
	%D%/model/overlap.h \
	%D%/model/overlap_json.c \
	%D%/model/overlap_text.c \
	%D%/model/options.c \
	%D%/model/options.h \
	%D%/model/quantity.c \
	%D%/model/quantity.h \
	%D%/nccl/nccl.c \
	%D%/nccl/nccl.h \
	%D%/nccl/nccl_machines.c \
	%D%/nccl/nccl_model.c \
	%D%/nccl/nccl_model.h \
	%D%/nccl/nccl_tables.c \
	%D%/qap/lap.c \
	%D%/qap/lap.h \
	%D%/qap/qap.c \
	%D%/qap/qap.h \
	%D%/qap/qap_bound.c \
	%D%/qap/qap_form.c \
	%D%/qap/qap_form.h \
	%D%/qap/qap_tabu.h \
	%D%/qap/qap_tabu_cell.h \
	%D%/qap/qap_tabu_narrow.c \
	%D%/qap/qap_tabu_step.h \
	%D%/qap/qap_tabu_wide.c \
	%D%/replay/cmd_replay.c \
	%D%/replay/contention.c \
	%D%/replay/contention.h \
	%D%/replay/job_trace.c \
	%D%/replay/job_trace.h \
	%D%/replay/job_trace_csv.c \
	%D%/replay/job_trace_sacct.c \
	%D%/replay/ledger.c \
	%D%/replay/ledger.h \
	%D%/replay/mix.c \
	%D%/replay/mix.h \
	%D%/replay/time_text.c \
	%D%/replay/time_text.h \
	%D%/replay/policy.c \
	%D%/replay/policy.h \
	%D%/replay/pricing.c \
	%D%/replay/pricing.h \
	%D%/replay/replay.c \
	%D%/replay/replay.h \
	%D%/replay/replay_pace.c \
	%D%/replay/replay_report.c \
	%D%/replay/replay_report.h \
	%D%/replay/replay_run.c \
	%D%/replay/replay_run.h \
	%D%/replay/replay_start.c \
	%D%/replay/stream.c \
	%D%/replay/stream.h \
	%D%/step/step_columns.c \
	%D%/step/step_columns.h \
	%D%/step/step_left_out.c \
	%D%/step/step_row.c \
	%D%/step/step_row.h \
	%D%/step/step_run.c \
	%D%/step/step_run.h \
	%D%/step/step_shape.c \
	%D%/step/step_source.c \
	%D%/step/step_source.h \
	%D%/step/step_sweep.c \
	%D%/step/step_table.c \
	%D%/step/step_table.h \
	# End of libweft_lab_la_SOURCES
libweft_lab_la_LIBADD = libweft_placement.la

# Traces of profilers: apart, because of jansson and zlib.
noinst_LTLIBRARIES += libweft_trace.la
libweft_trace_la_SOURCES = \
	%D%/trace/advice.c \
	%D%/trace/advice.h \
	%D%/trace/advice_fit.c \
	%D%/trace/exchange.c \
	%D%/trace/exchange.h \
	%D%/trace/json_stream.c \
	%D%/trace/json_stream.h \
	%D%/trace/overlap.c \
	%D%/trace/overlap.h \
	%D%/trace/trace.c \
	%D%/trace/trace.h \
	%D%/trace/trace_chakra.c \
	%D%/trace/trace_draft.c \
	%D%/trace/trace_draft.h \
	%D%/trace/trace_graph.c \
	%D%/trace/trace_join.c \
	%D%/trace/trace_kineto.c \
	%D%/trace/trace_words.c \
	%D%/trace/waits.c \
	%D%/trace/waits.h \
	# End of libweft_trace_la_SOURCES
libweft_trace_la_LIBADD = $(JANSSON_LIBS) $(ZLIB_LIBS)

pkglibexec_PROGRAMS = weft-lab
weft_lab_SOURCES = %D%/lab.c %D%/lab.h
weft_lab_LDADD = \
	libweft_lab.la \
	libweft_cli.la \
	libweft_trace.la \
	libweft_text.la \
	libweft_placement.la \
	$(JANSSON_LIBS) \
	$(ZLIB_LIBS) \
	# End of weft_lab_LDADD
