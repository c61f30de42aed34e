# SPDX-License-Identifier: GPL-3.0-or-later
# The bridge knows no Slurm and is always built, for its tests.
noinst_LTLIBRARIES += libweft_bridge.la
libweft_bridge_la_SOURCES = \
	%D%/bridge.c \
	%D%/bridge.h \
	# End of libweft_bridge_la_SOURCES
libweft_bridge_la_LIBADD = libweft_placement.la
