/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay CORPUS: runs a fuzz target over every file of a folder and over mutations of each, the same ones every time.
 * To search for new inputs, link the target with clang -fsanitize=fuzzer instead.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { INPUT_MAX = 4096, MUTATIONS = 20000 };

static uint32_t seed = 1;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % limit;
}

/* A copy of exactly that length, so that the sanitizers see a read of one byte too many. */
static void run(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	memcpy(copy, bytes, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

static void mutate(const uint8_t *bytes, size_t len)
{
	uint8_t changed[INPUT_MAX];
	size_t cut = len ? random_below((uint32_t)len + 1) : 0;

	memcpy(changed, bytes, len);
	for (uint32_t i = random_below(8); i > 0 && len; i--)
		changed[random_below((uint32_t)len)] = (uint8_t)random_below(256);
	run(changed, random_below(4) ? len : cut);
}

static int replay(const char *folder, const char *name)
{
	uint8_t bytes[INPUT_MAX];
	char path[4096];
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	if (!file)
		return -1;
	len = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	run(bytes, len);
	for (int i = 0; i < MUTATIONS; i++)
		mutate(bytes, len);
	return 0;
}

int main(int argc, char **argv)
{
	DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
	struct dirent *entry;
	int files = 0;

	if (!folder)
		return 2;
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		if (replay(argv[1], entry->d_name))
			return 2;
		files++;
	}
	closedir(folder);
	printf("%d files, %d mutations of each\n", files, MUTATIONS);
	return files ? 0 : 1;
}
