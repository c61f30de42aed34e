# SPDX-License-Identifier: GPL-3.0-or-later
unit_tests += \
	%D%/baseline \
	%D%/contention \
	%D%/evaluation \
	%D%/exact \
	%D%/first \
	%D%/gain \
	%D%/job \
	%D%/known \
	%D%/limits \
	%D%/mapping \
	%D%/mapping_bound \
	%D%/memo \
	%D%/objective \
	%D%/occupancy \
	%D%/optimum \
	%D%/orders \
	%D%/out_of_memory \
	%D%/blockers \
	%D%/perimeter \
	%D%/place \
	%D%/portfolio \
	%D%/policy \
	%D%/program \
	%D%/properties \
	%D%/qap \
	%D%/refine \
	%D%/replay \
	%D%/replay_memory \
	%D%/running \
	%D%/search \
	%D%/shapes \
	%D%/slots \
	%D%/tighter \
	# End of unit_tests

noinst_HEADERS += \
	%D%/brute.h \
	%D%/cases.h \
	# End of noinst_HEADERS

# Lets the n-th allocation of the library fail.
tests_placement_out_of_memory_LDFLAGS = \
	$(AM_LDFLAGS) \
	-Wl,--wrap=calloc \
	-Wl,--wrap=realloc \
	# End of tests_placement_out_of_memory_LDFLAGS

# Its library stands before the one that it builds on.
tests_placement_exact_LDADD = libweft_exact.la $(LDADD)
tests_placement_out_of_memory_LDADD = libweft_exact.la $(LDADD)
tests_placement_properties_LDADD = libweft_exact.la $(LDADD)
tests_placement_shapes_LDADD = libweft_exact.la $(LDADD)
tests_placement_program_LDADD = libweft_exact.la $(LDADD) -lpthread
tests_placement_replay_memory_LDFLAGS = \
	$(AM_LDFLAGS) \
	-Wl,--wrap=calloc \
	-Wl,--wrap=realloc \
	# End of tests_placement_replay_memory_LDFLAGS

# Lets the n-th allocation of the quadratic assignment fail.
tests_placement_qap_LDFLAGS = \
	$(AM_LDFLAGS) \
	-Wl,--wrap=calloc \
	# End of tests_placement_qap_LDFLAGS
