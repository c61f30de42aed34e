/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_cache.c - keeping copies of the last files that could be read */
#include "config.h" /* mkdtemp */

#include "plugin/bridge/files/config_cache.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define N_RANDOM 6 /* letters and digits that mkdtemp fills in */

/* A folder that is not in use was being filled when slurmctld was killed: not
 * by another slurmctld, which is ready long before. */
#define STALE_S 3600

/* Looked at, and removed, at once. */
#define MAX_ENTRIES 10000
#define MAX_STALE   16

static int fail(const char *path, struct weft_error *err)
{
	return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s", strerror(errno));
}

static int copy_bytes(FILE *in, FILE *out)
{
	char buffer[65536];
	size_t n;

	while ((n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		if (fwrite(buffer, 1, n, out) != n)
			return -1;
	return ferror(in) ? -1 : 0;
}

static int copy_file(const char *from, const char *to, struct weft_error *err)
{
	FILE *in = fopen(from, "re");
	FILE *out = in ? fopen(to, "wxe") : NULL;
	int rc = out ? copy_bytes(in, out) : -1;

	if (rc < 0)
		fail(out || !in ? from : to, err);
	if (in)
		fclose(in);
	if (out && fclose(out) != 0 && rc == 0)
		rc = fail(to, err);
	return rc;
}

/* The copies in the folder are numbered without a gap. */
static void remove_folder(const char *folder)
{
	char file[PATH_MAX + 16];
	uint32_t i = 0;

	do {
		snprintf(file, sizeof(file), "%s/%u", folder, i++);
	} while (unlink(file) == 0);
	rmdir(folder);
}

/* The file's name in a path. */
static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Is the entry called as a folder of copies is? */
static bool is_called(const char *entry, const char *base)
{
	size_t length = strlen(base);
	const char *random = entry + length + 1;

	if (strncmp(entry, base, length) != 0 || entry[length] != '.')
		return false;
	for (int i = 0; i < N_RANDOM; i++)
		if (!isalnum((unsigned char)random[i]))
			return false;
	return !random[N_RANDOM];
}

/* The folder that `name` leads to, seen from where `name` is; false: none, or
 * not one that weft made. */
static bool former_folder(const char *name, char folder[PATH_MAX])
{
	const char *base = base_of(name);
	char target[NAME_MAX + 1];
	ssize_t length = readlink(name, target, sizeof(target) - 1);

	if (length < 0)
		return false;
	target[length] = '\0';
	return is_called(target, base) &&
	       snprintf(folder, PATH_MAX, "%.*s%s", (int)(base - name), name,
			target) < PATH_MAX;
}

static int fill_folder(const struct weft_settings *settings, const char *folder,
		       struct weft_error *err)
{
	struct weft_settings *copies;
	char file[PATH_MAX];

	for (uint32_t i = 0; i < settings->n_files; i++) {
		if (snprintf(file, sizeof(file), "%s/%u", folder, i) >=
		    (int)sizeof(file))
			return weft_fail(err, WEFT_EINVAL, "path is too long");
		if (copy_file(settings->files[i], file, err) < 0)
			return -1;
	}
	/* What was read well may have been rewritten before it was copied. */
	copies = weft_settings_load_kept(settings->files[0], folder, err);
	weft_settings_free(copies);
	return copies ? 0 : -1;
}

/* Has `name` lead to the folder, in one step. */
static int point_to(const char *name, const char *folder,
		    struct weft_error *err)
{
	char beside[PATH_MAX];

	if (snprintf(beside, sizeof(beside), "%s.new", name) >=
	    (int)sizeof(beside))
		return weft_fail(err, WEFT_EINVAL, "path is too long");
	unlink(beside);
	if (symlink(base_of(folder), beside) < 0 || rename(beside, name) < 0)
		return fail(beside, err);
	return 0;
}

/* Of this slurmctld's user, old, and not in use. */
static bool is_stale(int dir, const char *entry, const struct stat *in_use)
{
	struct stat status;

	return fstatat(dir, entry, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
	       difftime(time(NULL), status.st_mtime) > STALE_S &&
	       (status.st_dev != in_use->st_dev ||
		status.st_ino != in_use->st_ino);
}

/* Folders beside `name` that were never finished, but for the one in use,
 * however `name` leads to it. */
static void remove_stale(const char *name)
{
	const char *base = base_of(name);
	char path[PATH_MAX];
	const struct dirent *entry;
	struct stat in_use = {0};
	uint32_t n = 0;
	DIR *dir;

	if ((stat(name, &in_use) < 0 && errno != ENOENT) ||
	    snprintf(path, sizeof(path), "%.*s.", (int)(base - name), name) >=
		    (int)sizeof(path))
		return;
	dir = opendir(path);
	for (uint32_t i = 0; dir && i < MAX_ENTRIES && n < MAX_STALE; i++) {
		entry = readdir(dir);
		if (!entry)
			break;
		if (!is_called(entry->d_name, base) ||
		    !is_stale(dirfd(dir), entry->d_name, &in_use) ||
		    snprintf(path, sizeof(path), "%.*s%s", (int)(base - name),
			     name, entry->d_name) >= (int)sizeof(path))
			continue;
		remove_folder(path);
		n++;
	}
	if (dir)
		closedir(dir);
}

int weft_config_cache_save(const struct weft_settings *settings,
			   const char *name, struct weft_error *err)
{
	char folder[PATH_MAX], former[PATH_MAX];
	bool had = former_folder(name, former);

	if (snprintf(folder, sizeof(folder), "%s.XXXXXX", name) >=
	    (int)sizeof(folder))
		return weft_fail(err, WEFT_EINVAL, "path is too long");
	remove_stale(name);
	if (!mkdtemp(folder))
		return fail(folder, err);
	if (fill_folder(settings, folder, err) < 0 ||
	    point_to(name, folder, err) < 0) {
		remove_folder(folder);
		return -1;
	}
	if (had)
		remove_folder(former);
	return 0;
}
