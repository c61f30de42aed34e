# SPDX-License-Identifier: GPL-3.0-or-later
# What is about nothing: memory, errors, names, sets, clocks and text formats.
noinst_LTLIBRARIES += libweft_base.la
libweft_base_la_SOURCES = \
	%D%/append.c \
	%D%/append.h \
	%D%/arena.c \
	%D%/arena.h \
	%D%/clock.c \
	%D%/clock.h \
	%D%/compare.h \
	%D%/divisor.h \
	%D%/error.c \
	%D%/hash.h \
	%D%/hostlist.c \
	%D%/lines.c \
	%D%/lines.h \
	%D%/sets.h \
	%D%/size.c \
	%D%/size.h \
	%D%/suggest.c \
	%D%/text.c \
	%D%/trusted.c \
	%D%/trusted.h \
	%D%/yaml.c \
	%D%/yaml_value.c \
	# End of libweft_base_la_SOURCES
libweft_base_la_LIBADD = $(YAML_LIBS)

# Reads files, gzip'ed or not, for the command line and the tests.
noinst_LTLIBRARIES += libweft_text.la
libweft_text_la_SOURCES = \
	%D%/csv.c \
	%D%/csv.h \
	%D%/text_file.c \
	# End of libweft_text_la_SOURCES
libweft_text_la_LIBADD = $(ZLIB_LIBS)

weft_base_headers = \
	%D%/bitset.h \
	%D%/error.h \
	%D%/hostlist.h \
	%D%/suggest.h \
	%D%/text.h \
	%D%/yaml.h \
	# End of weft_base_headers
