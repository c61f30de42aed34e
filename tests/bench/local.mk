# SPDX-License-Identifier: GPL-3.0-or-later
# Measurements, run by `make bench` alone: each prints one JSON object a line.
bench_programs = \
	%D%/collective \
	%D%/decide \
	%D%/ibnetdiscover \
	%D%/load \
	%D%/matrix \
	%D%/place \
	%D%/plan \
	%D%/specs \
	# End of bench_programs
bench_scripts = \
	%D%/slurm \
	# End of bench_scripts
EXTRA_DIST += \
	$(bench_scripts) \
	%D%/flowsim.cc \
	%D%/map \
	%D%/peers.csv \
	%D%/qap \
	%D%/replay \
	%D%/step \
	%D%/stream \
	%D%/stream.awk \
	%D%/stream.running.awk \
	%D%/wire \
	%D%/wire-stream \
	%D%/wire.jq \
	%D%/wire.scenarios \
	%D%/wire.summary.jq \
	# End of EXTRA_DIST

EXTRA_PROGRAMS += $(bench_programs) %D%/exact %D%/peer %D%/simgrid
CLEANFILES += \
	$(bench_programs) %D%/exact %D%/flowsim %D%/peer %D%/simgrid
tests_bench_simgrid_SOURCES = \
	%D%/simgrid.c \
	%D%/simgrid_cases.c \
	%D%/simgrid_cases.h \
	%D%/simgrid_hashed.c \
	%D%/simgrid_hashed.h \
	%D%/simgrid_shared.c \
	%D%/simgrid_shared.h \
	# End of tests_bench_simgrid_SOURCES
tests_bench_simgrid_LDADD = \
	libweft_cli.la libweft_export.la libweft_inventory.la $(LDADD) $(JANSSON_LIBS)
tests_bench_ibnetdiscover_LDADD = \
	libweft_import.la libweft_inventory.la $(LDADD)
tests_bench_load_LDADD = $(LDADD) $(YAML_LIBS)
tests_bench_exact_LDADD = libweft_exact.la $(LDADD)
bench: $(bench_programs)
	@$(AM_TESTS_ENVIRONMENT) for program in $(bench_programs); do \
		./$$program || exit 1; done
	@$(AM_TESTS_ENVIRONMENT) for script in $(bench_scripts); do \
		$(srcdir)/$$script || exit 1; done

# One of them alone: make bench-plan.
bench-plan: %D%/plan
	@./%D%/plan
# A capture of 4,000 hosts with eight adapters each, to its fabric file.
bench-ibnetdiscover: %D%/ibnetdiscover$(EXEEXT)
	@./%D%/ibnetdiscover
.PHONY: bench-ibnetdiscover
# How long large fabrics take to load, and their memory.
bench-load: %D%/load$(EXEEXT)
	@./%D%/load
.PHONY: bench-load
# How long slurmctld waits for one, and what a limit costs.
bench-decide: %D%/decide
	@./%D%/decide
# Slurm's own schedulers with and without weft, on a live cluster; takes minutes.
bench-slurm: all
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/slurm $(BENCH_FLAGS)
# The optimiser against SCOTCH and on QAPLIB; "--help" of either script tells
# what BENCH_FLAGS may hold.
bench-map: weft$(EXEEXT) %D%/peer$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/map $(BENCH_FLAGS)
bench-qap: weft$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/qap $(BENCH_FLAGS)
# The default method against the best that is known; up to 5 s a case.
bench-exact: %D%/exact$(EXEEXT)
	@./%D%/exact
.PHONY: bench bench-decide bench-exact bench-map bench-plan bench-qap bench-slurm
# The same job stream on two live clusters, stock and with weft; 15 minutes.
bench-stream: all
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/stream $(BENCH_FLAGS)
.PHONY: bench-stream
# Weft's policies and others' on the public job traces.
bench-replay: weft$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/replay $(BENCH_FLAGS)
.PHONY: bench bench-map bench-plan bench-qap bench-replay
# Predicted step times against measured ones; ten minutes.
bench-wire: weft$(EXEEXT) tests/wire/rank$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/wire $(BENCH_FLAGS)
# The same twenty jobs through stock Slurm and weft, on a network; 15 minutes.
bench-wire-stream: all tests/wire/rank$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/wire-stream $(BENCH_FLAGS)
.PHONY: bench-wire bench-wire-stream
# Errors of the predicted step for each publisher's runs, with constants from
# those of all others, and other models' errors on their own runs.
bench-step: weft$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) $(srcdir)/%D%/step $(BENCH_FLAGS)
.PHONY: bench-step
# Predicted communication against flows on SimGrid; some minutes, most
# of them for 4,096 GPUs (BENCH_FLAGS="--large 0" leaves these out).
bench-simgrid: %D%/simgrid$(EXEEXT)
	@if echo '#include <simgrid/s4u.hpp>' | \
		g++ -std=c++17 -E -x c++ - >/dev/null 2>&1; then \
		g++ -O2 -std=c++17 -o %D%/flowsim $(srcdir)/%D%/flowsim.cc \
			-lsimgrid && \
		./%D%/simgrid "$$PWD/%D%/flowsim" $(BENCH_FLAGS); \
	else echo "skipped: no SimGrid here (libsimgrid-dev)"; fi
.PHONY: bench-simgrid
