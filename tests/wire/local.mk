# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs on a network of name spaces: needs root, g++ and libgloo-dev, so it is no
# part of check.
EXTRA_DIST += \
	%D%/dense.yaml \
	%D%/lab.sh \
	%D%/model.yaml \
	%D%/moe.yaml \
	%D%/network \
	%D%/rank.cc \
	%D%/run \
	%D%/step.jq \
	%D%/wire.sh \
	# End of EXTRA_DIST

# The only program in C++: nothing of weft is linked to it.
CLEANFILES += %D%/rank
%D%/rank$(EXEEXT): %D%/rank.cc
	$(AM_V_GEN)$(MKDIR_P) %D% && $(CXX) -std=c++17 -O2 -Wall -Wextra \
		-o $@ $(srcdir)/%D%/rank.cc -lgloo -lpthread

.PHONY: check-wire
check-wire: all %D%/rank$(EXEEXT)
	WEFT_BUILDDIR='$(abs_top_builddir)' '$(srcdir)/%D%/run'
