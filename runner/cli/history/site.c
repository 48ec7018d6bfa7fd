/* `tracker site`: renders the dashboard from the history. */
#include "cli/commands.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "config/config.h"
#include "site_gen/site.h"
#include "store/store.h"

enum { OPT_BASE_URL = 256, OPT_OPEN, OPT_TITLE };

struct arguments {
	const char *out, *title, *base_url;
	bool open, watch;
};

static const struct argp_option options[] = {
        {"base-url", OPT_BASE_URL, "URL", 0,
                "Set the public address of the site, which feed.xml needs (default: site.url)", 0},
        {"open", OPT_OPEN, 0, 0, "Open the site with xdg-open afterwards", 0},
        {"output", 'o', "DIR", 0, "Write the site to DIR (default: paths.site)", 0},
        {"out", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0},
        {"title", OPT_TITLE, "TEXT", 0, "Set the title of the site (default: site.title)", 0},
        {"watch", 'w', 0, 0, "Write the site again whenever the history changes, until interrupted",
                0},
        {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'o':
		a->out = arg;
		return 0;
	case OPT_TITLE:
		a->title = arg;
		return 0;
	case OPT_BASE_URL:
		if (strncmp(arg, "https://", 8) && strncmp(arg, "http://", 7))
			argp_error(state,
			        "--base-url=%s: expected an address that begins with https:// or "
			        "http://",
			        arg);
		a->base_url = arg;
		return 0;
	case 'w':
		a->watch = true;
		return 0;
	case OPT_OPEN:
		a->open = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp tk_argp_site = {
        .options = options,
        .parser = parse_option,
        .doc = "Write the dashboard: a folder of static pages that opens from the disk and from "
               "any web host.\v"
               "Only files whose content has changed are written, and the old site stays until the "
               "new one is complete. "
               "`tracker nightly` does this at its end.\n\n"
               "Examples:\n"
               "  tracker site\n"
               "  tracker site --output=public --base-url=https://example.org/kernels\n"
               "  tracker site --watch",
};

#define SESSION_MAX 8

/* The variables of the user's session that a browser needs; our children do not inherit them. */
static void read_session(char *variables[SESSION_MAX + 1])
{
	static const char *const names[] = {"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
	        "XDG_RUNTIME_DIR", "XDG_CURRENT_DESKTOP", "DBUS_SESSION_BUS_ADDRESS", "BROWSER"};
	size_t n = 0;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);

		if (value && asprintf(&variables[n], "%s=%s", names[i], value) >= 0)
			n++;
	}
	variables[n] = NULL;
}

/* A failure to open the browser does not change the exit code. The browser gets its own session,
 * because the process group of our child is killed with it. */
static void open_browser(const char *index)
{
	const char *argv[] = {"setsid", "--fork", "--wait", "xdg-open", index, NULL};
	char *session[SESSION_MAX + 1], *found = NULL;
	struct tk_process_spec spec = {.argv = argv,
	        .env = (const char *const *)session,
	        .deadline_s = 3,
	        .log_path = "/dev/null"};
	struct tk_process_result result = {0};
	struct tk_error err = {0};

	read_session(session);
	if (!tk_process_find_program("xdg-open", &found))
		tk_fail(&err, TK_ENOTFOUND, "xdg-open is not installed");
	else if (!tk_process_run(&spec, &result, &err) &&
	         !result.timed_out) /* some xdg-open run as long as the browser */
		tk_process_check(&spec, &result, &err);
	if (err.status)
		tk_log(TK_LOG_WARN, "open_failed", NULL, "could not open the site: %s",
		        err.message);
	tk_process_result_free(&result);
	for (char **v = session; *v; v++)
		free(*v);
	free(found);
}

static int write_site(const struct tk_globals *g, const struct arguments *a,
        const struct tk_config *config, struct tk_store *store)
{
	struct tk_site_report report;
	struct tk_error err;
	char *templates = tk_path_join(tk_path_data_dir(), "templates");
	char *dir = tk_path_make_absolute(a->out ? a->out : config->site_dir),
	     *index = dir ? tk_path_join(dir, "index.html") : NULL;
	struct tk_site_options site = {
	        .out_dir = dir,
	        .templates_dir = templates,
	        .title = a->title ? a->title : config->site_title,
	        .base_url = a->base_url        ? a->base_url
	                    : config->site_url ? config->site_url
	                                       : "",
	        .tie = config->site_tie,
	        .now_s = tk_clock_now_s(),
	};
	int status = templates && index ? tk_site_write(store, &site, &report, &err)
	                                : tk_fail(&err, TK_ENOMEM, "out of memory");
	int code = status ? tk_command_fail("site", &err) : TK_EXIT_OK;

	if (!status) {
		if (!g->quiet)
			printf("%zu pages, %zu files (%zu written), %.1f MB in %.2f s\n",
			        report.pages, report.files, report.files_written,
			        (double)report.bytes * 1e-6, report.wall_s);
		puts(index);
		if (a->open)
			open_browser(index);
	}
	free(templates);
	free(index);
	free(dir);
	return code;
}

/* Changes with the database and with its write-ahead log. */
static int64_t read_state(const char *path)
{
	char *wal = NULL;
	int64_t state = 0;
	struct stat st;

	if (asprintf(&wal, "%s-wal", path) < 0)
		return 0;
	if (!stat(path, &st))
		state = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec + st.st_size;
	if (!stat(wal, &st))
		state += st.st_mtim.tv_sec * 31 + st.st_mtim.tv_nsec + st.st_size;
	free(wal);
	return state;
}

/* Blocks the signals that end --watch, so that they arrive only between two sites. */
static void signals_of_watch(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigprocmask(SIG_BLOCK, set, NULL);
}

/* Reopens the store, because the file may have been replaced. */
static int write_changed(const struct tk_globals *g, const struct arguments *a,
        const struct tk_config *config, const char *path)
{
	struct tk_store *store;
	struct tk_error err;
	int code;

	if (tk_store_open(path, TK_STORE_READ, &store, &err))
		return tk_command_fail("site", &err);
	code = write_site(g, a, config, store);
	tk_store_close(store);
	return code;
}

/* A night writes in bursts: write the site when nothing has changed for a second. After a failure
 * it is tried again. */
static void watch_site(const struct tk_globals *g, struct arguments *a,
        const struct tk_config *config, const char *path)
{
	int64_t shown = read_state(path), before = shown;
	const struct timespec pause = {.tv_sec = 1};
	sigset_t ends;

	signals_of_watch(&ends);
	a->open = false;
	for (;;) {
		fflush(stdout);
		if (sigtimedwait(&ends, NULL, &pause) > 0)
			return;
		int64_t now = read_state(path);
		if (now != shown && now == before &&
		        write_changed(g, a, config, path) == TK_EXIT_OK)
			shown = now;
		before = now;
	}
}

int tk_cmd_site(const struct tk_globals *g, int argc, char **argv)
{
	struct arguments a = {0};
	struct tk_config *config;
	struct tk_store *store;
	int code;

	tk_command_parse(&tk_argp_site, argc, argv, &a);
	code = tk_command_open(g, "site", TK_STORE_READ, &config, &store);
	if (code)
		return code;
	code = write_site(g, &a, config, store);
	if (code == TK_EXIT_OK && a.watch)
		watch_site(g, &a, config, tk_store_path(store));
	tk_command_close(config, store);
	return code;
}
