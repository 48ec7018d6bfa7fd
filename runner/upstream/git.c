/* The git command in a scrubbed environment: no prompts, no hooks, no transport helpers, always a
 * deadline. */
#include "upstream/git.h"
#include "base/process.h"

/* The user's configuration applies (credential helpers, ssh commands, LFS); these settings override
 * what could run code or prompt. */
static const char *const safe_options[] = {
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "protocol.ext.allow=never",
        "-c",
        "gc.auto=0",
        "-c",
        "maintenance.auto=false",
        "-c",
        "fetch.recurseSubmodules=false",
        "-c",
        "submodule.recurse=false",
        "-c",
        "core.quotePath=false",
        "-c",
        "log.showSignature=false",
        "-c",
        "i18n.logOutputEncoding=UTF-8",
        "-c",
        "advice.detachedHead=false",
        "-c",
        "color.ui=false",
};
#define SAFE_COUNT (sizeof(safe_options) / sizeof(*safe_options))

static const char *const sparse_options[] = {
        "-c", "core.sparseCheckout=true", "-c", "core.sparseCheckoutCone=false"};
#define SPARSE_COUNT (sizeof(sparse_options) / sizeof(*sparse_options))

/* SSH does not prompt either: its askpass program fails. Local commands do not fetch objects that a
 * partial clone lacks. */
static const char *const network_env[] = {"GIT_TERMINAL_PROMPT=0",
        "GIT_ASKPASS=", "SSH_ASKPASS=/bin/false", "SSH_ASKPASS_REQUIRE=force",
        "GIT_OPTIONAL_LOCKS=0", NULL};
static const char *const local_env[] = {"GIT_TERMINAL_PROMPT=0",
        "GIT_ASKPASS=", "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=none", "GIT_PAGER=cat", NULL};

static size_t put_options(const struct tk_git *git, const char **argv)
{
	size_t n = 0;
	argv[n++] = "git";
	for (size_t i = 0; i < SAFE_COUNT; i++)
		argv[n++] = safe_options[i];
	for (size_t i = 0; git->sparse && i < SPARSE_COUNT; i++)
		argv[n++] = sparse_options[i];
	return n;
}

/* Leaves the first line that is no warning: the reason. What follows it is its consequence ("could
 * not read from remote repository") or advice. */
static void keep_reason(struct tk_buf *text)
{
	static const char *const noise[] = {"warning: ", "hint: ", "Cloning into ", "Preparing "};
	char *line = text->data, *end = line ? line + text->len : NULL;
	for (size_t i = 0; line && i < sizeof noise / sizeof *noise; i++)
		if (*line == '\n' || !strncmp(line, noise[i], strlen(noise[i]))) {
			char *next = strchr(line, '\n');
			line = next && next + 1 < end ? next + 1 : NULL;
			i = (size_t)-1; /* the next line, from the first word again */
		}
	if (!line)
		return;
	text->len = strcspn(line, "\n");
	memmove(text->data, line, text->len);
	text->data[text->len] = '\0';
}

/* "git fetch" of "git -c ... fetch ...", for messages. */
static int describe(const struct tk_process_spec *spec, size_t first_arg,
        struct tk_process_result *result, struct tk_error *err)
{
	const char *const short_argv[] = {"git", spec->argv[first_arg], NULL};
	struct tk_process_spec shown = *spec;
	shown.argv = short_argv;
	keep_reason(&result->err);
	return tk_process_check(&shown, result, err);
}

static int run(const struct tk_git *git, const char *const *args, int *code, struct tk_buf *out,
        struct tk_error *err)
{
	const char *argv[SAFE_COUNT + SPARSE_COUNT + TK_GIT_ARGS_MAX + 5];
	const size_t first = put_options(git, argv);
	size_t n = first;
	for (size_t i = 0; args[i]; i++) {
		if (i == TK_GIT_ARGS_MAX)
			return tk_fail(err, TK_EINTERNAL, "git: too many arguments");
		argv[n++] = args[i];
	}
	argv[n] = NULL;
	const struct tk_process_spec spec = {.argv = argv,
	        .cwd = git->dir,
	        .deadline_s = git->deadline_s,
	        .env = git->mode == TK_GIT_LOCAL ? local_env : network_env,
	        .capture_max = git->capture_max,
	        .for_network = true}; /* the configuration, without a network too */
	AUTO(tk_process_result) result = {0};
	int status = tk_process_run(&spec, &result, err);
	if (status == TK_ENOTFOUND) {
		status = tk_fail(err, TK_ENOTFOUND,
		        "the git command is not installed, or %s is gone",
		        git->dir ? git->dir : "the folder");
		goto out;
	}
	if (status)
		goto out;
	if (!code || result.timed_out || result.signal)
		status = describe(&spec, first, &result, err);
	else
		*code = result.exit_code;
	if (!status && out) {
		struct tk_buf swap = *out;
		*out = result.out;
		result.out = swap;
	}
out:
	return status;
}

int tk_git_run(
        const struct tk_git *git, const char *const *args, struct tk_buf *out, struct tk_error *err)
{
	return run(git, args, NULL, out, err);
}

int tk_git_query(const struct tk_git *git, const char *const *args, int *code, struct tk_buf *out,
        struct tk_error *err)
{
	return run(git, args, code, out, err);
}

/* ---- user input ---- */

static bool has_control(const char *s)
{
	for (; *s; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	}
	return false;
}

static int check_word(const char *what, const char *word, struct tk_error *err)
{
	if (!word || !*word)
		return tk_fail(err, TK_ECONFIG, "the %s is empty", what);
	if (word[0] == '-')
		return tk_fail(err, TK_ECONFIG, "the %s \"%.80s\" starts with \"-\"", what, word);
	if (has_control(word))
		return tk_fail(err, TK_ECONFIG, "the %s contains control characters", what);
	if (strlen(word) > 4096)
		return tk_fail(err, TK_ECONFIG, "the %s is longer than 4096 bytes", what);
	return TK_OK;
}

/* "ext::sh -c ..." and other "helper::address" forms run programs. */
int tk_git_check_url(const char *url, struct tk_error *err)
{
	if (check_word("url", url, err))
		return TK_ECONFIG;
	const char *helper = strstr(url, "::");
	if (helper && !memchr(url, '/', (size_t)(helper - url)))
		return tk_fail(err, TK_ECONFIG,
		        "the url \"%.80s\" names a transport helper; expected https, ssh, git, "
		        "file or a path",
		        url);
	return TK_OK;
}

/* The rules of git-check-ref-format(1) that protect the command line; git checks the others. */
int tk_git_check_branch(const char *branch, struct tk_error *err)
{
	if (check_word("branch", branch, err))
		return TK_ECONFIG;
	if (strlen(branch) > 255)
		return tk_fail(err, TK_ECONFIG, "the branch name is longer than 255 bytes");
	if (strpbrk(branch, " ~^:?*[\\") || strstr(branch, "..") || strstr(branch, "@{"))
		return tk_fail(err, TK_ECONFIG, "\"%.80s\" is not a branch name", branch);
	return TK_OK;
}

int tk_git_check_rev(const char *rev, struct tk_error *err)
{
	if (check_word("revision", rev, err))
		return TK_ECONFIG;
	if (strstr(rev, ".."))
		return tk_fail(err, TK_ECONFIG, "\"%.80s\" is a range; expected one revision", rev);
	return TK_OK;
}

bool tk_git_url_is_local(const char *url)
{
	if (!strncmp(url, "file://", 7))
		return true;
	if (strstr(url, "://"))
		return false;
	const char *colon = strchr(url, ':'); /* host:path is ssh, unless a slash comes first */
	return !colon || memchr(url, '/', (size_t)(colon - url)) != NULL;
}
