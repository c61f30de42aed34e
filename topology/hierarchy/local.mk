# SPDX-License-Identifier: GPL-3.0-or-later
libweft_inventory_la_SOURCES += \
	%D%/grouping.c \
	%D%/hierarchy.c \
	%D%/hierarchy.h \
	%D%/hierarchy_cables.c \
	%D%/hierarchy_domain_name.c \
	%D%/hierarchy_domains.c \
	%D%/hierarchy_dragonfly.c \
	%D%/hierarchy_fabric.c \
	%D%/hierarchy_fit.c \
	%D%/hierarchy_groups.c \
	%D%/hierarchy_networks.c \
	%D%/hierarchy_rails.c \
	%D%/hierarchy_rates.c \
	%D%/hierarchy_roots.c \
	%D%/hierarchy_services.c \
	%D%/hierarchy_tiers.c \
	%D%/hierarchy_tree.c \
	%D%/write_names.c \
	%D%/write_nvlink.c \
	%D%/write.c \
	%D%/write_cables.c \
	%D%/write_levels.c \
	%D%/write_profile.c \
	%D%/cable_index.c \
	%D%/cable_index.h \
	%D%/writer.h \
	# End of libweft_inventory_la_SOURCES
