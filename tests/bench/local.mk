# SPDX-License-Identifier: GPL-3.0-or-later
# Measurements, run by `make bench` alone: each prints one JSON object a line.
bench_programs = \
	%D%/collective \
	%D%/matrix \
	%D%/place \
	%D%/plan \
	# End of bench_programs
bench_scripts = \
	%D%/slurm \
	# End of bench_scripts
EXTRA_DIST += $(bench_scripts)

EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)

bench: $(bench_programs)
	@$(AM_TESTS_ENVIRONMENT) for program in $(bench_programs); do \
		./$$program || exit 1; done
	@$(AM_TESTS_ENVIRONMENT) for script in $(bench_scripts); do \
		$(srcdir)/$$script || exit 1; done

# One of them alone: make bench-plan.
bench-plan: %D%/plan
	@./%D%/plan
.PHONY: bench bench-plan
