#include "base/process_tree.h"
#include "base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cgroup.h"
#include "base/error.h"
#include "base/file.h"

#define COUNT_INTERVAL_NS INT64_C(5000000000)

struct entry {
	pid_t pid, parent, group;
	bool found;
};

/* "PID (NAME) STATE PARENT GROUP ..."; the name may contain anything. */
static bool read_entry(const char *name, struct entry *e)
{
	char path[64];
	struct tk_buf text = TK_BUF_INIT;
	const char *end;
	bool ok = false;

	*e = (struct entry){.pid = (pid_t)strtol(name, NULL, 10)};
	if (e->pid <= 0)
		return false;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)e->pid);
	if (!tk_file_read(path, 4096, &text, NULL)) {
		end = strrchr(tk_buf_cstr(&text), ')');
		ok = end && sscanf(end, ") %*c %d %d", &e->parent, &e->group) == 2;
	}
	tk_buf_free(&text);
	return ok;
}

static int compare_pids(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static bool has_found_parent(const struct entry *e, const struct entry *all, size_t count)
{
	const struct entry key = {.pid = e->parent};
	const struct entry *parent = bsearch(&key, all, count, sizeof *all, compare_pids);

	return parent && parent->found;
}

/* Parents usually have lower PIDs, so that one pass and one more to see the end are enough. */
static unsigned count_found(struct entry *all, size_t count, pid_t child)
{
	unsigned found = 0;
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < count; i++) {
			struct entry *e = &all[i];

			if (e->found || (e->group != child && e->pid != child &&
			                        !has_found_parent(e, all, count)))
				continue;
			e->found = changed = true;
			found++;
		}
	}
	return found;
}

unsigned tk_process_tree_count(pid_t child)
{
	char **names = NULL;
	size_t count = 0, n = 0;
	struct entry *all = NULL;
	unsigned found = 0;

	if (tk_dir_list("/proc", &names, &count, NULL))
		return 0;
	all = tk_calloc(count ? count : 1, sizeof *all);
	for (size_t i = 0; all && i < count; i++)
		n += read_entry(names[i], &all[n]);
	if (all) {
		qsort(all, n, sizeof *all, compare_pids);
		found = count_found(all, n, child);
	}
	free(all);
	tk_names_free(names, count);
	return found;
}

/* "0.20 0.18 0.12 1/80 11206": running and all threads of the machine; 0: unknown. */
static long count_all_threads(void)
{
	struct tk_buf text = TK_BUF_INIT;
	const char *slash = NULL;
	long count = 0;

	if (!tk_file_read("/proc/loadavg", 256, &text, NULL))
		slash = strchr(tk_buf_cstr(&text), '/');
	if (slash)
		count = strtol(slash + 1, NULL, 10);
	tk_buf_free(&text);
	return count;
}

void tk_process_tree_init(struct tk_process_tree *t, const struct tk_cgroup *cgroup)
{
	*t = (struct tk_process_tree){.threads_min = count_all_threads(), .cgroup = cgroup};
}

bool tk_process_tree_exceeds(struct tk_process_tree *t, pid_t child, unsigned max, int64_t now_ns)
{
	long threads;

	if (t->cgroup)
		return tk_cgroup_exceeds(t->cgroup, max);
	threads = count_all_threads();
	if (threads < t->threads_min)
		t->threads_min = threads;
	if (threads > 0 && threads - t->threads_min < (long)max &&
	        now_ns - t->counted_ns < COUNT_INTERVAL_NS)
		return false;
	t->counted_ns = now_ns;
	return tk_process_tree_count(child) > max;
}
