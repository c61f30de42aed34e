# SPDX-License-Identifier: GPL-3.0-or-later
unit_tests += \
	%D%/audit \
	%D%/cabling \
	%D%/draw \
	%D%/export_nccl \
	%D%/fabric \
	%D%/fixtures \
	%D%/hostlist \
	%D%/import_fixtures \
	%D%/import_ibnetdiscover \
	%D%/import_node \
	%D%/import_slurm \
	%D%/host_facts \
	%D%/layout \
	%D%/memory \
	%D%/profile \
	%D%/rank_map \
	%D%/round_trip \
	%D%/scheme_cables \
	%D%/network_faults \
	%D%/seeded_faults \
	%D%/suggest \
	%D%/inventory \
	%D%/survey_fabric \
	%D%/synth \
	%D%/text \
	%D%/yaml \
	%D%/trusted \
	# End of unit_tests

tests_topology_import_fixtures_LDADD = \
	libweft_import.la libweft_inventory.la $(LDADD)
tests_topology_import_ibnetdiscover_LDADD = \
	libweft_import.la libweft_inventory.la $(LDADD)
tests_topology_export_nccl_LDADD = \
	libweft_export.la libweft_import.la libweft_inventory.la $(LDADD)
tests_topology_host_facts_LDADD = \
	libweft_audit.la libweft_inventory.la $(LDADD)
tests_topology_import_node_LDADD = \
	libweft_import.la libweft_inventory.la $(LDADD)
tests_topology_import_slurm_LDADD = \
	libweft_import.la libweft_inventory.la $(LDADD)
tests_topology_draw_LDADD = libweft_draw.la $(LDADD) $(JANSSON_LIBS)
tests_topology_layout_LDADD = libweft_draw.la $(LDADD)
tests_topology_audit_LDADD = \
	libweft_audit.la libweft_inventory.la $(LDADD)
tests_topology_round_trip_LDADD = \
	libweft_export.la libweft_import.la libweft_inventory.la $(LDADD)
tests_topology_scheme_cables_LDADD = \
	libweft_import.la libweft_inventory.la $(LDADD)
tests_topology_network_faults_SOURCES = \
	%D%/network_faults.c tests/lib/cluster_text.c tests/lib/cluster_text.h
tests_topology_network_faults_LDADD = \
	libweft_audit.la libweft_import.la libweft_inventory.la $(LDADD)
noinst_HEADERS += %D%/faults.h
tests_topology_seeded_faults_SOURCES = \
	%D%/seeded_faults.c tests/lib/cluster_text.c tests/lib/cluster_text.h
tests_topology_seeded_faults_LDADD = \
	libweft_audit.la libweft_import.la libweft_inventory.la $(LDADD)
tests_topology_inventory_LDADD = libweft_inventory.la $(LDADD)
tests_topology_survey_fabric_LDADD = libweft_inventory.la $(LDADD)

# Sees only the allocations of weft's own objects, which is what is tested.
tests_topology_memory_LDFLAGS = \
	$(AM_LDFLAGS) \
	-Wl,--wrap=malloc \
	-Wl,--wrap=calloc \
	-Wl,--wrap=realloc \
	-Wl,--wrap=free \
	-Wl,--wrap=open_memstream \
	# End of tests_topology_memory_LDFLAGS

EXTRA_DIST += \
	tests/fabrics \
	tests/pictures \
	tests/import \
	contrib/fabrics \
	# End of EXTRA_DIST
