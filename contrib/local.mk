# SPDX-License-Identifier: GPL-3.0-or-later
dist_bashcompletion_DATA = %D%/completion/weft

EXTRA_DIST += \
	%D%/slurm-source \
	.clang-format \
	LICENSE \
	README.md \
	# End of EXTRA_DIST
