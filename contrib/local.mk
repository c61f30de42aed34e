# SPDX-License-Identifier: GPL-3.0-or-later
dist_bashcompletion_DATA = %D%/completion/weft

# Prometheus: units that write the metrics, alert rules, a board for Grafana.
systemdunitdir = $(prefix)/lib/systemd/system
dist_systemdunit_DATA = \
	%D%/prometheus/weft-metrics.service \
	%D%/prometheus/weft-metrics.timer \
	# End of dist_systemdunit_DATA
dist_pkgdata_DATA = \
	%D%/prometheus/weft-alerts.yaml \
	%D%/prometheus/weft-dashboard.json \
	# End of dist_pkgdata_DATA

# debian/ is in the repository for packages of a checkout, and not in the
# tarball: whoever packages a release brings the packaging.
EXTRA_DIST += \
	%D%/ansible/README.md \
	%D%/ansible/roles/slurm_weft/defaults/main.yaml \
	%D%/ansible/roles/slurm_weft/handlers/main.yaml \
	%D%/ansible/roles/slurm_weft/meta/main.yaml \
	%D%/ansible/roles/slurm_weft/tasks/absent.yaml \
	%D%/ansible/roles/slurm_weft/tasks/main.yaml \
	%D%/ansible/roles/slurm_weft/tasks/plugins.yaml \
	%D%/ansible/roles/slurm_weft/tasks/present.yaml \
	%D%/ansible/slurm-weft.yaml \
	%D%/check \
	%D%/demo \
	%D%/images/README.md \
	%D%/images/slurm-weft.Containerfile \
	%D%/lab.sh \
	%D%/packages \
	%D%/plugstack.conf.example \
	%D%/prepare.sh \
	%D%/python/README.md \
	%D%/python/examples/layouts.py \
	%D%/python/examples/placements.py \
	%D%/python/examples/plan.py \
	%D%/python/examples/policies.py \
	%D%/python/weft/__init__.py \
	%D%/python/weft/_abi.py \
	%D%/python/weft/fabric.py \
	%D%/python/weft/job.py \
	%D%/python/weft/placement.py \
	%D%/python/weft/replay.py \
	%D%/rpm/slurm-weft.spec \
	%D%/slurm-source \
	%D%/weft.yaml.example \
	.clang-format \
	LICENSE \
	README.md \
	# End of EXTRA_DIST
