# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_import.la
libweft_import_la_SOURCES = \
	%D%/chain.c \
	%D%/chain.h \
	%D%/ibnet.h \
	%D%/ibnet_cables.c \
	%D%/ibnet_links.c \
	%D%/ibnet_map.c \
	%D%/ibnet_names.c \
	%D%/ibnet_ports.c \
	%D%/ibnet_read.c \
	%D%/ibnet_words.c \
	%D%/ibnet_words.h \
	%D%/import.c \
	%D%/import.h \
	%D%/import_aws.c \
	%D%/import_clouds.c \
	%D%/import_csv.c \
	%D%/import_gpu_fabric.c \
	%D%/import_ibnetdiscover.c \
	%D%/import_kubernetes.c \
	%D%/import_lldp.c \
	%D%/import_nccl_xml.c \
	%D%/import_nvidia_smi.c \
	%D%/import_rocm_smi.c \
	%D%/import_slurm_nodes.c \
	%D%/import_slurm_topology.c \
	%D%/import_slurm_yaml.c \
	%D%/import_topograph.c \
	%D%/inside.c \
	%D%/inside.h \
	%D%/inside_gpu.c \
	%D%/json_source.c \
	%D%/json_source.h \
	%D%/lines.c \
	%D%/lines.h \
	%D%/names.c \
	%D%/names.h \
	%D%/nccl_system.c \
	%D%/nccl_system.h \
	%D%/netq.c \
	%D%/netq.h \
	%D%/slurm_conf.c \
	%D%/slurm_conf.h \
	%D%/slurm_topology.c \
	%D%/slurm_topology.h \
	%D%/slurm_torus.c \
	%D%/slurm_torus.h \
	# End of libweft_import_la_SOURCES
if HAVE_HWLOC
libweft_import_la_SOURCES += %D%/import_hwloc_xml.c
else
libweft_import_la_SOURCES += %D%/import_hwloc_none.c
endif
libweft_import_la_LIBADD = $(EXPAT_LIBS) $(HWLOC_LIBS) $(JANSSON_LIBS)
