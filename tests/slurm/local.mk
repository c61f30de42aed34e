# SPDX-License-Identifier: GPL-3.0-or-later
# The live suite needs root and an installed Slurm, so it is no part of check.
.PHONY: check-slurm
check-slurm: all
	WEFT_BUILDDIR='$(abs_top_builddir)' '$(srcdir)/%D%/run'

EXTRA_DIST += \
	%D%/case.sh \
	%D%/cases/10-placement.sh \
	%D%/cases/20-request.sh \
	%D%/cases/30-sharing.sh \
	%D%/cases/40-scheduling.sh \
	%D%/cases/50-daemon.sh \
	%D%/cases/60-spec.sh \
	%D%/cases/70-show.sh \
	%D%/leak \
	%D%/memcheck \
	%D%/run \
	# End of EXTRA_DIST
