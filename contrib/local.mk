# SPDX-License-Identifier: GPL-3.0-or-later
dist_bashcompletion_DATA = %D%/completion/weft

# debian/ is in the repository for packages of a checkout, and not in the
# tarball: whoever packages a release brings the packaging.
EXTRA_DIST += \
	%D%/check \
	%D%/demo \
	%D%/lab.sh \
	%D%/packages \
	%D%/plugstack.conf.example \
	%D%/prepare.sh \
	%D%/slurm-source \
	%D%/weft-metrics.service \
	%D%/weft-metrics.timer \
	%D%/weft.yaml.example \
	.clang-format \
	LICENSE \
	README.md \
	# End of EXTRA_DIST
