# SPDX-License-Identifier: GPL-3.0-or-later
unit_tests += \
	%D%/board \
	%D%/bridge \
	%D%/decision \
	%D%/keeper \
	%D%/request \
	%D%/settings \
	# End of unit_tests
