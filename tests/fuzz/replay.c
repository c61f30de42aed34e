/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.c - a harness without libFuzzer: runs it on every file of the folders
 * given, or of tests/fuzz/corpus/NAME and of those that tests/fuzz/seeds has
 * for NAME, the program's own name */
#include "tests/fuzz/fuzz.h"
#include "tests/lib/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Number of inputs run, or -1. */
static int folder_run(const char *folder)
{
	const struct dirent *entry;
	DIR *dir = opendir(folder);
	int n = 0;

	if (!dir) {
		perror(folder);
		return -1;
	}
	while ((entry = readdir(dir)) != NULL) {
		char path[4096];
		size_t size = 0;
		char *text;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		text = test_read_file(path, &size);
		if (!text) {
			perror(path);
			closedir(dir);
			return -1;
		}
		LLVMFuzzerTestOneInput((const uint8_t *)text, size);
		free(text);
		n++;
	}
	closedir(dir);
	printf("%d inputs of %s\n", n, folder);
	return n;
}

/* Both of its own; the first may be missing.  Number of inputs run, or -1. */
static int own_folders_run(const char *name)
{
	char line[512], own[256];
	FILE *in = fopen(test_source("tests/fuzz/seeds"), "r");
	int n = 0;

	snprintf(own, sizeof(own), "tests/fuzz/corpus/%s", name);
	if (access(test_source(own), F_OK) == 0)
		n = folder_run(test_source(own));
	while (n >= 0 && in && fgets(line, sizeof(line), in)) {
		char *word = strtok(line, " \n");

		if (!word || strcmp(word, name) != 0)
			continue;
		while ((word = strtok(NULL, " \n")) != NULL) {
			int more = folder_run(test_source(word));

			if (more < 0)
				n = -1;
			else
				n += more;
		}
	}
	if (in)
		fclose(in);
	return n;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');

	if (argc < 2)
		return own_folders_run(name ? name + 1 : argv[0]) > 0 ? 0 : 1;
	for (int i = 1; i < argc; i++)
		if (folder_run(argv[i]) < 0)
			return 1;
	return 0;
}
