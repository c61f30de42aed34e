# SPDX-License-Identifier: GPL-3.0-or-later
unit_tests += \
	%D%/cost \
	%D%/model \
	%D%/parallelism \
	%D%/spec \
	%D%/traffic \
	%D%/volume \
	# End of unit_tests

noinst_HEADERS += %D%/csv.h
