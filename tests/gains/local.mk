# SPDX-License-Identifier: GPL-3.0-or-later
# Published gains: a folder is a row of weft-gains(7).
script_tests += %D%/gains.sh
EXTRA_DIST += \
	%D%/G01 \
	%D%/G02 \
	%D%/G03 \
	%D%/G04 \
	%D%/G05 \
	%D%/G06 \
	%D%/G07 \
	%D%/G08 \
	%D%/G09 \
	%D%/G10 \
	%D%/G11 \
	%D%/G12 \
	%D%/G13 \
	%D%/run \
	# End of EXTRA_DIST
