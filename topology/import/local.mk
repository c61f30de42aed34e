# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_import.la
libweft_import_la_SOURCES = \
	%D%/import.c \
	%D%/import.h \
	%D%/import_gpu_fabric.c \
	%D%/lines.c \
	%D%/lines.h \
	# End of libweft_import_la_SOURCES
libweft_import_la_LIBADD = $(ZLIB_LIBS) $(JANSSON_LIBS)
