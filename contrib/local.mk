# SPDX-License-Identifier: GPL-3.0-or-later
dist_bashcompletion_DATA = %D%/completion/weft

EXTRA_DIST += \
	%D%/check \
	%D%/demo \
	%D%/lab.sh \
	%D%/packages \
	%D%/plugstack.conf.example \
	%D%/prepare.sh \
	%D%/slurm-source \
	%D%/weft.yaml.example \
	.clang-format \
	LICENSE \
	README.md \
	# End of EXTRA_DIST
