# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_audit.la
libweft_audit_la_SOURCES = \
	%D%/audit.c \
	%D%/audit.h \
	%D%/audit_blocks.c \
	%D%/audit_capacity.c \
	%D%/audit_fabric.c \
	%D%/audit_hosts.c \
	%D%/audit_links.c \
	%D%/audit_networks.c \
	%D%/audit_nvlink.c \
	%D%/audit_places.c \
	%D%/audit_rails.c \
	%D%/audit_tree.c \
	%D%/audit_uplinks.c \
	%D%/checks.h \
	%D%/deltas.c \
	%D%/deltas.h \
	%D%/drift.c \
	%D%/drift.h \
	%D%/drift_cables.c \
	%D%/drift_hosts.c \
	%D%/drift_match.c \
	%D%/drift_tree.c \
	%D%/drift_uplinks.c \
	%D%/graph.c \
	%D%/graph.h \
	%D%/inventory.c \
	%D%/inventory.h \
	%D%/inventory_audit.c \
	%D%/siblings.c \
	%D%/siblings.h \
	# End of libweft_audit_la_SOURCES
