# SPDX-License-Identifier: GPL-3.0-or-later
# What sources say of a cluster, and the levels that follow from it.
noinst_LTLIBRARIES += libweft_survey.la
libweft_survey_la_SOURCES = \
	%D%/finding.c \
	%D%/finding.h \
	%D%/finding_kinds.def \
	%D%/survey.c \
	%D%/survey.h \
	%D%/survey_fabric.c \
	%D%/survey_facts.c \
	# End of libweft_survey_la_SOURCES
