# SPDX-License-Identifier: GPL-3.0-or-later
unit_tests += \
	%D%/advice \
	%D%/calibrate \
	%D%/calibrate_nodes \
	%D%/chunks \
	%D%/collective \
	%D%/collective_simulation \
	%D%/cost \
	%D%/exchange \
	%D%/flops \
	%D%/flow_simulation \
	%D%/flows \
	%D%/gpu \
	%D%/gradsync \
	%D%/health \
	%D%/load \
	%D%/matrix \
	%D%/measured \
	%D%/memory \
	%D%/model \
	%D%/model_config \
	%D%/nccl \
	%D%/nccl_golden \
	%D%/nccl_log \
	%D%/out_of_memory \
	%D%/overlap \
	%D%/pairwise \
	%D%/parallelism \
	%D%/pipeline \
	%D%/properties \
	%D%/routing \
	%D%/scaling \
	%D%/schedule \
	%D%/seeds \
	%D%/sequence \
	%D%/span \
	%D%/spec \
	%D%/step \
	%D%/straggler \
	%D%/tensor \
	%D%/trace \
	%D%/trace_memory \
	%D%/traffic \
	%D%/traffic_volumes \
	%D%/uplinks \
	%D%/waits \
	%D%/whatif \
	# End of unit_tests

noinst_HEADERS += \
	%D%/calibration.h \
	%D%/flows_explicit.h \
	%D%/flows_scene.h \
	%D%/measured.h \
	%D%/nccl_choice.h \
	%D%/random.h \
	%D%/simulation.h \
	%D%/table.h \
	%D%/trace_file.h \
	%D%/traffic_job.h \
	# End of noinst_HEADERS

tests_costmodel_pairwise_LDADD = \
	libweft_measured.la libweft_inventory.la $(LDADD)

# One table, its rows by the subjects of the seeds.
tests_costmodel_seeds_SOURCES = \
	%D%/seeds.c \
	%D%/seeds.h \
	%D%/seeds_overlap.c \
	%D%/seeds_pipeline.c \
	%D%/seeds_scaling.c \
	%D%/seeds_sync.c \
	%D%/seeds_waits.c \
	# End of tests_costmodel_seeds_SOURCES

trace_libs = libweft_trace.la $(LDADD) $(JANSSON_LIBS) $(ZLIB_LIBS)
tests_costmodel_advice_LDADD = $(trace_libs)
tests_costmodel_exchange_LDADD = $(trace_libs)
tests_costmodel_overlap_LDADD = $(trace_libs)
tests_costmodel_trace_LDADD = $(trace_libs)
tests_costmodel_trace_memory_LDADD = $(trace_libs)
tests_costmodel_waits_LDADD = $(trace_libs)

# Lets the n-th allocation of the library fail.
tests_costmodel_out_of_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc,--wrap=realloc
tests_costmodel_calibrate_LDFLAGS = \
	$(AM_LDFLAGS) \
	-Wl,--wrap=calloc \
	-Wl,--wrap=realloc \
	# End of tests_costmodel_calibrate_LDFLAGS
tests_costmodel_step_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc
tests_costmodel_trace_memory_LDFLAGS = \
	$(AM_LDFLAGS) \
	-Wl,--wrap=calloc \
	-Wl,--wrap=realloc \
	# End of tests_costmodel_trace_memory_LDFLAGS

EXTRA_DIST += \
	tests/models \
	# End of EXTRA_DIST
