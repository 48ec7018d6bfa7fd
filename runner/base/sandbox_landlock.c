/* Rules of Landlock. Structures and bits are declared here: the headers of a system may be older
 * than its kernel. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sandbox_internal.h"

#define EXECUTE (1ull << 0)
#define WRITE_FILE (1ull << 1)
#define READ_FILE (1ull << 2)
#define READ_DIR (1ull << 3)
#define ALL_OF_VERSION_1 ((1ull << 13) - 1)
#define REFER (1ull << 13)    /* version 2 */
#define TRUNCATE (1ull << 14) /* version 3 */
#define READ (EXECUTE | READ_FILE | READ_DIR)
#define OF_FILES (EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE)

#define NET_TCP 3ull       /* bind and connect; version 4 */
#define SCOPE_SOCKETS 1ull /* abstract Unix sockets; version 6 */
#define SCOPE_SIGNALS 2ull

#define RULE_PATH_BENEATH 1
#define DEPTH_MAX 16

struct ruleset_attr {
	uint64_t fs, net, scoped;
};

struct path_attr {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

struct rules {
	int fd;
	uint64_t handled;
	char **hidden;
};

int tk_landlock_version(void)
{
	long v = syscall(SYS_landlock_create_ruleset, NULL, 0, 1u);

	return v > 0 ? (int)v : 0;
}

/* A path that is gone or cannot be opened stays forbidden. */
static void allow(const struct rules *r, const char *path, uint64_t rights)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0) {
		uint64_t all = S_ISDIR(st.st_mode) ? r->handled : r->handled & OF_FILES;
		struct path_attr rule = {rights & all, fd};

		syscall(SYS_landlock_add_rule, r->fd, RULE_PATH_BENEATH, &rule, 0u);
	}
	close(fd);
}

/* Landlock only allows: everything but the hidden folders is the siblings of each folder on the way
 * to them. */
static void allow_all_but_hidden(const struct rules *r, const char *folder, int depth)
{
	char **names = NULL;
	size_t count = 0;
	bool is_above = false;

	for (char **h = r->hidden; *h; h++) {
		if (tk_sandbox_is_below(folder, *h))
			return;
		is_above = is_above || tk_sandbox_is_below(*h, folder);
	}
	if (!is_above) {
		allow(r, folder, READ);
		return;
	}
	if (depth == DEPTH_MAX || tk_dir_list(folder, &names, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++) {
		AUTO_TEXT path = tk_path_join(folder, names[i]);
		struct stat st;

		/* a link's target has its own rule, or none */
		if (lstat(path, &st) == 0 && !S_ISLNK(st.st_mode))
			allow_all_but_hidden(r, path, depth + 1);
	}
	tk_names_free(names, count);
}

static void allow_devices(const struct rules *r, const struct tk_sandbox_policy *policy)
{
	static const char *const nodes[] = {
	        "null", "zero", "full", "random", "urandom", "tty", "shm"};
	char **names = NULL, path[300];
	size_t count = 0;

	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
		snprintf(path, sizeof path, "/dev/%s", nodes[i]);
		allow(r, path, r->handled);
	}
	if (policy->huge_pages)
		allow(r, "/dev/hugepages", r->handled);
	if (!policy->gpu || tk_dir_list("/dev", &names, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof path, "/dev/%.200s", names[i]);
		if (tk_sandbox_is_gpu_node(names[i]))
			allow(r, path, r->handled);
	}
	tk_names_free(names, count);
}

int tk_sandbox_prepare_landlock(
        struct tk_sandbox *s, const struct tk_sandbox_policy *policy, struct tk_error *err)
{
	const int version = tk_landlock_version();
	const size_t size = version >= TK_LANDLOCK_SIGNALS ? 24 : version >= 4 ? 16 : 8;
	struct ruleset_attr attr = {
	        .fs = ALL_OF_VERSION_1 | (version >= 2 ? REFER : 0) | (version >= 3 ? TRUNCATE : 0),
	        .net = policy->network ? 0 : NET_TCP,
	        .scoped = SCOPE_SOCKETS | SCOPE_SIGNALS};
	char *hidden[TK_SANDBOX_HIDDEN_MAX + 2] = {0}, *tools[TK_SANDBOX_TOOLS_MAX + 1];
	struct rules r = {.handled = attr.fs, .hidden = hidden};
	size_t n = 0;

	r.fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0u);
	if (r.fd < 0)
		return tk_fail_errno(err, "Landlock");
	tk_sandbox_list_hidden(hidden);
	while (hidden[n])
		n++;
	hidden[n] = tk_strdup("/dev");
	allow_all_but_hidden(&r, "/", 0);
	allow_devices(&r, policy);
	tk_sandbox_list_tools(tools);
	for (char **t = tools; *t; t++)
		allow(&r, *t, READ);
	for (const char *const *p = policy->readable; p && *p; p++)
		allow(&r, *p, READ);
	for (const char *const *p = policy->writable; p && *p; p++)
		allow(&r, *p, r.handled);
	if (policy->gpu) {
		allow(&r, "/run/nvidia-persistenced", r.handled);
		allow(&r, "/tmp/nvidia-mps", r.handled);
	}
	tk_sandbox_free_paths(hidden);
	tk_sandbox_free_paths(tools);
	s->ruleset = r.fd;
	s->file_rights = r.handled & (READ | WRITE_FILE | TRUNCATE);
	return TK_OK;
}

void tk_landlock_allow_caller_threads(const struct tk_sandbox *s)
{
	/* Stays open in the program: a rule belongs to an inode, and the kernel may replace one of
	 * /proc that nobody holds. */
	const int fd = open("/proc/self/task", O_PATH);
	const struct path_attr rule = {s->file_rights, fd};

	if (fd >= 0)
		syscall(SYS_landlock_add_rule, s->ruleset, RULE_PATH_BENEATH, &rule, 0u);
}
