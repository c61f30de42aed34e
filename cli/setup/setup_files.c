/* SPDX-License-Identifier: GPL-3.0-or-later */
/* setup_files.c - what setup writes, on record so that it can be taken back
 *
 * FOLDER/weft-setup.json has each file with a hash of what setup wrote.  One
 * that is not there, or has other content since, is another's, and is left
 * alone.
 */
#include "base/hash.h"
#include "base/text.h"
#include "cli/json.h"
#include "cli/setup/setup.h"
#include "cli/whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_NAME "weft-setup.json"
#define SCHEMA	    "weft.setup-files/1"

static void hash_write(const char *text, char hash[20])
{
	snprintf(hash, 20, "%016" PRIx64, weft_hash_text(text));
}

static void record_path(const struct setup *s, char path[PATH_MAX + 32])
{
	snprintf(path, PATH_MAX + 32, "%s/" RECORD_NAME, s->folder);
}

/* {"PATH": "HASH"}; new, empty where there is no record. */
static json_t *record_read(const struct setup *s)
{
	char path[PATH_MAX + 32];
	json_t *root, *files;

	record_path(s, path);
	root = json_load_file(path, 0, NULL);
	files = json_object_get(root, "files");
	files = json_is_object(files) ? json_incref(files) : json_object();
	json_decref(root);
	return files;
}

static int record_write(const struct setup *s, json_t *files,
			struct weft_error *err)
{
	char path[PATH_MAX + 32];
	json_t *root =
		json_pack("{s:s, s:O}", "schema", SCHEMA, "files", files);
	char *text = json_dumps(root, JSON_INDENT(2) | JSON_SORT_KEYS);
	int rc;

	record_path(s, path);
	rc = text ? whole_file_write(path, text, err)
		  : weft_fail(err, WEFT_ENOMEM, "out of memory");
	free(text);
	json_decref(root);
	return rc;
}

enum state { ABSENT, OURS, OTHER };

/* Whose a file is. */
static enum state file_state(const json_t *files, const char *path)
{
	const char *ours = json_string_value(json_object_get(files, path));
	char *text, hash[20];
	enum state state = OTHER;
	size_t size;

	if (access(path, F_OK) != 0)
		return ABSENT;
	if (ours && weft_text_load(path, 256u << 20, &text, &size, NULL) == 0) {
		hash_write(text, hash);
		if (strcmp(hash, ours) == 0)
			state = OURS;
		free(text);
	}
	return state;
}

static int file_put(struct setup *s, json_t *files, const char *name,
		    const char *path, const char *text, struct weft_error *err)
{
	char hash[20];

	if (s->dry_run)
		return checks_add(&s->checks, name, true, err,
				  "would be written to %s", path);
	if (whole_file_write(path, text, err))
		return -1;
	hash_write(text, hash);
	JSON_PUT(files, path, hash);
	return checks_add(&s->checks, name, true, err, "written: %s", path);
}

/* Beside one that is another's, under a name of its own; where both are, none,
 * and s->fabric_path is "". */
static int fabric_put(struct setup *s, json_t *files, struct weft_error *err)
{
	char own[PATH_MAX + 32];
	int rc;

	snprintf(own, sizeof(own), "%s/fabric.yaml", s->folder);
	if (file_state(files, own) != OTHER) {
		snprintf(s->fabric_path, sizeof(s->fabric_path), "%s", own);
		return file_put(s, files, "fabric.yaml", own, s->sources.text,
				err);
	}
	snprintf(s->fabric_path, sizeof(s->fabric_path), "%s/fabric.setup.yaml",
		 s->folder);
	if (file_state(files, s->fabric_path) == OTHER) {
		rc = checks_add(&s->checks, "fabric.yaml", false, err,
				"%s and %s are others'; move one away", own,
				s->fabric_path);
		s->fabric_path[0] = '\0';
		return rc;
	}
	return file_put(s, files, "fabric.yaml", s->fabric_path,
			s->sources.text, err) ||
			       setup_command_add(
				       s, false, err,
				       "weft audit %s --against fabric:%s", own,
				       s->fabric_path)
		       ? -1
		       : 0;
}

/* Where slurmctld may write and others may not. */
static void status_choose(const struct setup *s, char *path, size_t size)
{
	char folder[PATH_MAX];

	slurm_config_value(&s->config, "StateSaveLocation", folder,
			   sizeof(folder));
	if (access("/run/weft", F_OK) == 0)
		snprintf(folder, sizeof(folder), "/run/weft");
	if (folder[0])
		snprintf(path, size, "status: %s/weft-status.json\n", folder);
	else
		path[0] = '\0';
}

static int settings_put(struct setup *s, json_t *files, struct weft_error *err)
{
	char path[PATH_MAX + 32], status[PATH_MAX + 64], text[PATH_MAX + 512];

	snprintf(path, sizeof(path), "%s/weft.yaml", s->folder);
	if (file_state(files, path) == OTHER)
		return checks_add(&s->checks, "weft.yaml", true, err,
				  "%s is there already and stays as it is",
				  path);
	status_choose(s, status, sizeof(status));
	snprintf(text, sizeof(text),
		 "# Written by weft setup; weft.yaml(5) has all keys.\n"
		 "weft: slurm/1\n"
		 "fabric: %s\n"
		 "# observe: weft decides and records, and Slurm does what it "
		 "did before.\n"
		 "mode: observe\n"
		 "%s",
		 strrchr(s->fabric_path, '/') + 1, status);
	return file_put(s, files, "weft.yaml", path, text, err);
}

int setup_files_write(struct setup *s, struct weft_error *err)
{
	json_t *files = record_read(s);
	int rc = fabric_put(s, files, err);

	if (rc == 0 && s->fabric_path[0])
		rc = settings_put(s, files, err);

	if (rc == 0 && !s->dry_run)
		rc = record_write(s, files, err);
	json_decref(files);
	return rc;
}

static int file_undo(struct setup *s, const json_t *files, const char *path,
		     struct weft_error *err)
{
	switch (file_state(files, path)) {
	case ABSENT:
		return checks_add(&s->checks, "undo", true, err,
				  "gone already: %s", path);
	case OURS:
		if (!s->dry_run && unlink(path))
			return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
					    strerror(errno));
		return checks_add(&s->checks, "undo", true, err, "%s: %s",
				  s->dry_run ? "would be removed" : "removed",
				  path);
	default:
		return checks_add(&s->checks, "undo", false, err,
				  "%s was changed since, and stays", path);
	}
}

int setup_files_undo(struct setup *s, struct weft_error *err)
{
	json_t *files = record_read(s), *hash;
	char record[PATH_MAX + 32];
	const char *path;
	int rc = 0;

	record_path(s, record);
	if (json_object_size(files) == 0)
		rc = checks_add(&s->checks, "undo", false, err,
				"no record of weft setup in %s", s->folder);
	json_object_foreach(files, path, hash)
	{
		if (rc == 0)
			rc = file_undo(s, files, path, err);
	}
	if (rc == 0 && !s->dry_run && checks_failed(&s->checks) == 0)
		unlink(record);
	json_decref(files);
	return rc;
}
