# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_export.la
libweft_export_la_SOURCES = \
	%D%/export.c \
	%D%/export.h \
	%D%/export_dot.c \
	%D%/export_json.c \
	%D%/export_nccl_xml.c \
	%D%/export_simgrid.c \
	%D%/export_slurm_block.c \
	%D%/export_slurm_tree.c \
	%D%/export_slurm_yaml.c \
	%D%/outline.c \
	%D%/outline.h \
	%D%/outline_blocks.c \
	# End of libweft_export_la_SOURCES
libweft_export_la_LIBADD = $(JANSSON_LIBS)
