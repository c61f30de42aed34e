# SPDX-License-Identifier: GPL-3.0-or-later
unit_tests += \
	%D%/board \
	%D%/bridge \
	%D%/decision \
	%D%/defaults \
	%D%/keeper \
	%D%/request \
	%D%/settings \
	%D%/spec_text \
	%D%/submission \
	# End of unit_tests
