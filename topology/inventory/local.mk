# SPDX-License-Identifier: GPL-3.0-or-later
# What sources say of a cluster, and the levels that follow from it.
noinst_LTLIBRARIES += libweft_inventory.la
libweft_inventory_la_SOURCES = \
	%D%/finding.c \
	%D%/finding.h \
	%D%/finding_kinds.def \
	%D%/inventory.c \
	%D%/inventory.h \
	%D%/inventory_fabric.c \
	%D%/inventory_facts.c \
	# End of libweft_inventory_la_SOURCES
