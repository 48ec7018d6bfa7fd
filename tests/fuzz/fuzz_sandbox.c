/* Any paths as what a sandbox may show and change, and as PATH and LD_LIBRARY_PATH: neither the
 * arguments of bubblewrap nor the rules of Landlock allow writing to anything else, and nothing but
 * a path that the policy names shows a hidden folder.
 *
 * An input is a list of items that end with a NUL: w PATH writable, r PATH readable, p and l
 * entries of PATH and LD_LIBRARY_PATH, n network, g GPU, h huge pages. ~ at the start of a path is
 * a home folder with links, spaces and newlines in its names. */
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/sandbox_internal.h"
#include "fuzz.h"

#define ITEMS_MAX 12
#define LANDLOCK_READ 13ull /* to execute, and to read files and folders */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static char home[] = "/tmp/tracker-fuzz-XXXXXX";
static const char *writable[ITEMS_MAX + 1], *readable[ITEMS_MAX + 1];
static const struct tk_sandbox_policy *checked; /* during the preparation of Landlock */

/* ---- the home folder ---- */

static void remove_home(void)
{
	static const char *const names[] = {".local/bin/home", ".local/bin/keys", ".local/bin",
	        ".local", "tools/bin/back", "tools/bin", "tools", "up", "self", "sp ace",
	        "new\nline", "keys", "--bind", "bin"};
	char path[64];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", home, names[i]);
		remove(path);
	}
	rmdir(home);
}

static void make_home(void)
{
	if (!mkdtemp(home) || chdir(home) != 0 || mkdir("tools", 0755) ||
	        mkdir("tools/bin", 0755) || mkdir("sp ace", 0755) || mkdir("new\nline", 0755) ||
	        mkdir("keys", 0755) || mkdir("--bind", 0755) || mkdir("bin", 0755) ||
	        symlink("..", "up") || symlink(".", "self") || symlink("../..", "tools/bin/back") ||
	        mkdir(".local", 0755) || mkdir(".local/bin", 0755) ||
	        symlink("../..", ".local/bin/home") || symlink("../../keys", ".local/bin/keys"))
		abort();
	setenv("HOME", home, 1);
	atexit(remove_home);
}

/* Relative paths start there; the fuzzer's own do not. */
static int enter_home(void)
{
	static bool is_made;
	int before = open(".", O_PATH | O_CLOEXEC);

	if (!is_made)
		make_home();
	is_made = true;
	if (before < 0 || chdir(home) != 0)
		abort();
	return before;
}

static void leave_home(int before)
{
	if (fchdir(before) != 0)
		abort();
	close(before);
}

/* ---- what is allowed ---- */

static bool is_same(const char *a, const char *b)
{
	char x[PATH_MAX], y[PATH_MAX];

	return strcmp(a, b) == 0 || (realpath(a, x) && realpath(b, y) && strcmp(x, y) == 0);
}

static bool is_named(const char *path, const char *const *paths)
{
	for (; *paths; paths++)
		if (is_same(path, *paths))
			return true;
	return false;
}

static bool is_device(const char *path)
{
	static const char *const nodes[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
	        "/dev/urandom", "/dev/tty", "/dev/shm", NULL};
	static const char *const pages[] = {"/dev/hugepages", NULL};

	return is_named(path, nodes) || (checked->huge_pages && is_named(path, pages)) ||
	       (checked->gpu && strncmp(path, "/dev/", 5) == 0 && tk_sandbox_is_gpu_node(path + 5));
}

static bool may_write(const char *path)
{
	static const char *const services[] = {"/tmp/nvidia-mps", "/run/nvidia-persistenced", NULL};

	return is_named(path, writable) || is_device(path) ||
	       (checked->gpu && is_named(path, services));
}

/* A folder that is hidden, the home, above one of them, or one of the root that has no programs. */
static bool shows_hidden(const char *path)
{
	char **hidden, real[PATH_MAX];
	bool found = false;

	if (!realpath(path, real))
		return false;
	found = tk_sandbox_is_below(home, real) ||
	        (!strchr(real + 1, '/') && !is_named(real, tk_sandbox_shown));
	hidden = tk_sandbox_list_hidden(false);
	for (char **h = hidden; *h; h++)
		found = found || tk_sandbox_is_below(*h, real);
	tk_sandbox_free_paths(hidden);
	return found;
}

static void check_read(const char *path)
{
	if (shows_hidden(path) && !is_named(path, readable) && !is_named(path, writable))
		abort();
}

/* ---- bubblewrap ---- */

static int count_values(const char *option)
{
	static const char *const none[] = {
	        "--die-with-parent", "--unshare-pid", "--unshare-net", NULL};
	static const char *const one[] = {"--dev", "--dir", "--proc", "--cap-drop", "--cap-add",
	        "--perms", "--size", "--tmpfs", "--remount-ro", "--json-status-fd", NULL};
	static const char *const two[] = {
	        "--symlink", "--ro-bind", "--ro-bind-try", "--bind-try", "--dev-bind-try", NULL};
	static const char *const *const kinds[] = {none, one, two};

	for (int values = 0; values < 3; values++)
		for (const char *const *o = kinds[values]; *o; o++)
			if (strcmp(option, *o) == 0)
				return values;
	abort(); /* a path where an option should be */
}

static void check_bind(const char *option, const char *from, const char *to)
{
	if (strcmp(option, "--symlink") == 0 || strcmp(from, "/dev/null") == 0)
		return;
	if (strcmp(from, to) != 0)
		abort();
	if (strcmp(option, "--bind-try") == 0 || strcmp(option, "--dev-bind-try") == 0) {
		if (!may_write(from))
			abort();
	} else {
		check_read(from);
	}
}

static void check_arguments(const struct tk_sandbox *s)
{
	size_t i = 1;

	while (i < s->prefix_count) {
		const char *option = s->prefix[i];
		const int values = count_values(option);

		if (i + (size_t)values >= s->prefix_count)
			abort();
		if (values == 2)
			check_bind(option, s->prefix[i + 1], s->prefix[i + 2]);
		i += 1 + (size_t)values;
	}
}

/* ---- Landlock: each rule, as the kernel is told ---- */

static void check_rule(const void *rule)
{
	char link[64], path[PATH_MAX];
	unsigned long long rights;
	int fd;
	ssize_t n;

	memcpy(&rights, rule, sizeof rights);
	memcpy(&fd, (const char *)rule + sizeof rights, sizeof fd);
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path - 1);
	if (n < 0)
		abort();
	path[n] = '\0';
	if (rights & ~LANDLOCK_READ && !may_write(path))
		abort();
	if (!(rights & ~LANDLOCK_READ))
		check_read(path);
}

long __wrap_syscall(long number, ...)
{
	va_list list;
	long a[5]; /* those in registers, whether they were given or not; nobody gives a sixth */

	va_start(list, number);
	for (int i = 0; i < 5; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (checked && number == SYS_landlock_add_rule)
		check_rule((const void *)a[2]);
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4]);
}

/* ---- an input ---- */

struct input {
	struct tk_sandbox_policy policy;
	char *paths[ITEMS_MAX];
	size_t count, writable_count, readable_count;
	struct tk_buf program_path, library_path;
};

static char *resolve_home(const char *text)
{
	char *path = malloc(strlen(home) + strlen(text) + 1);

	if (!path)
		abort();
	return strcat(strcpy(path, *text == '~' ? home : ""), text + (*text == '~'));
}

static void add_item(struct input *in, const char *text)
{
	const char kind = *text;
	char *path;

	in->policy.network |= kind == 'n';
	in->policy.gpu |= kind == 'g';
	in->policy.huge_pages |= kind == 'h';
	if (!kind || !strchr("wrpl", kind) || in->count == ITEMS_MAX)
		return;
	path = in->paths[in->count++] = resolve_home(text + 1);
	if (kind == 'w')
		writable[in->writable_count++] = path;
	else if (kind == 'r')
		readable[in->readable_count++] = path;
	else
		tk_buf_add_printf(kind == 'p' ? &in->program_path : &in->library_path, ":%s", path);
}

static void read_input(struct input *in, const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t at = 0; at < size; at += strlen(text + at) + 1)
		add_item(in, text + at);
	free(text);
	writable[in->writable_count] = readable[in->readable_count] = NULL;
	in->policy.writable = writable;
	in->policy.readable = readable;
	setenv("PATH", tk_buf_cstr(&in->program_path), 1);
	setenv("LD_LIBRARY_PATH", tk_buf_cstr(&in->library_path), 1);
}

static struct tk_sandbox *new_empty(enum tk_sandbox_method method)
{
	struct tk_sandbox *s = calloc(1, sizeof *s);

	if (!s)
		abort();
	s->method = method;
	s->ruleset = s->report_read = s->report_write = -1;
	return s;
}

static void check_policy(const struct tk_sandbox_policy *policy)
{
	struct tk_sandbox *s = new_empty(TK_SANDBOX_BUBBLEWRAP);

	checked = policy;
	if (!tk_sandbox_prepare_bubblewrap(s, policy, NULL))
		check_arguments(s);
	tk_sandbox_free(s);
	s = new_empty(TK_SANDBOX_LANDLOCK);
	tk_sandbox_prepare_landlock(s, policy, NULL);
	tk_sandbox_free(s);
	checked = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {.program_path = TK_BUF_INIT, .library_path = TK_BUF_INIT};
	const int before = enter_home();

	tk_buf_add_str(&in.program_path, "/usr/bin:/bin");
	read_input(&in, data, size);
	check_policy(&in.policy);
	for (size_t i = 0; i < in.count; i++)
		free(in.paths[i]);
	tk_buf_free(&in.program_path);
	tk_buf_free(&in.library_path);
	leave_home(before);
	return 0;
}
