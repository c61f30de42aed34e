/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_hwloc_none.c - hwloc-xml where weft is built without hwloc */
#include "topology/import/import.h"

int weft_import_hwloc_xml(struct weft_inventory *s,
			  const struct weft_import_input *input,
			  struct weft_error *err)
{
	(void)s;
	return weft_fail_at(err, WEFT_ENOSYS, input->path, 0, 0,
			    "this weft was built without hwloc, which reads "
			    "its XML");
}
