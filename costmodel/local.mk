# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_costmodel.la
libweft_costmodel_la_SOURCES = \
	%D%/collective.c \
	%D%/convention.c \
	%D%/cost.c \
	%D%/gradsync.c \
	%D%/health.c \
	%D%/model.c \
	%D%/nccl.c \
	%D%/nccl_model.c \
	%D%/nccl_model.h \
	%D%/nccl_tables.c \
	%D%/parallelism.c \
	%D%/pipeline.c \
	%D%/spec.c \
	%D%/spec_resolve.c \
	%D%/straggler.c \
	%D%/traffic.c \
	%D%/volume.c \
	# End of libweft_costmodel_la_SOURCES
libweft_costmodel_la_LIBADD = libweft_topology.la

weft_costmodel_headers = \
	%D%/collective.h \
	%D%/convention.h \
	%D%/cost.h \
	%D%/gradsync.h \
	%D%/health.h \
	%D%/model.h \
	%D%/nccl.h \
	%D%/parallelism.h \
	%D%/pipeline.h \
	%D%/schedule.h \
	%D%/spec.h \
	%D%/straggler.h \
	%D%/traffic.h \
	%D%/volume.h \
	# End of weft_costmodel_headers
