# SPDX-License-Identifier: GPL-3.0-or-later
unit_tests += \
	%D%/arch \
	%D%/capacity \
	%D%/job_trace \
	%D%/metis \
	%D%/moment \
	%D%/qaplib \
	%D%/ranks \
	%D%/report \
	%D%/promises \
	%D%/slurm_job \
	%D%/slurm_state \
	# End of unit_tests
scan_sources = base/scan.c base/scan.h
tests_cli_arch_SOURCES = %D%/arch.c cli/arch.c cli/arch.h $(scan_sources)
tests_cli_job_trace_SOURCES = %D%/job_trace.c $(job_trace_sources)
tests_cli_job_trace_LDADD = $(LDADD) $(ZLIB_LIBS)
tests_cli_metis_SOURCES = %D%/metis.c cli/metis.c cli/metis.h $(scan_sources)
tests_cli_qaplib_SOURCES = \
	%D%/qaplib.c cli/qaplib.c cli/qaplib.h $(scan_sources)
tests_cli_moment_SOURCES = %D%/moment.c cli/moment.c cli/moment.h
tests_cli_ranks_SOURCES = %D%/ranks.c cli/ranks.c cli/ranks.h
tests_cli_ranks_LDADD = $(LDADD) $(JANSSON_LIBS)
tests_cli_report_SOURCES = \
	%D%/report.c cli/fit.c cli/fit.h cli/gain.c cli/gain.h \
	cli/report.c cli/report.h \
	cli/outlook_report.c cli/outlook_report.h \
	cli/verdict.c cli/verdict.h
tests_cli_report_LDADD = $(LDADD) $(JANSSON_LIBS)
# Lets the n-th allocation of the report fail.
tests_cli_report_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc
tests_cli_capacity_SOURCES = %D%/capacity.c cli/capacity.c cli/capacity.h
tests_cli_promises_SOURCES = \
	%D%/promises.c cli/promises.c cli/promises.h \
	cli/slurm_fields.c cli/slurm_fields.h \
	cli/slurm_job.c cli/slurm_job.h \
	cli/snapshot.c cli/snapshot.h
tests_cli_promises_LDADD = $(LDADD) $(JANSSON_LIBS)
tests_cli_slurm_job_SOURCES = \
	%D%/slurm_job.c cli/slurm_job.c cli/slurm_job.h \
	cli/slurm_fields.c cli/slurm_fields.h
tests_cli_slurm_state_SOURCES = \
	%D%/slurm_state.c cli/slurm_state.c cli/slurm_state.h \
	cli/slurm_fields.c cli/slurm_fields.h \
	cli/slurm_job.c cli/slurm_job.h \
	cli/slurm_jobs.c cli/slurm_jobs.h

script_tests += \
	%D%/audit.sh \
	%D%/calibrate.sh \
	%D%/defrag.sh \
	%D%/draw.sh \
	%D%/fabric.sh \
	%D%/gain.sh \
	%D%/map.sh \
	%D%/model.sh \
	%D%/model_memory.sh \
	%D%/model_nccl.sh \
	%D%/model_overlap.sh \
	%D%/model_straggler.sh \
	%D%/model_traffic.sh \
	%D%/plan.sh \
	%D%/ranks.sh \
	%D%/replay.sh \
	%D%/score.sh \
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
	%D%/pages.sh \
	%D%/simgrid/calls.csv \
	%D%/simgrid/fabric.yaml \
	%D%/simgrid/platform.xml \
	%D%/slurm/fabric.yaml \
	%D%/slurm/jobs \
	%D%/slurm/nodes \
	%D%/slurm/scontrol \
	%D%/slurm/status.json \
	%D%/slurm/weft-records \
	%D%/slurm/weft-records.1 \
	%D%/slurm/weft.yaml \
	# End of EXTRA_DIST
