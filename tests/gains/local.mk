# SPDX-License-Identifier: GPL-3.0-or-later
# Published gains: a folder is a row of weft-gains(7).
script_tests += %D%/gains.sh
EXTRA_DIST += \
	%D%/G06 \
	%D%/G07 \
	%D%/G10 \
	%D%/G11 \
	%D%/run \
	# End of EXTRA_DIST
