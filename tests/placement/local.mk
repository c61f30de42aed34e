# SPDX-License-Identifier: GPL-3.0-or-later
unit_tests += \
	%D%/baseline \
	%D%/evaluation \
	%D%/job \
	%D%/occupancy \
	%D%/optimum \
	%D%/out_of_memory \
	%D%/outlook \
	%D%/perimeter \
	%D%/place \
	%D%/running \
	%D%/slots \
	# End of unit_tests

noinst_HEADERS += %D%/cases.h

# Lets the n-th allocation of the library fail.
tests_placement_out_of_memory_LDFLAGS = \
	$(AM_LDFLAGS) \
	-Wl,--wrap=calloc \
	-Wl,--wrap=realloc \
	# End of tests_placement_out_of_memory_LDFLAGS
