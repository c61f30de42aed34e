# SPDX-License-Identifier: GPL-3.0-or-later
# A fuzzer is tests/fuzz/fuzz_NAME.c, with inputs to start from in corpus/NAME and
# in the folders that the file seeds has for NAME and, if there is one, the
# dictionary NAME.dict.  "make check" replays the seeds with any
# compiler; "make fuzz" searches for FUZZ_SECONDS each.
fuzzed_imports = \
	aws \
	hwloc_xml \
	node \
	places \
	slurm_nodes \
	slurm_topology \
	slurm_yaml \
	topograph \
	# End of fuzzed_imports
fuzzers = \
	arch \
	fabric \
	gpu_fabric \
	health \
	hostlist \
	ibnetdiscover \
	inventory \
	job_trace \
	nccl_log \
	nccl_xml \
	nvidia_smi \
	matrix \
	metis \
	pairwise \
	qaplib \
	roster \
	script \
	spec \
	state \
	steps \
	trace \
	$(fuzzed_imports) \
	# End of fuzzers

unit_tests += \
	%D%/arch \
	%D%/aws \
	%D%/hwloc_xml \
	%D%/node \
	%D%/places \
	%D%/slurm_nodes \
	%D%/slurm_topology \
	%D%/slurm_yaml \
	%D%/topograph \
	%D%/fabric \
	%D%/gpu_fabric \
	%D%/health \
	%D%/hostlist \
	%D%/ibnetdiscover \
	%D%/inventory \
	%D%/job_trace \
	%D%/nccl_log \
	%D%/nccl_xml \
	%D%/nvidia_smi \
	%D%/matrix \
	%D%/metis \
	%D%/pairwise \
	%D%/qaplib \
	%D%/roster \
	%D%/script \
	%D%/spec \
	%D%/state \
	%D%/steps \
	%D%/trace \
	# End of unit_tests

fuzz_replay = %D%/replay.c
# Importers: fuzz_FORMAT.c, which includes import_any.h.
fuzz_import = $(fuzz_replay)
tests_fuzz_aws_SOURCES = %D%/fuzz_aws.c $(fuzz_import)
tests_fuzz_aws_LDADD = $(fuzz_import_libs)
tests_fuzz_node_SOURCES = %D%/fuzz_node.c $(fuzz_import)
tests_fuzz_node_LDADD = $(fuzz_import_libs)
tests_fuzz_places_SOURCES = %D%/fuzz_places.c $(fuzz_import)
tests_fuzz_places_LDADD = $(fuzz_import_libs)
tests_fuzz_hwloc_xml_SOURCES = %D%/fuzz_hwloc_xml.c $(fuzz_import)
tests_fuzz_hwloc_xml_LDADD = $(fuzz_import_libs)
tests_fuzz_slurm_nodes_SOURCES = %D%/fuzz_slurm_nodes.c $(fuzz_import)
tests_fuzz_slurm_nodes_LDADD = $(fuzz_import_libs)
tests_fuzz_slurm_topology_SOURCES = %D%/fuzz_slurm_topology.c $(fuzz_import)
tests_fuzz_slurm_topology_LDADD = $(fuzz_import_libs)
tests_fuzz_slurm_yaml_SOURCES = %D%/fuzz_slurm_yaml.c $(fuzz_import)
tests_fuzz_slurm_yaml_LDADD = $(fuzz_import_libs)
tests_fuzz_topograph_SOURCES = %D%/fuzz_topograph.c $(fuzz_import)
tests_fuzz_topograph_LDADD = $(fuzz_import_libs)
tests_fuzz_arch_SOURCES = %D%/fuzz_arch.c $(fuzz_replay)
tests_fuzz_fabric_SOURCES = %D%/fuzz_fabric.c $(fuzz_replay)
tests_fuzz_health_SOURCES = %D%/fuzz_health.c $(fuzz_replay)
tests_fuzz_hostlist_SOURCES = %D%/fuzz_hostlist.c $(fuzz_replay)
tests_fuzz_job_trace_SOURCES = %D%/fuzz_job_trace.c $(fuzz_replay)
tests_fuzz_nccl_log_SOURCES = %D%/fuzz_nccl_log.c $(fuzz_replay)
tests_fuzz_matrix_SOURCES = %D%/fuzz_matrix.c $(fuzz_replay)
tests_fuzz_metis_SOURCES = %D%/fuzz_metis.c $(fuzz_replay)
tests_fuzz_qaplib_SOURCES = %D%/fuzz_qaplib.c $(fuzz_replay)
fuzz_import_libs = libweft_import.la libweft_audit.la libweft_inventory.la \
	$(LDADD)
tests_fuzz_ibnetdiscover_SOURCES = %D%/fuzz_ibnetdiscover.c $(fuzz_replay)
tests_fuzz_ibnetdiscover_LDADD = $(fuzz_import_libs)
tests_fuzz_gpu_fabric_SOURCES = %D%/fuzz_gpu_fabric.c $(fuzz_replay)
tests_fuzz_gpu_fabric_LDADD = $(fuzz_import_libs)
tests_fuzz_nccl_xml_SOURCES = %D%/fuzz_nccl_xml.c $(fuzz_replay)
tests_fuzz_nccl_xml_LDADD = $(fuzz_import_libs)
tests_fuzz_nvidia_smi_SOURCES = %D%/fuzz_nvidia_smi.c $(fuzz_replay)
tests_fuzz_nvidia_smi_LDADD = $(fuzz_import_libs)
tests_fuzz_inventory_SOURCES = %D%/fuzz_inventory.c $(fuzz_replay)
tests_fuzz_inventory_LDADD = libweft_audit.la libweft_inventory.la $(LDADD)
tests_fuzz_pairwise_SOURCES = %D%/fuzz_pairwise.c $(fuzz_replay)
tests_fuzz_pairwise_LDADD = libweft_measured.la libweft_inventory.la $(LDADD)
noinst_HEADERS += %D%/fuzz.h %D%/import_any.h
tests_fuzz_roster_SOURCES = %D%/fuzz_roster.c $(fuzz_replay)
tests_fuzz_script_SOURCES = %D%/fuzz_script.c $(fuzz_replay)
tests_fuzz_script_LDADD = libweft_script.la $(LDADD)
tests_fuzz_spec_SOURCES = %D%/fuzz_spec.c $(fuzz_replay)
tests_fuzz_state_SOURCES = %D%/fuzz_state.c $(fuzz_replay)
tests_fuzz_steps_SOURCES = %D%/fuzz_steps.c $(fuzz_replay)
tests_fuzz_steps_LDADD = libweft_lab.la libweft_measured.la $(LDADD) \
	$(JANSSON_LIBS)
tests_fuzz_trace_SOURCES = %D%/fuzz_trace.c $(fuzz_replay)
tests_fuzz_trace_LDADD = $(trace_libs)

EXTRA_DIST += \
	%D%/corpus \
	%D%/fabric.dict \
	%D%/ibnetdiscover.dict \
	%D%/nccl_log.dict \
	%D%/roster.dict \
	%D%/script.dict \
	%D%/seeds \
	%D%/slurm_nodes.dict \
	%D%/slurm_topology.dict \
	%D%/slurm_yaml.dict \
	%D%/spec.dict \
	%D%/trace.dict \
	# End of EXTRA_DIST

FUZZ_CC = clang-14
FUZZ_CFLAGS = -g -O1 -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=all
FUZZ_SECONDS = 300
# libhwloc leaks on some files: its fuzzer runs in processes of its own, which
# end before that fills the memory.
# Readers of the laboratory.
fuzz_lab_sources = \
	lab/calibrate/calibrate.c \
	lab/calibrate/curve.c \
	lab/calibrate/steps.c \
	lab/calibrate/steps_inspector.c \
	lab/map/arch.c \
	lab/map/metis.c \
	lab/map/qaplib.c \
	lab/map/scan.c \
	lab/replay/job_trace.c \
	lab/replay/job_trace_csv.c \
	lab/replay/job_trace_sacct.c \
	lab/replay/time_text.c \
	lab/replay/stream.c \
	# End of fuzz_lab_sources

.PHONY: fuzz
fuzz:
	@set -e; \
	sources=; \
	for file in $(libweft_base_la_SOURCES) \
			$(libweft_topology_la_SOURCES) \
			$(libweft_text_la_SOURCES) \
			$(libweft_costmodel_la_SOURCES) \
			$(libweft_placement_la_SOURCES) \
			$(libweft_trace_la_SOURCES) \
			$(libweft_inventory_la_SOURCES) \
			$(libweft_import_la_SOURCES) \
			$(libweft_audit_la_SOURCES) \
			$(libweft_measured_la_SOURCES) \
			$(libweft_script_la_SOURCES) \
			$(fuzz_lab_sources); do \
		case $$file in *.c) sources="$$sources $(srcdir)/$$file";; esac; \
	done; \
	for name in $(fuzzers); do \
		folder=$(srcdir)/%D%; work=fuzz-$$name; seeds=; \
		$(MKDIR_P) $$work/found; \
		$(FUZZ_CC) -std=gnu11 $(FUZZ_CFLAGS) $(AM_CPPFLAGS) \
			$(YAML_CFLAGS) $$folder/fuzz_$$name.c $$sources \
			$(YAML_LIBS) $(JANSSON_LIBS) $(ZLIB_LIBS) \
			$(EXPAT_LIBS) $(HWLOC_LIBS) $(LIBS) -o $$work/fuzz; \
		for seed in tests/fuzz/corpus/$$name \
				$$(sed -n "s/^$$name //p" $$folder/seeds); do \
			test ! -d $(srcdir)/$$seed || \
				seeds="$$seeds $(srcdir)/$$seed"; \
		done; \
		dict=$$folder/$$name.dict; \
		test -e $$dict && dict="-dict=$$dict" || dict=; \
		echo "fuzz $$name: $(FUZZ_SECONDS) s"; \
		once=; test $$name != hwloc_xml || once=-fork=1; \
		$$work/fuzz $$dict $$once -max_total_time=$(FUZZ_SECONDS) \
			-max_len=4096 -timeout=10 -print_final_stats=1 \
			-artifact_prefix=$$work/ $$work/found \
			$$seeds >$$work/log 2>&1 || \
			{ tail -n 40 $$work/log; exit 1; }; \
		sed -n 's/^stat::number_of_executed_units: */  inputs tried: /p' \
			$$work/log; \
	done
