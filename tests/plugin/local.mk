# SPDX-License-Identifier: GPL-3.0-or-later
unit_tests += \
	%D%/answers \
	%D%/seqlock \
	%D%/bridge \
	%D%/by_feature \
	%D%/invariants \
	%D%/decision \
	%D%/defaults \
	%D%/forecast \
	%D%/gain \
	%D%/holdings \
	%D%/status_writer \
	%D%/config_cache \
	%D%/launch \
	%D%/link_load \
	%D%/loads_worker \
	%D%/pending \
	%D%/previous_nodes \
	%D%/ranks \
	%D%/records \
	%D%/request \
	%D%/rules \
	%D%/settings \
	%D%/spec_text \
	%D%/submission \
	%D%/turns \
	%D%/watchdog \
	%D%/worker \
	# End of unit_tests
script_tests += \
	%D%/configure.sh \
	%D%/log.sh \
	# End of script_tests
# There is nothing to install without the Slurm plugins.
EXTRA_DIST += %D%/install.sh
if BUILD_SLURM
script_tests += %D%/install.sh
endif
