# SPDX-License-Identifier: GPL-3.0-or-later
unit_tests += \
	%D%/bridge \
	%D%/decision \
	%D%/request \
	%D%/settings \
	# End of unit_tests
