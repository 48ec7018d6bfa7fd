#include "base/process_limits.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/file.h"

#define INTERVAL_NS INT64_C(200000000)
#define COUNT_INTERVAL_NS INT64_C(1000000000)
#define COUNT_INTERVAL_MAX_NS INT64_C(10000000000)
#define COUNT_SHARE 20 /* at most one part in 20 of the time is spent counting */
#define RESERVE_MAX_BYTES ((uint64_t)1 << 30)

static bool find_space(const char *path, uint64_t *free_bytes, uint64_t *all_bytes)
{
	struct statvfs disk;

	if (statvfs(path, &disk) != 0)
		return false;
	*free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
	*all_bytes = (uint64_t)disk.f_blocks * disk.f_frsize;
	return true;
}

void tk_process_limits_init(struct tk_process_limits *l, const struct tk_process_spec *spec)
{
	uint64_t all = 0;

	*l = (struct tk_process_limits){.spec = spec};
	if (spec->process_max)
		tk_process_tree_init(&l->tree, spec->cgroup);
	if (spec->disk_paths)
		find_space(spec->disk_paths[0], &l->free_bytes, &all);
}

static bool is_log_too_long(const struct tk_process_spec *spec)
{
	struct stat st;

	return spec->log_max_bytes && lstat(spec->log_path, &st) == 0 &&
	       (uint64_t)st.st_size > spec->log_max_bytes;
}

/* Files that were removed and are still open are found by the free space alone. */
static bool is_disk_nearly_full(const struct tk_process_limits *l, uint64_t *free_bytes)
{
	uint64_t all = 0, reserve;

	*free_bytes = 0;
	if (!find_space(l->spec->disk_paths[0], free_bytes, &all))
		return false;
	reserve = all / 100 < RESERVE_MAX_BYTES ? all / 100 : RESERVE_MAX_BYTES;
	return *free_bytes < reserve && *free_bytes < l->free_bytes;
}

/* A tree of many files takes seconds to count, so that it is counted less often; so is one while
 * the disk has lost less than half of the limit. Others may have freed space. */
static bool is_disk_count_due(
        const struct tk_process_limits *l, uint64_t free_bytes, int64_t now_ns)
{
	const int64_t since = now_ns - l->disk_counted_ns;

	if (since < COUNT_INTERVAL_NS || since < COUNT_SHARE * l->disk_count_ns)
		return false;
	return since >= COUNT_INTERVAL_MAX_NS ||
	       free_bytes + l->spec->disk_max_bytes / 2 < l->free_bytes;
}

static bool is_tree_too_large(struct tk_process_limits *l, int64_t now_ns)
{
	uint64_t bytes = 0;

	for (const char *const *path = l->spec->disk_paths; *path; path++)
		bytes += tk_dir_disk_bytes(*path);
	l->disk_counted_ns = now_ns;
	l->disk_count_ns = tk_clock_monotonic_ns() - now_ns;
	return bytes > l->spec->disk_max_bytes;
}

static enum tk_process_limit check_disk(struct tk_process_limits *l, int64_t now_ns)
{
	uint64_t free_bytes;

	if (!l->spec->disk_paths || !l->spec->disk_max_bytes)
		return TK_LIMIT_NONE;
	if (is_disk_nearly_full(l, &free_bytes))
		return TK_LIMIT_DISK_FULL;
	if (!is_disk_count_due(l, free_bytes, now_ns))
		return TK_LIMIT_NONE;
	return is_tree_too_large(l, now_ns) ? TK_LIMIT_DISK : TK_LIMIT_NONE;
}

enum tk_process_limit tk_process_limits_check(
        struct tk_process_limits *l, pid_t child, int64_t now_ns)
{
	const struct tk_process_spec *spec = l->spec;

	if (now_ns - l->checked_ns < INTERVAL_NS)
		return TK_LIMIT_NONE;
	l->checked_ns = now_ns;
	if (is_log_too_long(spec))
		return TK_LIMIT_LOG;
	if (spec->process_max &&
	        tk_process_tree_exceeds(&l->tree, child, spec->process_max, now_ns))
		return TK_LIMIT_PROCESSES;
	return check_disk(l, now_ns);
}
