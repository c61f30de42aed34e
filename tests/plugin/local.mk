# SPDX-License-Identifier: GPL-3.0-or-later
unit_tests += \
	%D%/board \
	%D%/bridge \
	%D%/complain \
	%D%/decision \
	%D%/defaults \
	%D%/holdings \
	%D%/keeper \
	%D%/launch \
	%D%/pending \
	%D%/ranks \
	%D%/request \
	%D%/settings \
	%D%/spec_text \
	%D%/submission \
	%D%/trusted \
	%D%/watchdog \
	# End of unit_tests
