# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# lab.sh - the cluster of these cases: GPUs of all kinds that gres.conf knows.
#
#	n0, n1  4 of one type, 4 of another
#	n2      8, which can be had in 32 shards
#	n3      56 slices (MIG) of 8
#	n4, n5  8 plain ones
# shellcheck disable=SC2034 # for contrib/lab.sh
LAB_NODES=6 LAB_NODES_PER_LEAF=3 LAB_LEAFS_PER_POD=2
LAB_GRES_TYPES=gpu,shard

lab_node_gres() {
	case $1 in
	0 | 1) echo gpu:a100:4,gpu:h100:4 ;;
	2) echo gpu:8,shard:32 ;;
	3) echo gpu:1g.10gb:56 ;;
	*) echo gpu:8 ;;
	esac
}

lab_write_fabric_nodes() {
	echo "  n[0-2,4-5]: 8"
	echo "  n3: 56"
}

lab_write_gres() {
	local i
	for ((i = 0; i < 56; i++)); do
		mknod "$LAB_DIR/dev/mig$i" c 1 3 2>/dev/null ||
			: >"$LAB_DIR/dev/mig$i"
	done
	cat <<-END
		NodeName=n[0-1] Name=gpu Type=a100 File=$LAB_DIR/dev/gpu[0-3]
		NodeName=n[0-1] Name=gpu Type=h100 File=$LAB_DIR/dev/gpu[4-7]
		NodeName=n2 Name=gpu File=$LAB_DIR/dev/gpu[0-7]
		NodeName=n2 Name=shard Count=32
		NodeName=n3 Name=gpu Type=1g.10gb File=$LAB_DIR/dev/mig[0-55]
		NodeName=n[4-5] Name=gpu File=$LAB_DIR/dev/gpu[0-7]
	END
}
