/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plugin_file.c - looking into plugins without loading them
 *
 * A plugin cannot be loaded outside of Slurm, whose functions it lacks there.
 * Its plugin_version is a constant that its table of dynamic symbols names.
 */
#include "config.h" /* first: memmem is GNU */

#include "cli/setup/plugin_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Only weft's plugins know this name. */
static const char sign[] = "weft.yaml";

struct image {
	const unsigned char *bytes;
	size_t size;
};

/* n things of `each` bytes at offset, or NULL where the file is too short. */
static const void *at(const struct image *image, size_t offset, size_t n,
		      size_t each)
{
	if (offset > image->size || (each && n > (image->size - offset) / each))
		return NULL;
	return image->bytes + offset;
}

/* The number at an address of the loaded plugin. */
static uint32_t number_at(const struct image *image,
			  const ElfW(Shdr) * sections, size_t n,
			  const ElfW(Sym) * symbol)
{
	uint32_t value = 0;
	const ElfW(Shdr) * s;
	const void *where;

	if (symbol->st_shndx >= n)
		return 0;
	s = &sections[symbol->st_shndx];
	where = at(image, s->sh_offset + (symbol->st_value - s->sh_addr), 1,
		   sizeof(value));
	if (where)
		memcpy(&value, where, sizeof(value));
	return value;
}

static uint32_t symbol_find(const struct image *image,
			    const ElfW(Shdr) * sections, size_t n,
			    const ElfW(Shdr) * table, const char *name)
{
	size_t n_symbols = table->sh_size / sizeof(ElfW(Sym));
	const ElfW(Sym) *symbols =
		at(image, table->sh_offset, n_symbols, sizeof(*symbols));
	const ElfW(Shdr) *texts =
		table->sh_link < n ? &sections[table->sh_link] : NULL;
	const char *names =
		texts ? at(image, texts->sh_offset, texts->sh_size, 1) : NULL;

	for (size_t i = 0; symbols && names && i < n_symbols; i++)
		if (symbols[i].st_name + strlen(name) < texts->sh_size &&
		    strncmp(names + symbols[i].st_name, name,
			    strlen(name) + 1) == 0)
			return number_at(image, sections, n, &symbols[i]);
	return 0;
}

static uint32_t release_of(const struct image *image)
{
	const ElfW(Ehdr) *head = at(image, 0, 1, sizeof(*head));
	const ElfW(Shdr) *sections = NULL;
	uint32_t release = 0;

	if (head && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
	    head->e_shentsize == sizeof(*sections))
		sections = at(image, head->e_shoff, head->e_shnum,
			      sizeof(*sections));
	for (size_t i = 0; sections && i < head->e_shnum && !release; i++)
		if (sections[i].sh_type == SHT_DYNSYM)
			release = symbol_find(image, sections, head->e_shnum,
					      &sections[i], "plugin_version");
	return release;
}

static void file_look(struct plugin_file *file)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC);
	struct image image = {0};
	struct stat status;
	void *map = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
		file->device = status.st_dev;
		file->inode = status.st_ino;
		image.size = (size_t)status.st_size;
		map = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (map != MAP_FAILED) {
		image.bytes = map;
		file->weft =
			memmem(map, image.size, sign, strlen(sign)) != NULL;
		file->release = release_of(&image);
		munmap(map, image.size);
	}
	if (fd >= 0)
		close(fd);
}

void plugin_file_find(const char *folders, const char *name,
		      struct plugin_file *file)
{
	memset(file, 0, sizeof(*file));
	while (*folders && !file->found) {
		size_t n = strcspn(folders, ":");

		snprintf(file->path, sizeof(file->path), "%.*s/%s", (int)n,
			 folders, name);
		file->found = access(file->path, R_OK) == 0;
		folders += n + (folders[n] == ':');
	}
	if (file->found)
		file_look(file);
}

uint32_t plugin_file_release(const char *text)
{
	unsigned major, minor, micro;

	if (sscanf(text, "%u.%u.%u", &major, &minor, &micro) != 3)
		return 0;
	return (major & 0xff) << 16 | (minor & 0xff) << 8 | (micro & 0xff);
}

int plugin_file_is_mapped(const struct plugin_file *file, long pid)
{
	const char *name = strrchr(file->path, '/');
	char path[64], line[PATH_MAX + 128];
	unsigned long inode;
	int mapped = -1;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
	in = fopen(path, "re");
	while (in && name && fgets(line, sizeof(line), in)) {
		const char *found = strstr(line, name);

		if (!found || sscanf(line, "%*s %*s %*s %*s %lu", &inode) != 1)
			continue;
		if (inode == (unsigned long)file->inode)
			mapped = 1;
		else if (strstr(line, file->path) && mapped < 0)
			mapped = 0;
	}
	if (in)
		fclose(in);
	return mapped;
}
