#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# weft setup where the network and the cloud are stand-ins: programs in PATH that
# print captures, refuse, or do not return; and a /sys that says where it runs.
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

import=${WEFT_SRCDIR:-.}/tests/import
import=$(cd "$import" && pwd)
bin=$work/bin WEFT_SYSFS=$work/sys
mkdir -p "$bin" "$WEFT_SYSFS/class/dmi/id" "$work/into"
# The tools of this machine, but none that setup asks.
mkdir "$work/tools"
ln -s /usr/bin/* "$work/tools"
(cd "$work/tools" && rm -f ibnetdiscover iblinkinfo scontrol sacct aws gcloud \
	az oci curl kubectl nvidia-smi rocm-smi timeout)
PATH=$bin:$work/tools
SLURM_CONF=$work/none.conf
export PATH WEFT_SYSFS SLURM_CONF
unset KUBERNETES_SERVICE_HOST

# stand_in NAME: a program of that name; its body is standard input, and what it
# was asked goes to $work/asked.
stand_in() {
	{
		echo "#!/bin/sh"
		echo "echo \"$1 \$*\" >>'$work/asked'"
		cat
	} >"$bin/$1"
	chmod +x "$bin/$1"
}
# adapter NAME LAYER: one of the host, InfiniBand or Ethernet.
adapter() {
	mkdir -p "$WEFT_SYSFS/class/infiniband/$1/ports/1"
	echo "$2" >"$WEFT_SYSFS/class/infiniband/$1/ports/1/link_layer"
}
vendor() { echo "$1" >"$WEFT_SYSFS/class/dmi/id/sys_vendor"; }
tag() { echo "$1" >"$WEFT_SYSFS/class/dmi/id/chassis_asset_tag"; }
collect() {
	: >"$work/asked"
	run setup --into "$work/into" --dry-run --days 0 --json "$@"
}
asked() { grep -qxF -- "$1" "$work/asked"; }
nothing_asked() { [ ! -s "$work/asked" ]; }

# Waiting two minutes is no test: the stand-in waits one second.
stand_in timeout <<EOF
shift
exec /usr/bin/timeout 1 "\$@"
EOF

# ---- InfiniBand ----

collect
check "without Slurm, network and cloud there is nothing to read" exits 1
check "nothing is asked where nothing is" nothing_asked
adapter mlx5_0 Ethernet
collect
check "an adapter of Ethernet is no InfiniBand" nothing_asked
adapter mlx5_1 InfiniBand
collect --from csv "$import/csv/nodes-leafs-spines.csv"
check "a program that is not there is named" says infiniband \
	"no ibnetdiscover in PATH"

stand_in ibnetdiscover <<EOF
cat "$import/ibnetdiscover/fattree-2x3.txt"
EOF
collect
check "ibnetdiscover answers" one infiniband true
check "by the command that is shown" asked "timeout 120 ibnetdiscover"
check "its network is the fabric" says fabric "nodes"
check "a command that ran is on record" json \
	'[.commands[] | select(.ran) | .command] |
	 any(. == "timeout 120 ibnetdiscover")'
collect --from ibnetdiscover "$import/ibnetdiscover/fattree-2x3.txt"
check "what is given is not asked for" nothing_asked

csv=$import/csv/nodes-leafs-spines.csv
stand_in ibnetdiscover <<EOF
echo "ibwarn: [7] mad_rpc_open_port: can't open UMAD port ((null):0)" >&2
echo "ibnetdiscover: iberror: failed: discover failed" >&2
exit 255
EOF
collect --from csv "$csv"
check "a port that may not be opened is no answer" one infiniband false
check "which says what to try" says infiniband "(as root?)"
check "what else there is still makes the fabric" one fabric true

stand_in ibnetdiscover <<EOF
exec sleep 60
EOF
collect --from csv "$csv"
check "a program that does not return is given up" one infiniband false
check "and the rest goes on" one fabric true

stand_in ibnetdiscover <<EOF
echo "# Topology file: generated on today"
EOF
collect --from csv "$csv"
check "an answer without a link is no answer" one infiniband false
check "whose fault is said" says infiniband "cannot be used"
check "and stops nothing" one fabric true
stand_in iblinkinfo <<EOF
cat "$import/ibnetdiscover/iblinkinfo-l.txt"
EOF
collect
check "iblinkinfo is asked where ibnetdiscover has no answer" one infiniband true
check "by a real command" asked "timeout 120 iblinkinfo -l"
check "and its network is the fabric" one fabric true
rm "$bin/ibnetdiscover"
collect
check "or where it is not installed" one infiniband true
stand_in iblinkinfo <<EOF
exit 1
EOF
collect --from csv "$csv"
check "when it is silent, too, there is no answer" one infiniband false
rm "$bin/iblinkinfo"
rm -r "$WEFT_SYSFS/class/infiniband"

# ---- clouds ----

vendor "Amazon EC2"
stand_in aws <<EOF
cat "$import/aws/gpu-and-cpu-instances.json"
EOF
collect
check "in Amazon's cloud its service is asked" one aws true
check "by a real command" asked \
	"aws ec2 describe-instance-topology --output json"
stand_in aws <<EOF
echo "An error occurred (UnauthorizedOperation) when calling" >&2
exit 254
EOF
collect --from csv "$csv"
check "who has no right gets no answer" one aws false
check "and the rest goes on" one fabric true

vendor "Google"
stand_in gcloud <<EOF
cat "$import/gcp/a3-mega.json"
EOF
collect
check "in Google's cloud its service is asked" one gcp true
check "by a real command" asked "gcloud compute instances list --format=json"
stand_in gcloud <<EOF
echo '[{"name": "half'
EOF
collect --from csv "$csv"
check "half an answer is none" one gcp false
check "and stops nothing" one fabric true

vendor "Microsoft Corporation"
stand_in az <<EOF
cat "$import/azure/scale-set.json"
EOF
collect --from csv "$csv"
check "Hyper-V of one's own is not Azure" nothing_asked
tag "7783-7084-3265-9085-8269-3286-77"
collect
check "in Azure its service is asked" one azure true
check "by a real command" asked "az vm list --output json"

vendor "QEMU"
tag "OracleCloud.com"
stand_in oci <<EOF
cat "$import/oci/compute-hosts.json"
EOF
stand_in curl <<EOF
echo ocid1.compartment..c
EOF
collect
check "in Oracle's cloud its service is asked" one oci true
check "for the compartment of this instance" asked "oci compute compute-host \
list --all --compartment-id ocid1.compartment..c"
tag "none"

stand_in kubectl <<EOF
cat "$import/kubernetes/nvidia-labels.json"
EOF
collect
check "on a plain machine no cloud is asked" nothing_asked
KUBERNETES_SERVICE_HOST=10.0.0.1
export KUBERNETES_SERVICE_HOST
collect
check "in a pod Kubernetes is asked" one kubernetes true
check "by a real command" asked "kubectl get nodes -o json"
unset KUBERNETES_SERVICE_HOST

finish
