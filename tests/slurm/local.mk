# SPDX-License-Identifier: GPL-3.0-or-later
# The live suite needs root and an installed Slurm, so it is no part of check.
.PHONY: check-slurm
check-slurm: all
	WEFT_BUILDDIR='$(abs_top_builddir)' '$(srcdir)/%D%/run'
	WEFT_BUILDDIR='$(abs_top_builddir)' '$(srcdir)/%D%/run' --kinds

# The plugins against headers of other releases; needs no Slurm installed.
# make check-releases SLURM_TREES="DIR..."
.PHONY: check-releases
check-releases: libweft_bridge.la libweft_costmodel.la libweft_script.la
	WEFT_SRCDIR='$(abs_top_srcdir)' RELEASE_CC='$(CC)' \
	RELEASE_CFLAGS='$(DEFS) $(DEFAULT_INCLUDES) $(weft_slurm_cppflags) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS)' \
	RELEASE_LDFLAGS='$(AM_LDFLAGS) $(LDFLAGS)' \
	'$(srcdir)/%D%/releases' \
		--plugin select_cons_tres_weft '$(weft_select_sources)' \
			libweft_bridge.la $(weft_select_exports) \
		--plugin weft_spank '$(weft_spank_sources)' \
			libweft_costmodel.la $(weft_spank_exports) \
		--plugin job_submit_weft '$(weft_submit_sources)' \
			'libweft_script.la libweft_bridge.la' \
			$(weft_submit_exports) \
		$(SLURM_TREES)

# Hours of trouble in minutes; SOAK_FLAGS as "tests/slurm/soak --help" has them.
.PHONY: soak
soak: all
	WEFT_BUILDDIR='$(abs_top_builddir)' '$(srcdir)/%D%/soak' $(SOAK_FLAGS)

# Jobs tried on stock and on weft, in one state; STOCK_FLAGS as
# "tests/slurm/differential --help" has them.
.PHONY: soak-stock
soak-stock: all
	WEFT_BUILDDIR='$(abs_top_builddir)' '$(srcdir)/%D%/differential' $(STOCK_FLAGS)

# SchedMD's own tests, with weft as without; half an hour.
.PHONY: check-schedmd
check-schedmd: all
	WEFT_BUILDDIR='$(abs_top_builddir)' '$(srcdir)/%D%/schedmd' $(SCHEDMD_FLAGS)

EXTRA_DIST += \
	%D%/case.sh \
	%D%/cases/10-placement.sh \
	%D%/cases/20-request.sh \
	%D%/cases/30-sharing.sh \
	%D%/cases/35-occupancy.sh \
	%D%/cases/40-scheduling.sh \
	%D%/cases/50-daemon.sh \
	%D%/cases/55-hung.sh \
	%D%/cases/56-replaced.sh \
	%D%/cases/60-spec.sh \
	%D%/cases/65-observe.sh \
	%D%/cases/66-setup.sh \
	%D%/cases/70-show.sh \
	%D%/cases/72-topology.sh \
	%D%/cases/75-people.sh \
	%D%/cases/80-limits.sh \
	%D%/cases/80-ranks.sh \
	%D%/cases/85-wait.sh \
	%D%/cases/90-again.sh \
	%D%/cases/95-jobs.sh \
	%D%/kinds.d/10-kinds.sh \
	%D%/kinds.d/lab.sh \
	%D%/differential \
	%D%/differential.d/accounts.sh \
	%D%/differential.d/cases/counts \
	%D%/differential.d/cases/defaults \
	%D%/differential.d/cases/drained \
	%D%/differential.d/cases/features \
	%D%/differential.d/cases/features-cpus \
	%D%/differential.d/cases/held \
	%D%/differential.d/cases/heterogeneous \
	%D%/differential.d/cases/heterogeneous-near \
	%D%/differential.d/cases/last-segment \
	%D%/differential.d/cases/parted \
	%D%/differential.d/cases/partitions \
	%D%/differential.d/cases/preferred \
	%D%/differential.d/cases/preferred-twice \
	%D%/differential.d/cases/qos-node \
	%D%/differential.d/cases/qos-user \
	%D%/differential.d/cases/range \
	%D%/differential.d/cases/range-cpus \
	%D%/differential.d/cases/row-within \
	%D%/differential.d/cases/segments \
	%D%/differential.d/cases/shared \
	%D%/differential.d/cases/sharing \
	%D%/differential.d/cases/sharing-sockets \
	%D%/differential.d/cases/sockets-few \
	%D%/differential.d/cases/split-row \
	%D%/differential.d/cases/split-tasks \
	%D%/differential.d/cases/split-types \
	%D%/differential.d/cases/spread \
	%D%/differential.d/cases/tasks-by-gpu \
	%D%/differential.d/cases/victims \
	%D%/differential.d/cases/weights \
	%D%/differential.d/cases/within-parts \
	%D%/differential.d/changes.sh \
	%D%/differential.d/compare.sh \
	%D%/differential.d/confirm.sh \
	%D%/differential.d/draw.awk \
	%D%/differential.d/limits.sh \
	%D%/differential.d/twins.sh \
	%D%/elsewhere \
	%D%/leak \
	%D%/memcheck \
	%D%/metrics \
	%D%/metrics.d/alerts.yaml \
	%D%/releases \
	%D%/run \
	%D%/schedmd \
	%D%/schedmd.list \
	%D%/soak \
	%D%/soak.d/actions.awk \
	%D%/soak.d/acts.sh \
	%D%/soak.d/checks.awk \
	%D%/soak.d/lost.awk \
	# End of EXTRA_DIST
