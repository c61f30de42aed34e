# SPDX-License-Identifier: GPL-3.0-or-later
# All but the list of commands, for weft and weft-lab.
noinst_LTLIBRARIES += libweft_cli.la
libweft_cli_la_SOURCES = \
	%D%/audit/audit.h \
	%D%/audit/audit_json.c \
	%D%/audit/audit_text.c \
	%D%/audit/cmd_audit.c \
	%D%/clock.h \
	%D%/cmd.c \
	%D%/cmd.h \
	%D%/command.c \
	%D%/command.h \
	%D%/draw/cmd_draw.c \
	%D%/draw/drawing.c \
	%D%/draw/drawing.h \
	%D%/draw/drawing_facts.c \
	%D%/draw/drawing_groups.c \
	%D%/draw/drawing_parts.h \
	%D%/draw/drawing_traffic.c \
	%D%/fabric/cmd_export.c \
	%D%/fabric/cmd_fabric.c \
	%D%/fabric/cmd_import.c \
	%D%/fabric/cmd_synth.c \
	%D%/fabric/fabric_cables.c \
	%D%/fabric/fabric_cables.h \
	%D%/fabric/findings.c \
	%D%/fabric/findings.h \
	%D%/fabric/job_calls.c \
	%D%/fabric/job_calls.h \
	%D%/fabric/sources.c \
	%D%/fabric/sources.h \
	%D%/option.c \
	%D%/option.h \
	%D%/plan/axes.c \
	%D%/plan/axes.h \
	%D%/plan/cmd_defrag.c \
	%D%/plan/cmd_plan.c \
	%D%/plan/cmd_ranks.c \
	%D%/plan/cmd_score.c \
	%D%/plan/fit.c \
	%D%/plan/fit.h \
	%D%/plan/gain.c \
	%D%/plan/gain.h \
	%D%/plan/outlook_report.c \
	%D%/plan/outlook_report.h \
	%D%/plan/rank_forms.c \
	%D%/plan/rank_forms.h \
	%D%/plan/ranks.c \
	%D%/plan/ranks.h \
	%D%/plan/request.c \
	%D%/plan/request.h \
	%D%/plan/verdict.c \
	%D%/plan/verdict.h \
	%D%/report.c \
	%D%/report.h \
	%D%/slurm/capacity.c \
	%D%/slurm/capacity.h \
	%D%/slurm/cmd_status.c \
	%D%/slurm/cmd_why.c \
	%D%/slurm/prometheus.c \
	%D%/slurm/prometheus.h \
	%D%/slurm/promises.c \
	%D%/slurm/promises.h \
	%D%/slurm/saved.c \
	%D%/slurm/saved.h \
	%D%/slurm/saved_report.c \
	%D%/slurm/site.c \
	%D%/slurm/site.h \
	%D%/slurm/slurm_config.c \
	%D%/slurm/slurm_config.h \
	%D%/slurm/slurm_fields.c \
	%D%/slurm/slurm_fields.h \
	%D%/slurm/slurm_job.c \
	%D%/slurm/slurm_job.h \
	%D%/slurm/slurm_jobs.c \
	%D%/slurm/slurm_jobs.h \
	%D%/slurm/slurm_live.c \
	%D%/slurm/slurm_live.h \
	%D%/slurm/slurm_state.c \
	%D%/slurm/slurm_state.h \
	%D%/slurm/snapshot.c \
	%D%/slurm/snapshot.h \
	%D%/slurm/status.h \
	%D%/slurm/status_report.c \
	%D%/slurm/verify.c \
	%D%/slurm/verify.h \
	%D%/whole_file.c \
	%D%/whole_file.h \
	# End of libweft_cli_la_SOURCES

bin_PROGRAMS += weft
weft_SOURCES = %D%/weft.c
weft_LDADD = \
	libweft_cli.la \
	libweft_audit.la \
	libweft_export.la \
	libweft_measured.la \
	libweft_import.la \
	libweft_survey.la \
	libweft_draw.la \
	libweft_exact.la \
	libweft_text.la \
	libweft_placement.la \
	$(JANSSON_LIBS) \
	$(ZLIB_LIBS) \
	# End of weft_LDADD
