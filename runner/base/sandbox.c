/* See sandbox.h. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/sandbox_internal.h"

static const char *const mode_names[] = {
        [TK_SANDBOX_OFF] = "off", [TK_SANDBOX_AUTO] = "auto", [TK_SANDBOX_REQUIRED] = "required"};
static const char *const method_names[] = {[TK_SANDBOX_NONE] = "none",
        [TK_SANDBOX_LIMITS] = "limits",
        [TK_SANDBOX_LANDLOCK] = "landlock",
        [TK_SANDBOX_BUBBLEWRAP] = "bubblewrap"};

static enum tk_sandbox_mode configured;
static char *cache;     /* of other builds; NULL: none */
static atomic_int best; /* enum tk_sandbox_method */
static pthread_once_t probed = PTHREAD_ONCE_INIT;
static char reason[256];
static bool is_untried; /* the machine has a method, and a trial says nothing of it */

void tk_sandbox_configure(enum tk_sandbox_mode mode, const char *cache_dir)
{
	configured = mode;
	free(cache);
	cache = cache_dir ? tk_strdup(cache_dir) : NULL;
}

enum tk_sandbox_mode tk_sandbox_mode(void)
{
	return configured;
}

bool tk_sandbox_mode_parse(const char *name, enum tk_sandbox_mode *out)
{
	int i = TK_SANDBOX_OFF;

	while (i <= TK_SANDBOX_REQUIRED && strcmp(mode_names[i], name) != 0)
		i++;
	if (i <= TK_SANDBOX_REQUIRED)
		*out = (enum tk_sandbox_mode)i;
	return i <= TK_SANDBOX_REQUIRED;
}

const char *tk_sandbox_method_name(enum tk_sandbox_method method)
{
	return method_names[method];
}

const char *tk_sandbox_mode_name(enum tk_sandbox_mode mode)
{
	return mode_names[mode];
}

bool tk_sandbox_is_gpu_node(const char *name)
{
	return strncmp(name, "nvidia", 6) == 0 || strcmp(name, "kfd") == 0 ||
	       strcmp(name, "dri") == 0;
}

/* ---- hidden folders ---- */

bool tk_sandbox_is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	while (n && folder[n - 1] == '/')
		n--;
	return strncmp(path, folder, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

const char *const tk_sandbox_shown[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
        "/libx32", "/etc", "/opt", "/nix", "/gnu", "/proc", "/sys", NULL};

struct paths {
	char **list; /* NULL-terminated */
	size_t count;
};

/* Takes `path`, which is resolved. */
static void add_path(struct paths *p, char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->count; i++)
		if (tk_sandbox_is_below(path, p->list[i])) {
			free(path);
			return;
		}
	for (size_t i = 0; i < p->count; i++) {
		if (tk_sandbox_is_below(p->list[i], path))
			free(p->list[i]);
		else
			p->list[kept++] = p->list[i];
	}
	p->list = tk_reallocarray(p->list, kept + 2, sizeof *p->list);
	p->list[kept++] = path;
	p->list[kept] = NULL;
	p->count = kept;
}

static void add_hidden(struct paths *p, const char *path)
{
	char real[PATH_MAX];

	if (path && path[0] == '/' && realpath(path, real) && real[1] && tk_dir_exists(real))
		add_path(p, tk_strdup(real));
}

static void add_private(struct paths *p, const char *folder, int levels)
{
	char **names = NULL;
	size_t count = 0;

	if (!levels || tk_dir_list(folder, &names, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++) {
		AUTO_TEXT path = tk_path_join(folder, names[i]);
		struct stat st;

		if (lstat(path, &st) != 0 || S_ISLNK(st.st_mode))
			continue;
		if (!tk_sandbox_is_public(path, false))
			add_path(p, tk_strdup(path));
		else if (S_ISDIR(st.st_mode))
			add_private(p, path, levels - 1);
	}
	tk_names_free(names, count);
}

char **tk_sandbox_list_hidden(bool with_private)
{
	static const char *const always[] = {"/home", "/root", "/tmp", "/var/tmp", "/run"};
	struct paths p = {tk_calloc(1, sizeof *p.list), 0};

	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		add_hidden(&p, always[i]);
	add_hidden(&p, getenv("HOME"));
	add_hidden(&p, getenv("TMPDIR"));
	add_hidden(&p, cache);
	if (with_private) {
		add_private(&p, "/etc", 4);
		add_private(&p, "/opt", 2); /* such a folder has many files */
		add_private(&p, "/usr/local", 2);
	}
	return p.list;
}

void tk_sandbox_free_paths(char **paths)
{
	for (char **p = paths; p && *p; p++)
		free(*p);
	free(paths);
}

static bool is_below_any(const char *path, char *const *folders)
{
	for (; *folders; folders++)
		if (tk_sandbox_is_below(path, *folders))
			return true;
	return false;
}

static bool is_hidden(const char *path, char *const *hidden)
{
	return is_below_any(path, hidden) || !is_below_any(path, (char *const *)tk_sandbox_shown);
}

bool tk_sandbox_is_hidden(const char *path)
{
	char **hidden = tk_sandbox_list_hidden(false), real[PATH_MAX];
	const bool found = is_hidden(realpath(path, real) ? real : path, hidden);

	tk_sandbox_free_paths(hidden);
	return found;
}

/* Whether the path, whatever links it goes through, is a hidden folder, the user's home, above one
 * of them, or a folder of the root. */
static bool shows_too_much(const char *path, char *const *hidden)
{
	const char *user = getenv("HOME");
	char real[PATH_MAX], home[PATH_MAX];

	if (!realpath(path, real) || !strchr(real + 1, '/'))
		return true;
	for (; *hidden; hidden++)
		if (tk_sandbox_is_below(*hidden, real))
			return true;
	return user && realpath(user, home) && tk_sandbox_is_below(home, real);
}

#define TOOLS_MAX 128

struct tools {
	char **out; /* of TOOLS_MAX */
	size_t count;
	char *const *hidden;
};

/* A folder of HOME where programs keep what nobody else may read: keys, tokens, histories. */
static bool keeps_secrets(const char *folder)
{
	static const char *const names[] = {".local", ".local/share", ".cargo"};
	const char *home = getenv("HOME");
	char path[PATH_MAX], real[PATH_MAX], own[PATH_MAX];

	for (size_t i = 0; home && i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", home, names[i]);
		if (realpath(path, real) && realpath(folder, own) && strcmp(real, own) == 0)
			return true;
	}
	return false;
}

/* What this user cannot read or execute is left out: bubblewrap ends where it cannot bind it. */
static bool may_show(const struct tools *t, const char *path)
{
	return *path == '/' && t->count < TOOLS_MAX && !is_below_any(path, t->out) &&
	       is_hidden(path, t->hidden) && !shows_too_much(path, t->hidden) &&
	       access(path, R_OK | X_OK) == 0;
}

static bool is_bin(const char *folder)
{
	const char *slash = strrchr(folder, '/');

	return slash && strcmp(slash, "/bin") == 0;
}

static void add_folder(struct tools *t, char *folder);

/* A program that a link leads to: its whole tool, or the file alone. Takes `path`. */
static void add_program(struct tools *t, char *path)
{
	char *folder = path ? tk_strndup(path, (size_t)(strrchr(path, '/') - path)) : NULL;
	bool is_tool = folder && is_bin(folder);

	if (is_tool)
		add_folder(t, folder);
	else
		free(folder);
	if (!is_tool && path && may_show(t, path))
		t->out[t->count++] = path;
	else
		free(path);
}

/* By the name that the link has for it and by its own: another link may be on the way. */
static void add_target(struct tools *t, const char *folder, const char *name)
{
	AUTO_TEXT link = tk_path_join(folder, name);
	char text[PATH_MAX];
	const ssize_t n = readlink(link, text, sizeof text - 1);

	if (n <= 0)
		return;
	text[n] = '\0';
	AUTO_TEXT joined = tk_path_join(folder, text);
	add_program(t, tk_path_make_absolute(joined));
	add_program(t, realpath(link, NULL));
}

static void add_targets(struct tools *t, const char *folder)
{
	char **names = NULL;
	size_t count = 0;

	if (tk_dir_list(folder, &names, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++)
		add_target(t, folder, names[i]);
	tk_names_free(names, count);
}

/* Takes `folder`, of PATH or LD_LIBRARY_PATH. */
static void add_folder(struct tools *t, char *folder)
{
	bool is_alone = false;

	if (!may_show(t, folder)) {
		free(folder);
		return;
	}
	if (is_bin(folder)) {
		char *slash = strrchr(folder, '/');

		*slash = '\0';
		is_alone = keeps_secrets(folder);
		if (is_alone || shows_too_much(folder, t->hidden))
			*slash = '/';
	}
	t->out[t->count++] = folder;
	if (is_alone)
		add_targets(t, folder);
}

char **tk_sandbox_list_tools(void)
{
	static const char *const variables[] = {"PATH", "LD_LIBRARY_PATH"};
	char **hidden = tk_sandbox_list_hidden(false);
	struct tools tools = {tk_calloc(TOOLS_MAX + 1, sizeof *tools.out), 0, hidden};

	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *at = getenv(variables[i]);

		while (at && *at) {
			size_t len = strcspn(at, ":");

			add_folder(&tools, tk_strndup(at, len));
			at += len + (at[len] == ':');
		}
	}
	tk_sandbox_free_paths(hidden);
	return tools.out;
}

/* ---- the method ---- */

static struct tk_sandbox *new_sandbox(enum tk_sandbox_method method)
{
	struct tk_sandbox *s = tk_calloc(1, sizeof *s);

	s->method = method;
	s->ruleset = s->report_read = s->report_write = -1;
	return s;
}

static int prepare(
        struct tk_sandbox *s, const struct tk_sandbox_policy *policy, struct tk_error *err)
{
	int status = TK_OK;

	if (s->method == TK_SANDBOX_BUBBLEWRAP)
		return tk_sandbox_prepare_bubblewrap(s, policy, err);
	if (s->method == TK_SANDBOX_LANDLOCK)
		status = tk_sandbox_prepare_landlock(s, policy, err);
	tk_sandbox_prepare_filter(s, policy);
	return status;
}

/* Runs a shell in it. */
static bool try_method(enum tk_sandbox_method method, struct tk_error *err)
{
	static const struct tk_sandbox_policy policy;
	static const char *const argv[] = {"/bin/sh", "-c", ":", NULL};
	struct tk_sandbox *s = new_sandbox(method);
	AUTO(tk_process_result) result = {0};
	const struct tk_process_spec spec = {.argv = argv, .deadline_s = 10, .sandbox = s};
	int status = prepare(s, &policy, err);

	if (!status)
		status = tk_process_run(&spec, &result, err);
	if (!status)
		status = tk_process_check(&spec, &result, err);
	tk_sandbox_free(s);
	return !status;
}

static enum tk_sandbox_method find_limit(void)
{
	const char *name = getenv("TRACKER_SANDBOX_METHOD");

	for (int i = TK_SANDBOX_NONE; name && i < TK_SANDBOX_BUBBLEWRAP; i++)
		if (strcmp(name, method_names[i]) == 0)
			return (enum tk_sandbox_method)i;
	return TK_SANDBOX_BUBBLEWRAP;
}

static void probe(void)
{
	int method = find_limit();

	if (method < TK_SANDBOX_BUBBLEWRAP)
		snprintf(reason, sizeof reason, "$TRACKER_SANDBOX_METHOD is set");
	for (; method > TK_SANDBOX_NONE; method--) {
		struct tk_error err = {0};

		if (try_method((enum tk_sandbox_method)method, &err))
			break;
		is_untried = method == TK_SANDBOX_LIMITS && tk_sandbox_has_filter();
		if (method == TK_SANDBOX_BUBBLEWRAP || is_untried)
			snprintf(reason, sizeof reason, "%.250s", err.message);
	}
	atomic_store(&best, method);
}

enum tk_sandbox_method tk_sandbox_method(void)
{
	if (configured == TK_SANDBOX_OFF)
		return TK_SANDBOX_NONE;
	pthread_once(&probed, probe);
	return (enum tk_sandbox_method)atomic_load(&best);
}

const char *tk_sandbox_reason(void)
{
	return configured == TK_SANDBOX_OFF ? "sandbox is off in the configuration" : reason;
}

/* Landlock, or more: the filter alone leaves files and network services open. A trial that failed
 * for another reason is no permission to go without. */
bool tk_sandbox_is_sufficient(enum tk_sandbox_method method)
{
	return method >= TK_SANDBOX_LANDLOCK || (configured != TK_SANDBOX_REQUIRED && !is_untried);
}

int tk_sandbox_new(
        const struct tk_sandbox_policy *policy, struct tk_sandbox **out, struct tk_error *err)
{
	enum tk_sandbox_method method = tk_sandbox_method();
	struct tk_sandbox *s;
	bool has_next;

	*out = NULL;
	if (!tk_sandbox_is_sufficient(method))
		return tk_fail(err, TK_EUNSUPPORTED,
		        is_untried ? "no sandbox can be tried (`sandbox: off` runs builds and "
		                     "backends without one): %s"
		                   : "a sandbox is required (`sandbox: required`, or $CI is set), "
		                     "and this machine has neither a working bubblewrap nor "
		                     "Landlock: %s",
		        reason);
	if (method == TK_SANDBOX_NONE)
		return TK_OK;
	s = new_sandbox(method);
	int status = prepare(s, policy, err);
	for (const char *const *p = policy->writable; !status && p && *p; p++)
		status = geteuid() ? TK_OK : tk_sandbox_hand_over(*p, s->user, err);
	if (!status) {
		*out = s;
		return TK_OK;
	}
	has_next = tk_sandbox_give_up(s);
	tk_sandbox_free(s);
	return has_next ? tk_sandbox_new(policy, out, err) : status;
}

void tk_sandbox_free(struct tk_sandbox *s)
{
	if (!s)
		return;
	tk_names_free(s->prefix, s->prefix_count);
	tk_sandbox_free_paths(s->launcher);
	free(s->program);
	const int fds[] = {s->report_read, s->report_write, s->ruleset};
	for (size_t i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(s);
}

bool tk_sandbox_has_mounts(const struct tk_sandbox *s)
{
	return s && s->method == TK_SANDBOX_BUBBLEWRAP;
}

/* ---- the program inside ---- */

static const char *read_report(struct tk_sandbox *s)
{
	size_t len = strlen(s->report);
	ssize_t n;

	while (len < sizeof s->report - 1 && s->report_read >= 0 &&
	        (n = read(s->report_read, s->report + len, sizeof s->report - 1 - len)) > 0)
		len += (size_t)n;
	s->report[len] = '\0';
	return s->report;
}

#define SHELL_EXIT_CODE 7 /* as in the script */

/* Whether the same sandbox, but for its report, starts a shell. Whatever the caller's program is,
 * it has no part in the answer. */
static bool starts_shell(const struct tk_sandbox *s)
{
	const char *const tail[] = {"--", "/bin/sh", "-c", "exit 7", NULL};
	const size_t n = s->prefix_count - TK_SANDBOX_REPORT_OPTIONS;
	const char **argv = tk_calloc(n + 5, sizeof *argv);
	const struct tk_process_spec spec = {.argv = argv, .deadline_s = 10};
	AUTO(tk_process_result) result = {0};
	bool started;

	for (size_t i = 0; i < n; i++)
		argv[i] = s->prefix[i];
	memcpy(argv + n, tail, sizeof tail);
	started = !tk_process_run(&spec, &result, NULL) && result.exit_code == SHELL_EXIT_CODE;
	free(argv);
	return started;
}

/* Bubblewrap reports no exit code of a program that is hidden, or whose interpreter does not exist,
 * either: such a program must not cost the others their sandbox. */
bool tk_sandbox_has_failed(struct tk_sandbox *s)
{
	return s && s->method == TK_SANDBOX_BUBBLEWRAP &&
	       !strstr(read_report(s), "\"exit-code\"") && !starts_shell(s);
}

bool tk_sandbox_give_up(const struct tk_sandbox *s)
{
	int method = (int)s->method;

	if (configured == TK_SANDBOX_REQUIRED && s->method <= TK_SANDBOX_LANDLOCK)
		return false;
	if (atomic_compare_exchange_strong(&best, &method, method - 1))
		tk_log(TK_LOG_WARN, "sandbox_failed", NULL,
		        "the sandbox (%s) failed to start a program; going on with: %s",
		        method_names[s->method], method_names[s->method - 1]);
	return true;
}

static pid_t find_child(pid_t parent)
{
	char path[64];
	AUTO(tk_buf) text = TK_BUF_INIT;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
	tk_file_read(path, 4096, &text, NULL);
	return (pid_t)strtol(tk_buf_cstr(&text), NULL, 10);
}

pid_t tk_sandbox_find_program(struct tk_sandbox *s, pid_t child)
{
	const char *at;
	long first;

	if (!s || s->method != TK_SANDBOX_BUBBLEWRAP)
		return child;
	at = s->program_pid ? NULL : strstr(read_report(s), "\"child-pid\": ");
	first = at ? strtol(at + 13, NULL, 10) : 0;
	/* The first process of the namespace waits for the program, its only child so far. */
	if (first > 0)
		s->program_pid = find_child((pid_t)first);
	return s->program_pid > 0 ? s->program_pid : child;
}

int tk_sandbox_wait_status(const struct tk_sandbox *s, int status)
{
	if (!s || s->method != TK_SANDBOX_BUBBLEWRAP || !WIFEXITED(status) ||
	        WEXITSTATUS(status) <= 128 || WEXITSTATUS(status) > 128 + 64)
		return status;
	return W_EXITCODE(0, WEXITSTATUS(status) - 128);
}
