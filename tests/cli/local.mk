# SPDX-License-Identifier: GPL-3.0-or-later
unit_tests += \
	%D%/arch \
	%D%/room \
	%D%/job_trace \
	%D%/metis \
	%D%/time_text \
	%D%/qaplib \
	%D%/ranks \
	%D%/report \
	%D%/promises \
	%D%/slurm_job \
	%D%/slurm_state \
	# End of unit_tests
# With what weft itself is linked with.
cli_libs = libweft_test.la $(weft_LDADD) $(LDADD)
tests_cli_ranks_LDADD = $(cli_libs)
tests_cli_report_LDADD = $(cli_libs)
# Lets the n-th allocation of the report fail.
tests_cli_report_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc
tests_cli_room_LDADD = $(cli_libs)
tests_cli_promises_LDADD = $(cli_libs)
tests_cli_slurm_job_LDADD = $(cli_libs)
tests_cli_slurm_state_LDADD = $(cli_libs)

script_tests += \
	%D%/advise.sh \
	%D%/audit.sh \
	%D%/calibrate.sh \
	%D%/defrag.sh \
	%D%/draw.sh \
	%D%/example.sh \
	%D%/fabric.sh \
	%D%/gain.sh \
	%D%/html.sh \
	%D%/map.sh \
	%D%/mistakes.sh \
	%D%/model.sh \
	%D%/model_memory.sh \
	%D%/model_nccl.sh \
	%D%/model_overlap.sh \
	%D%/model_straggler.sh \
	%D%/model_traffic.sh \
	%D%/plan.sh \
	%D%/ranks.sh \
	%D%/replay.sh \
	%D%/schema.sh \
	%D%/score.sh \
	%D%/setup.sh \
	%D%/setup_collect.sh \
	%D%/spec.sh \
	%D%/status.sh \
	%D%/step.sh \
	%D%/export.sh \
	%D%/import.sh \
	%D%/synth.sh \
	%D%/usage.sh \
	%D%/why.sh \
	# End of script_tests
# A browser is much to ask for: by hand, and in contrib/check.
check-pages: all
	WEFT_SRCDIR='$(abs_top_srcdir)' WEFT_BUILDDIR='$(abs_top_builddir)' \
		'$(srcdir)/%D%/pages.sh'

EXTRA_DIST += \
	%D%/lib.sh \
	%D%/mistakes.tsv \
	%D%/pages.sh \
	%D%/schema.py \
	%D%/simgrid/calls.csv \
	%D%/simgrid/fabric.yaml \
	%D%/simgrid/platform.xml \
	%D%/slurm/fabric.yaml \
	%D%/spec/accelerate.yaml \
	%D%/spec/actor.sh \
	%D%/spec/branches.sh \
	%D%/spec/deepspeed.sh \
	%D%/spec/megatron.sbatch \
	%D%/spec/nanotron.yaml \
	%D%/spec/nemo.yaml \
	%D%/spec/titan.toml \
	%D%/spec/train.sh \
	%D%/spec/two.yaml \
	%D%/spec/unknown.sbatch \
	%D%/slurm/jobs \
	%D%/slurm/nodes \
	%D%/slurm/sacct \
	%D%/slurm/sacct.txt \
	%D%/slurm/scontrol \
	%D%/slurm/status.json \
	%D%/slurm/topology \
	%D%/slurm/weft-records \
	%D%/slurm/weft-records.1 \
	%D%/slurm/weft.yaml \
	# End of EXTRA_DIST
