/* SPDX-License-Identifier: GPL-3.0-or-later */
/* in_unit.h - figures among the arguments of a printf */
#ifndef WEFT_CLI_IN_UNIT_H
#define WEFT_CLI_IN_UNIT_H

#include "base/size.h"

struct in_unit {
	char text[32];
};

static inline struct in_unit in_unit(double value, const char *unit)
{
	struct in_unit figure;

	weft_quantity_text(value, unit, figure.text, sizeof(figure.text));
	return figure;
}

/* "1.23 GB", as weft_quantity_text has it.  The text lasts until the end of the
 * statement that it is used in: it is the member of a value, not of a variable.
 */
#define IN_UNIT(value, unit) (in_unit(value, unit).text)

#endif
