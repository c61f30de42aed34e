/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c - reading what other programs print */
#include "cli/command.h"
#include "topology/import/import.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int command_failed(const char *command, struct weft_error *err)
{
	return weft_fail(err, WEFT_EIO,
			 "\"%s\" failed; is Slurm running, and SLURM_CONF "
			 "right?",
			 command);
}

FILE *command_open(const char *command, struct weft_error *err)
{
	FILE *in = popen(command, "r");

	if (!in)
		weft_fail(err, WEFT_EIO, "%s: %s", command, strerror(errno));
	return in;
}

int command_close(FILE *in, const char *command, int rc, struct weft_error *err)
{
	return pclose(in) != 0 && rc == 0 ? command_failed(command, err) : rc;
}

char *command_read(const char *command, size_t *size, struct weft_error *err)
{
	FILE *in = popen(command, "r");
	char *text = NULL, buffer[1 << 16];
	size_t room, n, total = 0;
	FILE *out = open_memstream(&text, size ? size : &room);
	bool good = in && out;

	while (good && (n = fread(buffer, 1, sizeof(buffer), in)) > 0) {
		total += n;
		good = total < WEFT_IMPORT_MAX_BYTES &&
		       fwrite(buffer, 1, n, out) == n;
	}
	if (in && pclose(in) != 0)
		good = false;
	if (out && fclose(out))
		good = false;
	if (good)
		return text;
	free(text);
	command_failed(command, err);
	return NULL;
}

bool command_exists(const char *name)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];

	while (at && *at) {
		size_t length = strcspn(at, ":");

		if ((size_t)snprintf(path, sizeof(path), "%.*s/%s", (int)length,
				     at, name) < sizeof(path) &&
		    access(path, X_OK) == 0)
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}
