# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_import.la
libweft_import_la_SOURCES = \
	%D%/chain.c \
	%D%/chain.h \
	%D%/import.c \
	%D%/import.h \
	%D%/import_aws.c \
	%D%/import_clouds.c \
	%D%/import_csv.c \
	%D%/import_gpu_fabric.c \
	%D%/import_kubernetes.c \
	%D%/import_lldp.c \
	%D%/import_topograph.c \
	%D%/infiniband/ibnet.h \
	%D%/infiniband/ibnet_cables.c \
	%D%/infiniband/ibnet_links.c \
	%D%/infiniband/ibnet_map.c \
	%D%/infiniband/ibnet_names.c \
	%D%/infiniband/ibnet_ports.c \
	%D%/infiniband/ibnet_read.c \
	%D%/infiniband/ibnet_words.c \
	%D%/infiniband/ibnet_words.h \
	%D%/infiniband/import_ibnetdiscover.c \
	%D%/infiniband/import_ufm.c \
	%D%/json_source.c \
	%D%/json_source.h \
	%D%/links.c \
	%D%/links.h \
	%D%/names.c \
	%D%/names.h \
	%D%/node/import_nccl_xml.c \
	%D%/node/import_nvidia_smi.c \
	%D%/node/import_rdma_topo.c \
	%D%/node/import_rocm_smi.c \
	%D%/node/inside.c \
	%D%/node/inside.h \
	%D%/node/inside_gpu.c \
	%D%/node/nccl_system.c \
	%D%/node/nccl_system.h \
	%D%/slurm/import_slurm_nodes.c \
	%D%/slurm/import_slurm_topology.c \
	%D%/slurm/import_slurm_yaml.c \
	%D%/slurm/slurm_conf.c \
	%D%/slurm/slurm_conf.h \
	%D%/slurm/slurm_topology.c \
	%D%/slurm/slurm_topology.h \
	%D%/slurm/slurm_torus.c \
	# End of libweft_import_la_SOURCES
if HAVE_HWLOC
libweft_import_la_SOURCES += %D%/node/import_hwloc_xml.c
else
libweft_import_la_SOURCES += %D%/node/import_hwloc_none.c
endif
libweft_import_la_LIBADD = $(EXPAT_LIBS) $(HWLOC_LIBS) $(JANSSON_LIBS)
