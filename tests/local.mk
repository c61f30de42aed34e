# SPDX-License-Identifier: GPL-3.0-or-later
# Every test program is one source file; its name here is its path without ".c".
LDADD = \
	libweft_test.la \
	libweft_lab.la \
	libweft_text.la \
	libweft_bridge.la \
	libweft_placement.la \
	$(CMOCKA_LIBS) \
	# End of LDADD

check_LTLIBRARIES += libweft_test.la
libweft_test_la_SOURCES = \
	%D%/lib/check.c \
	%D%/lib/check.h \
	%D%/lib/checker.c \
	%D%/lib/checker.h \
	%D%/lib/fabric.c \
	%D%/lib/fabric.h \
	%D%/lib/fabric_check.c \
	%D%/lib/fabric_check.h \
	%D%/lib/failing.h \
	%D%/lib/ibnet.c \
	%D%/lib/ibnet.h \
	%D%/lib/traffic.h \
	# End of libweft_test_la_SOURCES
libweft_test_la_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)

unit_tests =
script_tests =

include tests/topology/local.mk
include tests/costmodel/local.mk
include tests/placement/local.mk
include tests/plugin/local.mk
include tests/cli/local.mk
include tests/fuzz/local.mk
include tests/gains/local.mk
include tests/bench/local.mk
include tests/slurm/local.mk
include tests/wire/local.mk

script_tests += \
	%D%/abi/abi.sh \
	%D%/python/python.sh \
	%D%/layers.sh \
	%D%/format.sh \
	# End of script_tests

if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif
TESTS += $(script_tests)
EXTRA_DIST += \
	$(script_tests) \
	%D%/abi/abi.py \
	%D%/abi/libweft.abi \
	%D%/deb \
	%D%/deb.d/life \
	%D%/deb.d/role \
	%D%/rpm \
	%D%/python/abi.py \
	%D%/python/package.py \
	# End of EXTRA_DIST
