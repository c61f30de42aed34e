# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_topology.la
libweft_topology_la_SOURCES = \
	%D%/cabling.c \
	%D%/fabric.c \
	%D%/fabric_build.c \
	%D%/fabric_cables.c \
	%D%/fabric_draft.c \
	%D%/fabric_draft.h \
	%D%/fabric_links.c \
	%D%/fabric_load.c \
	%D%/fabric_rails.c \
	%D%/fabric_switches.c \
	%D%/fabric_uplinks.c \
	%D%/fabric_wiring.h \
	%D%/profile.c \
	%D%/rank_map.c \
	%D%/synth.c \
	%D%/synth_cables.c \
	%D%/synth_parts.h \
	# End of libweft_topology_la_SOURCES
libweft_topology_la_LIBADD = libweft_base.la

weft_topology_headers = \
	%D%/cabling.h \
	%D%/fabric.h \
	%D%/profile.h \
	%D%/rank_map.h \
	%D%/synth.h \
	# End of weft_topology_headers
