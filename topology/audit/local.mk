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
	%D%/audit_meshes.c \
	%D%/audit_networks.c \
	%D%/audit_nvlink.c \
	%D%/audit_places.c \
	%D%/audit_rails.c \
	%D%/audit_tree.c \
	%D%/audit_uplinks.c \
	%D%/checks.h \
	%D%/deltas.c \
	%D%/deltas.h \
	%D%/drift/drift.c \
	%D%/drift/drift.h \
	%D%/drift/drift_cables.c \
	%D%/drift/drift_hosts.c \
	%D%/drift/drift_match.c \
	%D%/drift/drift_tree.c \
	%D%/drift/drift_uplinks.c \
	%D%/graph.c \
	%D%/graph.h \
	%D%/host_facts.c \
	%D%/host_facts.h \
	%D%/host_facts_audit.c \
	%D%/siblings.c \
	%D%/siblings.h \
	# End of libweft_audit_la_SOURCES
