# SPDX-License-Identifier: GPL-3.0-or-later
# The side that knows no Slurm is always built, for its tests.
noinst_LTLIBRARIES += libweft_bridge.la
libweft_bridge_la_SOURCES = \
	%D%/bridge/answers.c \
	%D%/bridge/answers.h \
	%D%/bridge/bridge.c \
	%D%/bridge/bridge.h \
	%D%/bridge/by_feature.c \
	%D%/bridge/by_feature.h \
	%D%/bridge/decision.c \
	%D%/bridge/decision.h \
	%D%/bridge/defaults.c \
	%D%/bridge/defaults.h \
	%D%/bridge/files/seqlock.c \
	%D%/bridge/files/seqlock.h \
	%D%/bridge/files/invariants.c \
	%D%/bridge/files/invariants.h \
	%D%/bridge/files/status_writer.c \
	%D%/bridge/files/status_writer.h \
	%D%/bridge/files/config_cache.c \
	%D%/bridge/files/config_cache.h \
	%D%/bridge/files/reading.c \
	%D%/bridge/files/reading.h \
	%D%/bridge/files/records.c \
	%D%/bridge/files/records.h \
	%D%/bridge/files/settings.c \
	%D%/bridge/files/settings.h \
	%D%/bridge/files/status.c \
	%D%/bridge/files/status.h \
	%D%/bridge/files/snapshot.c \
	%D%/bridge/files/snapshot.h \
	%D%/bridge/files/worker.c \
	%D%/bridge/files/worker.h \
	%D%/bridge/running/forecast.c \
	%D%/bridge/running/forecast.h \
	%D%/bridge/gain.c \
	%D%/bridge/gain.h \
	%D%/bridge/constraints.c \
	%D%/bridge/constraints.h \
	%D%/bridge/running/holdings.c \
	%D%/bridge/running/holdings.h \
	%D%/bridge/launch/launch.c \
	%D%/bridge/launch/launch.h \
	%D%/bridge/launch/ranks.c \
	%D%/bridge/launch/ranks.h \
	%D%/bridge/launch/release.c \
	%D%/bridge/launch/release.h \
	%D%/bridge/launch/spec_text.c \
	%D%/bridge/launch/spec_text.h \
	%D%/bridge/launch/submission.c \
	%D%/bridge/launch/submission.h \
	%D%/bridge/running/link_load.c \
	%D%/bridge/running/link_load.h \
	%D%/bridge/running/loads_worker.c \
	%D%/bridge/running/loads_worker.h \
	%D%/bridge/running/previous_nodes.c \
	%D%/bridge/running/previous_nodes.h \
	%D%/bridge/pending.c \
	%D%/bridge/pending.h \
	%D%/bridge/request.c \
	%D%/bridge/request.h \
	%D%/bridge/rules.c \
	%D%/bridge/rules.h \
	%D%/bridge/turns.c \
	%D%/bridge/turns.h \
	%D%/bridge/watchdog.c \
	%D%/bridge/watchdog.h \
	# End of libweft_bridge_la_SOURCES
libweft_bridge_la_LIBADD = libweft_placement.la

# What is compiled against Slurm's headers, here and by check-releases.
weft_select_sources = \
	%D%/limits/again.c \
	%D%/limits/again.h \
	%D%/job_record.c \
	%D%/job_record.h \
	%D%/jobs_load.c \
	%D%/jobs_load.h \
	%D%/components.c \
	%D%/components.h \
	%D%/engine.c \
	%D%/engine.h \
	%D%/limits/ever.c \
	%D%/limits/ever.h \
	%D%/limits/release_times.c \
	%D%/limits/release_times.h \
	%D%/limits/hold.c \
	%D%/limits/hold.h \
	%D%/narrow.c \
	%D%/narrow.h \
	%D%/affinity.c \
	%D%/affinity.h \
	%D%/limits/parts.c \
	%D%/limits/parts.h \
	%D%/observe.c \
	%D%/observe.h \
	%D%/limits/preempt.c \
	%D%/limits/preempt.h \
	%D%/proposal.c \
	%D%/proposal.h \
	%D%/publish.c \
	%D%/publish.h \
	%D%/plan_request.c \
	%D%/plan_request.h \
	%D%/select_weft.c \
	%D%/slurm/compat.h \
	%D%/slurm/compat_2205.c \
	%D%/slurm/compat_2311.c \
	%D%/slurm/gpus.c \
	%D%/slurm/gpus.h \
	%D%/slurm/nodes.c \
	%D%/slurm/nodes.h \
	%D%/slurm/nodes_follow.c \
	%D%/slurm/nodes_kept.c \
	%D%/slurm/stock.c \
	%D%/slurm/stock.h \
	%D%/slurm/trouble.c \
	%D%/slurm/trouble.h \
	%D%/waiting.c \
	%D%/waiting.h \
	# End of weft_select_sources
weft_spank_sources = \
	%D%/bridge/launch/launch.c \
	%D%/bridge/launch/launch.h \
	%D%/bridge/launch/spec_text.c \
	%D%/bridge/launch/spec_text.h \
	%D%/spank/spank_weft.c \
	# End of weft_spank_sources
weft_submit_sources = \
	%D%/bridge/launch/infer.c \
	%D%/bridge/launch/infer.h \
	%D%/submit/job_submit_weft.c \
	# End of weft_submit_sources
weft_select_exports = '^(init|fini|plugin_(name|type|id|version)|select_p_.*)$$'
weft_spank_exports = '^(plugin_(name|type|version)|spank_plugin_version|slurm_spank_.*)$$'
weft_submit_exports = '^(init|fini|plugin_(name|type|version)|job_(submit|modify))$$'

# Slurm's headers ask for a configured tree's config.h and find weft's, which is
# as good: they look at nothing but these two.
weft_slurm_cppflags = \
	$(AM_CPPFLAGS) \
	-DNDEBUG=1 \
	-DMULTIPLE_SLURMD=1 \
	# End of weft_slurm_cppflags

EXTRA_DIST += \
	$(weft_select_sources) \
	$(weft_spank_sources) \
	$(weft_submit_sources) \
	%D%/slurm-version \
	%D%/weft_ops.def \
	# End of EXTRA_DIST

if BUILD_SLURM
# -rpath only makes libtool build what can be loaded; the installing is done
# below.  Slurm unloads plugins at its end, and before, where weft's threads may
# wait for a file: their code stays.
weft_slurm_ldflags = \
	$(AM_LDFLAGS) \
	-module \
	-avoid-version \
	-shared \
	-Wl,-z,nodelete \
	-rpath $(slurmplugindir) \
	# End of weft_slurm_ldflags

noinst_LTLIBRARIES += select_cons_tres_weft.la
select_cons_tres_weft_la_SOURCES = $(weft_select_sources)
select_cons_tres_weft_la_CPPFLAGS = $(weft_slurm_cppflags)
select_cons_tres_weft_la_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
select_cons_tres_weft_la_LIBADD = libweft_bridge.la
select_cons_tres_weft_la_LDFLAGS = \
	$(weft_slurm_ldflags) \
	-export-symbols-regex $(weft_select_exports) \
	# End of select_cons_tres_weft_la_LDFLAGS

noinst_LTLIBRARIES += weft_spank.la
weft_spank_la_SOURCES = $(weft_spank_sources)
weft_spank_la_CPPFLAGS = $(weft_slurm_cppflags)
weft_spank_la_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
weft_spank_la_LIBADD = libweft_costmodel.la
weft_spank_la_LDFLAGS = \
	$(weft_slurm_ldflags) \
	-export-symbols-regex $(weft_spank_exports) \
	# End of weft_spank_la_LDFLAGS

noinst_LTLIBRARIES += job_submit_weft.la
job_submit_weft_la_SOURCES = $(weft_submit_sources)
job_submit_weft_la_CPPFLAGS = $(weft_slurm_cppflags)
job_submit_weft_la_CFLAGS = $(AM_CFLAGS) $(SLURM_CFLAGS)
job_submit_weft_la_LIBADD = libweft_script.la libweft_bridge.la
job_submit_weft_la_LDFLAGS = \
	$(weft_slurm_ldflags) \
	-export-symbols-regex $(weft_submit_exports) \
	# End of job_submit_weft_la_LDFLAGS

# The same file under stock's name, in a folder that only slurmctld looks into.
weftshadowdir = $(pkglibdir)/shadow

# By rename: a daemon that has the old file mapped must keep it as it was, and
# must find one at any time.
install_plugin = \
	plugin_install() { \
		$(MKDIR_P) "$(DESTDIR)$$2" && \
		$(INSTALL_DATA) .libs/$$1 "$(DESTDIR)$$2/.$$3.new" && \
		mv -f "$(DESTDIR)$$2/.$$3.new" "$(DESTDIR)$$2/$$3"; \
	}; plugin_install

install-exec-local: select_cons_tres_weft.la weft_spank.la job_submit_weft.la
	$(install_plugin) select_cons_tres_weft.so "$(slurmplugindir)" \
		select_cons_tres_weft.so
	$(install_plugin) select_cons_tres_weft.so "$(weftshadowdir)" \
		select_cons_tres.so
	$(install_plugin) weft_spank.so "$(slurmplugindir)" weft_spank.so
	$(install_plugin) job_submit_weft.so "$(slurmplugindir)" \
		job_submit_weft.so

# The folder stays: slurmctld ends at a PluginDir that is not there, and finds
# stock's plugins behind one that is empty.
uninstall-local:
	rm -f "$(DESTDIR)$(slurmplugindir)/select_cons_tres_weft.so" \
		"$(DESTDIR)$(slurmplugindir)/weft_spank.so" \
		"$(DESTDIR)$(slurmplugindir)/job_submit_weft.so" \
		"$(DESTDIR)$(weftshadowdir)/select_cons_tres.so"
endif
