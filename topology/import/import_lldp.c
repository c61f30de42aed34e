/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_lldp.c - the neighbours of an Ethernet host or switch: "lldpcli -f
 *json show neighbors"
 *
 *	{"lldp": {"interface": [{"eth2": {
 *	   "chassis": {"leaf01": {...}},
 *	   "port": {"id": {"type": "ifname", "value": "swp7"}}}}]}}
 *
 * It does not say whose neighbours they are: HOST=FILE does, or an object of
 *such answers by host.  Names of ports tell switches, which may be asked as
 *well.
 */
#include "topology/import/import.h"
#include "topology/import/json_source.h"
#include "topology/import/links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lldp {
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_error *err;
	struct weft_told_links told;
};

static int fail(const struct lldp *l, const char *what)
{
	return weft_fail_at(l->err, WEFT_EINVAL, l->input->path, 0, 0, "%s",
			    what);
}

/* How network operating systems call ports: Cumulus, SONiC (and its aliases),
 * Arista, Dell, Cisco, Juniper. */
static bool is_switch_port(const char *name)
{
	static const char *const starts[] = {
		"swp", "Ethernet", "ethernet", "Eth", "etp", "et-", "xe-",
		"ge-", "Gi",	   "Te",       "Twe", "Fo",  "Hu",  "Four",
	};

	for (size_t i = 0; i < WEFT_N_OF(starts); i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

static int end_fill(struct lldp *l, const char *name, const char *port,
		    struct weft_end *end)
{
	const struct weft_place where = {l->input->source, 0};

	return weft_told_end(l->s, name, port, is_switch_port(port), where, end,
			     l->err);
}

/* json0 has lists everywhere, of one element where json has that alone. */
static const json_t *first_of(const json_t *list)
{
	return json_is_array(list) ? json_array_get(list, 0) : list;
}

static const char *text_of(const json_t *object, const char *key)
{
	const json_t *value = first_of(json_object_get(object, key));
	const char *text = json_string_value(value);

	return text ? text : weft_json_text(value, "value");
}

/* What the other end calls its port: its name, or where that is an address or a
 * number, its description. */
static const char *peer_port(const json_t *port)
{
	const json_t *id = first_of(json_object_get(port, "id"));
	const char *type = weft_json_text(id, "type");
	const char *name = weft_json_text(id, "value");
	const char *text = text_of(port, "descr");

	if (!type || strcmp(type, "mac") == 0 || !name ||
	    (text && !is_switch_port(name) && is_switch_port(text)))
		name = text;
	return name;
}

/* "chassis": {NAME: {...}}, or in json0 [{"name": [{"value": NAME}], ...}]. */
static const char *peer_name(json_t *interface)
{
	json_t *chassis = json_object_get(interface, "chassis");

	return json_is_array(chassis)
		       ? text_of(first_of(chassis), "name")
		       : json_object_iter_key(json_object_iter(chassis));
}

static int links_add(struct lldp *l)
{
	if (!l->told.n)
		return fail(l, "no neighbour that is a switch; expected what "
			       "\"lldpcli -f json show neighbors\" prints");
	return weft_told_links_add(&l->told, l->s, l->err);
}

static int neighbour_add(struct lldp *l, const char *host, const char *name,
			 json_t *interface)
{
	const char *peer = peer_name(interface);
	const char *port =
		peer_port(first_of(json_object_get(interface, "port")));
	struct weft_inventory_cable cable = {
		.n = 1,
		.where = {l->input->source, 0},
	};

	if (!peer || !*peer || !port || !*port || !*name ||
	    (!is_switch_port(port) && !is_switch_port(name)))
		return 0; /* a telephone, or another host's management */
	if (end_fill(l, host, name, &cable.a) ||
	    end_fill(l, peer, port, &cable.b))
		return -1;
	return weft_told_links_keep(&l->told, &cable, l->err);
}

static int interfaces_read(struct lldp *l, const char *host, json_t *object)
{
	const char *name = weft_json_text(object, "name");
	json_t *interface;

	if (name)
		return neighbour_add(l, host, name, object);
	json_object_foreach(object, name,
			    interface) if (neighbour_add(l, host, name,
							 interface)) return -1;
	return 0;
}

/* A list, or where there is one only, that. */
static int answer_read(struct lldp *l, const char *host, json_t *answer)
{
	json_t *list = json_object_get(
		first_of(json_object_get(answer, "lldp")), "interface");
	int rc = 0;

	if (json_is_object(list))
		return interfaces_read(l, host, list);
	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
		rc = interfaces_read(l, host, json_array_get(list, i));
	return rc;
}

static int root_read(struct lldp *l, json_t *root)
{
	const char *host;
	json_t *answer;

	if (json_object_get(root, "lldp")) {
		if (!l->input->hosts)
			return fail(l, "whose neighbours are these? Say "
				       "HOST=FILE");
		return answer_read(l, l->input->hosts, root);
	}
	json_object_foreach(root, host,
			    answer) if (*host &&
					answer_read(l, host, answer)) return -1;
	return 0;
}

int weft_import_lldp(struct weft_inventory *s,
		     const struct weft_import_input *input,
		     struct weft_error *err)
{
	struct lldp l = {.s = s, .input = input, .err = err};
	json_t *root = weft_json_source(input, err);
	int rc = root ? root_read(&l, root) : -1;

	if (rc == 0)
		rc = links_add(&l);
	free(l.told.links);
	json_decref(root);
	return rc;
}

bool weft_looks_lldp(const char *text, size_t size)
{
	const char *at = size ? strstr(text, "\"lldp\"") : NULL;

	return at && strstr(at, "\"interface\"") && strstr(at, "\"chassis\"");
}
