/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_config.c - asking scontrol for Slurm's settings */
#include "cli/slurm/slurm_config.h"
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int slurm_config_read(struct slurm_config *config, struct weft_error *err)
{
	config->text = command_read("scontrol show config", NULL, err);
	return config->text ? 0 : -1;
}

void slurm_config_free(struct slurm_config *config)
{
	free(config->text);
	config->text = NULL;
}

const char *slurm_config_value(const struct slurm_config *config,
			       const char *key, char *buffer, size_t size)
{
	size_t n = strlen(key);
	const char *at = config->text, *value;

	buffer[0] = '\0';
	for (; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
		if (strncmp(at, key, n) != 0)
			continue;
		value = at + n + strspn(at + n, " \t");
		if (*value != '=')
			continue;
		value += 1 + strspn(value + 1, " \t");
		snprintf(buffer, size, "%.*s", (int)strcspn(value, "\n"),
			 value);
		break;
	}
	if (strcmp(buffer, "(null)") == 0)
		buffer[0] = '\0';
	return buffer;
}
