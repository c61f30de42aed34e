/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.c - what other jobs send over each link */
#include "costmodel/load.h"

#include "costmodel/cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int weft_load_build(const struct weft_fabric *f, struct weft_load *load,
		    struct weft_error *err)
{
	uint32_t n = f->n_domains;

	memset(load, 0, sizeof(*load));
	load->fabric = f;
	load->up = weft_calloc(n, sizeof(*load->up), err);
	load->down = weft_calloc(n, sizeof(*load->down), err);
	load->n_jobs = weft_calloc(n, sizeof(*load->n_jobs), err);
	return load->up && load->down && load->n_jobs ? 0 : -1;
}

void weft_load_free(struct weft_load *load)
{
	int saved = errno;

	if (load) {
		free(load->up);
		free(load->down);
		free(load->n_jobs);
		memset(load, 0, sizeof(*load));
	}
	errno = saved;
}

int weft_load_add(struct weft_load *load, const struct weft_traffic *t,
		  const uint32_t *where, double step_s, struct weft_error *err)
{
	uint32_t n = load->fabric->n_domains;
	double *up, *down;
	int rc = -1;

	if (!(step_s > 0) || !isfinite(step_s))
		return weft_fail(err, WEFT_EINVAL,
				 "a step of %g s says nothing of the load",
				 step_s);
	up = weft_calloc(n, sizeof(*up), err);
	down = weft_calloc(n, sizeof(*down), err);
	if (!up || !down ||
	    weft_cost_links(load->fabric, t, where, up, down, err))
		goto out;
	for (uint32_t d = 0; d < n; d++) {
		load->up[d] += up[d] / step_s;
		load->down[d] += down[d] / step_s;
		load->n_jobs[d] += up[d] > 0 || down[d] > 0;
	}
	load->n++;
	rc = 0;
out:
	free(up);
	free(down);
	return rc;
}

double weft_load_rate(const struct weft_load *load, uint32_t domain, bool up)
{
	double capacity = weft_cost_uplink_rate(load->fabric, domain);
	double used = up ? load->up[domain] : load->down[domain];

	if (isinf(capacity))
		return capacity;
	return fmax(capacity - used, capacity / (load->n_jobs[domain] + 1.0));
}
