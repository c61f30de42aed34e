# SPDX-License-Identifier: GPL-3.0-or-later
libweft_inventory_la_SOURCES += \
	%D%/grouping.c \
	%D%/scheme.c \
	%D%/scheme.h \
	%D%/scheme_cables.c \
	%D%/scheme_domain_name.c \
	%D%/scheme_domains.c \
	%D%/scheme_fabric.c \
	%D%/scheme_fit.c \
	%D%/scheme_groups.c \
	%D%/scheme_networks.c \
	%D%/scheme_rails.c \
	%D%/scheme_rates.c \
	%D%/scheme_roots.c \
	%D%/scheme_services.c \
	%D%/scheme_tiers.c \
	%D%/scheme_tree.c \
	%D%/write_names.c \
	%D%/write.c \
	%D%/write_cables.c \
	%D%/write_levels.c \
	%D%/write_profile.c \
	%D%/wiring.c \
	%D%/wiring.h \
	%D%/writer.h \
	# End of libweft_inventory_la_SOURCES
