# shellcheck shell=bash
# shellcheck disable=SC2154 # differential sets folder
# SPDX-License-Identifier: GPL-3.0-or-later
# accounts.sh - QOS with limits: one slurmdbd for all twins.
#
# Each twin is a cluster of its own there.  Jobs are of user daemon, who may use
# every QOS.  Without slurmdbd Slurm counts no GPUs, and reserves none.

# NAME LIMITS of sacctmgr; draw.awk names them.
QOS=(
	"few MaxTRESPerJob=gres/gpu=4,node=3"
	"cores MaxTRESPerJob=cpu=8"
	"denied MaxTRESPerJob=gres/gpu=2 Flags=DenyOnLimit"
	"thin MaxTRESPerNode=gres/gpu=2"
	"group GrpTRES=gres/gpu=6,node=4"
	"user MaxTRESPerUser=cpu=16,gres/gpu=8"
	"large MinTRESPerJob=gres/gpu=2"
	"short MaxWall=10"
	"urgent Preempt=normal,few,thin"
)

accounts_dir=

# Without these no case has QOS.
accounts_possible() {
	local program
	for program in slurmdbd mariadbd my_print_defaults sacctmgr; do
		PATH=$PATH:/usr/sbin command -v $program >/dev/null || return 1
	done
}

accounts_begin() {
	local dir=$folder/accounts
	mkdir -p "$dir/state" "$dir/munge" && chmod 755 "$dir" "$dir/munge" ||
		return 1
	LAB_SALT=$((LAB_SALT + 250))
	accounts_port=$(LAB_KIND=cloud lab_free_ports) || return 1
	accounts_dir=$dir
	accounts_start >"$dir/log" 2>&1 && return
	lab_say "no slurmdbd: cases have no QOS; its log ends:"
	tail -n 5 "$dir/log" "$dir/slurmdbd.log" >&2
	accounts_end
	return 1
}

# The database is made here: where slurmdbd finds none, its connection loses its
# options with the first try, and the client library of MariaDB 11.8 then allows no
# columns in an answer.
accounts_start() {
	local dir=$accounts_dir qos i
	PATH=$PATH:/usr/sbin mariadb-install-db --no-defaults --datadir="$dir/data" --user=root \
		--skip-test-db || return 1
	echo 'CREATE DATABASE accounts;' >"$dir/create.sql"
	# No job of this shell, which waits for its workers.
	(/usr/sbin/mariadbd --no-defaults --datadir="$dir/data" --user=root \
		--socket="$dir/sql" --pid-file="$dir/sql.pid" \
		--skip-networking --skip-grant-tables \
		--init-file="$dir/create.sql" \
		--innodb-buffer-pool-size=64M \
		--innodb-flush-log-at-trx-commit=0 &)
	lab_until 30 test -S "$dir/sql" || return 1
	(umask 077 && head -c 1024 /dev/urandom >"$dir/munge/key")
	/usr/sbin/munged --force --socket="$dir/munge/socket" \
		--key-file="$dir/munge/key" --pid-file="$dir/munged.pid" \
		--seed-file="$dir/munge/seed" --log-file="$dir/munged.log" \
		--num-threads=2 || return 1
	(umask 077 && accounts_conf_dbd >"$dir/slurmdbd.conf")
	accounts_conf >"$dir/slurm.conf"
	SLURM_CONF=$dir/slurm.conf MYSQL_UNIX_PORT=$dir/sql \
		/usr/sbin/slurmdbd || return 1
	lab_until 30 manage show cluster || return 1
	accounts_know_gpus || return 1
	manage -i add account research || return 1
	for qos in "${QOS[@]}"; do
		# shellcheck disable=SC2086 # words
		manage -i add qos $qos || return 1
	done
	for ((i = 0; i < WORKERS; i++)); do
		accounts_add stock$i && accounts_add weft$i || return 1
	done
	accounts_add stockagain && accounts_add weftagain
}

accounts_conf_dbd() {
	cat <<-END
		AuthType=auth/munge
		AuthInfo=socket=$accounts_dir/munge/socket
		DbdHost=localhost
		DbdPort=$accounts_port
		SlurmUser=root
		LogFile=$accounts_dir/slurmdbd.log
		PidFile=$accounts_dir/slurmdbd.pid
		StorageType=accounting_storage/mysql
		StorageUser=root
		StorageLoc=accounts
	END
}

# What a slurmctld needs to find it.
accounts_conf_client() {
	cat <<-END
		AccountingStorageHost=localhost
		AccountingStoragePort=$accounts_port
		AccountingStoragePass=$accounts_dir/munge/socket
		AccountingStorageEnforce=limits,qos
		AccountingStorageTRES=gres/gpu
	END
}

accounts_conf() {
	cat <<-END
		ClusterName=accounts
		SlurmctldHost=localhost
		SlurmctldPort=$((accounts_port + 1))
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$accounts_dir/munge/socket
		StateSaveLocation=$accounts_dir/state
		SlurmctldPidFile=$accounts_dir/slurmctld.pid
		SlurmctldLogFile=$accounts_dir/slurmctld.log
		SelectType=select/cons_tres
		ProctrackType=proctrack/linuxproc
		AccountingStorageType=accounting_storage/slurmdbd
		GresTypes=gpu
		NodeName=none NodeAddr=127.0.0.1 Port=9 Gres=gpu:1 State=CLOUD
		PartitionName=main Nodes=none
		SuspendProgram=/bin/true
		ResumeProgram=/bin/true
	END
	accounts_conf_client
}

manage() {
	SLURM_CONF=$accounts_dir/slurm.conf sacctmgr "$@" >/dev/null
}

# slurmdbd learns of a resource from the first slurmctld that counts it.
accounts_know_gpus() {
	/usr/sbin/slurmctld -f "$accounts_dir/slurm.conf"
	lab_until 30 accounts_has_gpus
	kill "$(cat "$accounts_dir/slurmctld.pid")"
	accounts_has_gpus
}

accounts_has_gpus() {
	SLURM_CONF=$accounts_dir/slurm.conf sacctmgr -n -P show tres type=gres |
		grep -q gpu
}

# accounts_add CLUSTER: and the user there.
accounts_add() {
	local names
	names=$(printf '%s\n' "${QOS[@]}" | cut -d ' ' -f 1 | paste -sd ,)
	manage -i add cluster "$1" &&
		manage -i add account research cluster="$1" &&
		manage -i add user daemon account=research cluster="$1" \
			qos="normal,$names" defaultqos=normal
}

accounts_end() {
	local name
	[ -n "$accounts_dir" ] || return 0
	for name in slurmdbd sql munged; do
		[ ! -e "$accounts_dir/$name.pid" ] ||
			lab_end "$(cat "$accounts_dir/$name.pid")" 20
	done
	accounts_dir=
}
