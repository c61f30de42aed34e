# SPDX-License-Identifier: GPL-3.0-or-later
unit_tests += \
	%D%/baseline \
	%D%/job \
	%D%/occupancy \
	%D%/optimum \
	%D%/place \
	# End of unit_tests

noinst_HEADERS += %D%/cases.h
