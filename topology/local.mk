# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_topology.la
libweft_topology_la_SOURCES = \
	%D%/arena.c \
	%D%/arena.h \
	%D%/cabling.c \
	%D%/clock.c \
	%D%/clock.h \
	%D%/error.c \
	%D%/fabric.c \
	%D%/fabric_build.c \
	%D%/fabric_cables.c \
	%D%/fabric_check.c \
	%D%/fabric_draft.c \
	%D%/fabric_draft.h \
	%D%/fabric_links.c \
	%D%/fabric_load.c \
	%D%/fabric_rails.c \
	%D%/fabric_switches.c \
	%D%/fabric_uplinks.c \
	%D%/fabric_wiring.h \
	%D%/hash.h \
	%D%/hostlist.c \
	%D%/profile.c \
	%D%/roster.c \
	%D%/suggest.c \
	%D%/synth.c \
	%D%/synth_cables.c \
	%D%/synth_parts.h \
	%D%/text.c \
	%D%/yaml.c \
	%D%/yaml_value.c \
	# End of libweft_topology_la_SOURCES
libweft_topology_la_LIBADD = $(YAML_LIBS)

# Reads files, gzip'ed or not, for the command line and the tests.
noinst_LTLIBRARIES += libweft_text.la
libweft_text_la_SOURCES = %D%/text_file.c
libweft_text_la_LIBADD = $(ZLIB_LIBS)

weft_topology_headers = \
	%D%/bitset.h \
	%D%/cabling.h \
	%D%/error.h \
	%D%/fabric.h \
	%D%/hostlist.h \
	%D%/profile.h \
	%D%/roster.h \
	%D%/suggest.h \
	%D%/synth.h \
	%D%/text.h \
	%D%/yaml.h \
	# End of weft_topology_headers
