/* See kfd.h. The files are described in the kernel's Documentation/ABI and
 * drivers/gpu/drm/amd/amdkfd/kfd_topology.c: NODE/properties and NODE/caches/N/properties hold
 * lines of a name and a number; sizes are in KiB. */
#include "kfd.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 512
#define LEVELS 4

/* The number after `name` in such a file; `otherwise` if it is missing. */
static unsigned long long property(const char *path, const char *name, unsigned long long otherwise)
{
	char word[64];
	unsigned long long value;
	FILE *f = fopen(path, "re");
	if (!f)
		return otherwise;
	while (fscanf(f, "%63s %llu", word, &value) == 2)
		if (strcmp(word, name) == 0) {
			otherwise = value;
			break;
		}
	fclose(f);
	return otherwise;
}

/* Calls a function for each numbered entry of a folder. */
static void each_entry(const char *folder, void (*f)(const char *path, void *data), void *data)
{
	char path[PATH_SIZE];
	struct dirent *e;
	DIR *d = opendir(folder);
	while (d && (e = readdir(d)))
		if (e->d_name[0] >= '0' && e->d_name[0] <= '9' &&
		        snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path)
			f(path, data);
	if (d)
		closedir(d);
}

static void add_cache(const char *path, void *data)
{
	uint64_t *levels = data;
	char properties[PATH_SIZE + 16];
	snprintf(properties, sizeof properties, "%s/properties", path);
	unsigned long long level = property(properties, "level", 0);
	if (level > 0 && level < LEVELS)
		levels[level] += property(properties, "size", 0) << 10;
}

struct search {
	unsigned domain, location;
	struct kfd_node *out;
};

/* The node of a CPU has no SIMDs. */
static void look(const char *path, void *data)
{
	const struct search *s = data;
	uint64_t levels[LEVELS] = {0};
	char at[PATH_SIZE + 16];
	snprintf(at, sizeof at, "%s/properties", path);
	if (property(at, "simd_count", 0) == 0 ||
	        property(at, "location_id", ~0ULL) != s->location ||
	        property(at, "domain", 0) != s->domain)
		return;
	s->out->unique_id = property(at, "unique_id", 0);
	snprintf(at, sizeof at, "%s/caches", path);
	each_entry(at, add_cache, levels);
	for (int i = 2; i < LEVELS; i++) /* the first level is every unit's own */
		if (levels[i] > s->out->cache_bytes)
			s->out->cache_bytes = levels[i];
	s->out->third_bytes = levels[3];
	/* io_links/0 leads to the processor that the GPU hangs on; nodes of processors come first,
	 * in NUMA order. */
	snprintf(at, sizeof at, "%s/io_links/0/properties", path);
	unsigned long long host = property(at, "node_to", ~0ULL);
	if (host < 1024)
		s->out->numa_node = (int)host;
}

void kfd_find(const char *nodes, unsigned domain, unsigned location, struct kfd_node *out)
{
	struct search s = {domain, location, out};
	each_entry(nodes, look, &s);
}
