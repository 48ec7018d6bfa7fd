/* `tracker site`: renders the dashboard from the history. */
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "base/process.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "config/config.h"
#include "site_gen/report/report.h"
#include "site_gen/site.h"
#include "store/store.h"

static struct {
	const char *out, *title, *base_url;
	bool open, watch;
} opt;

static const struct tk_option options[] = {
        {TK_OPT_PARSED("base-url", 0, "URL", tk_option_parse_url, &opt.base_url,
                "Set the public address of the site, which feed.xml needs (default: site.url)")},
        {TK_OPT_FLAG("open", 0, &opt.open, "Open the site with xdg-open afterwards")},
        {TK_OPT_TEXT(
                "output", 'o', "DIR", &opt.out, "Write the site to DIR (default: paths.site)")},
        {TK_OPT_TEXT(
                "title", 0, "TEXT", &opt.title, "Set the title of the site (default: site.title)")},
        {TK_OPT_FLAG("watch", 'w', &opt.watch,
                "Write the site again whenever the history changes, until interrupted")},
        {0},
};

/* A failure to open the browser does not change the exit code. The browser gets its own session,
 * because the process group of our child is killed with it, and the variables of the user's session
 * that it needs, which our children do not inherit. */
static void open_browser(const char *index)
{
	static const char *const names[] = {"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
	        "XDG_RUNTIME_DIR", "XDG_CURRENT_DESKTOP", "DBUS_SESSION_BUS_ADDRESS", "BROWSER"};
	const char *argv[] = {"setsid", "--fork", "--wait", "xdg-open", index, NULL};
	char *session[sizeof names / sizeof *names + 1] = {NULL}, **end = session;
	struct tk_process_spec spec = {.argv = argv,
	        .env = (const char *const *)session,
	        .deadline_s = 3,
	        .log_path = "/dev/null"};
	AUTO(tk_process_result) result = {0};
	AUTO_TEXT found = NULL;
	struct tk_error err = {0};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (getenv(names[i]))
			*end++ = tk_sprintf("%s=%s", names[i], getenv(names[i]));
	if (!tk_process_find_program("xdg-open", &found))
		tk_fail(&err, TK_ENOTFOUND, "xdg-open is not installed");
	else if (!tk_process_run(&spec, &result, &err) &&
	         !result.timed_out) /* some xdg-open run as long as the browser */
		tk_process_check(&spec, &result, &err);
	if (err.status)
		tk_log(TK_LOG_WARN, "open_failed", NULL, "could not open the site: %s",
		        err.message);
	while (end > session)
		free(*--end);
}

static int write_site(const struct tk_globals *g, struct tk_store *store, struct tk_error *err)
{
	const struct tk_config *config = g->config;
	struct tk_site_report report;
	AUTO_TEXT templates = tk_path_join(tk_path_data_dir(), "templates");
	AUTO_TEXT dir = tk_path_make_absolute(opt.out ? opt.out : config->site_dir);
	AUTO_TEXT index = tk_path_join(dir, "index.html");
	struct tk_site_options site = {
	        .out_dir = dir,
	        .templates_dir = templates,
	        .title = opt.title ? opt.title : config->site_title,
	        .base_url = opt.base_url       ? opt.base_url
	                    : config->site_url ? config->site_url
	                                       : "",
	        .tie = config->site_tie,
	        .now_s = tk_clock_now_s(),
	};

	TRY(tk_site_write(store, &site, &report, err));
	if (!g->quiet)
		printf("%zu pages, %zu files (%zu written), %.1f MB in %.2f s\n", report.pages,
		        report.files, report.files_written, (double)report.bytes * 1e-6,
		        report.wall_s);
	puts(index);
	if (opt.open)
		open_browser(index);
	return TK_OK;
}

/* Changes with the database and with its write-ahead log. */
static int64_t read_state(const char *path)
{
	AUTO_TEXT wal = tk_sprintf("%s-wal", path);
	int64_t state = 0;
	struct stat st;

	if (!stat(path, &st))
		state = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec + st.st_size;
	if (!stat(wal, &st))
		state += st.st_mtim.tv_sec * 31 + st.st_mtim.tv_nsec + st.st_size;
	return state;
}

/* Reopens the store, because the file may have been replaced. */
static int write_changed(const struct tk_globals *g, const char *path)
{
	AUTO_PTR(tk_store) store = NULL;
	struct tk_error err = {0};
	int status = tk_store_open(path, TK_STORE_READ, &store, &err);

	if (!status)
		status = write_site(g, store, &err);
	return status ? tk_command_fail("site", &err) : TK_OK;
}

/* A night writes in bursts: write the site when nothing has changed for a second. After a failure
 * it is tried again. The signals that end it arrive only between two sites. */
static void watch_site(const struct tk_globals *g, const char *path)
{
	int64_t shown = read_state(path), before = shown;
	const struct timespec pause = {.tv_sec = 1};
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	opt.open = false;
	for (;;) {
		fflush(stdout);
		if (sigtimedwait(&ends, NULL, &pause) > 0)
			return;
		int64_t now = read_state(path);
		if (now != shown && now == before && write_changed(g, path) == TK_EXIT_OK)
			shown = now;
		before = now;
	}
}

static int run_site(struct tk_globals *g, struct tk_error *err)
{
	TRY(write_site(g, g->store, err));
	if (opt.watch)
		watch_site(g, tk_store_path(g->store));
	return TK_OK;
}

const struct tk_command tk_command_site = {.name = "site",
        .summary = "write the dashboard",
        .usage = {.options = options,
                .help = "Write the dashboard: a folder of static pages that opens from the disk "
                        "and from any web host.\v"
                        "Only files whose content has changed are written, and the old site "
                        "stays until the new one is complete. `tracker nightly` does this at its "
                        "end.\n\n"
                        "Examples:\n"
                        "  tracker site\n"
                        "  tracker site --output=public --base-url=https://example.org/kernels\n"
                        "  tracker site --watch"},
        .opens = TK_OPENS_READ,
        .run = run_site};

/* `tracker report`: the state of the history as text, Markdown or one HTML file. */

static struct {
	const char *night, *since;
	enum tk_document_format format;
} report_opt;

static const struct tk_option report_options[] = {
        {TK_OPT_WORD("format", 0, "text|md|html", &report_opt.format,
                "Write text (the default), md or html")},
        {TK_OPT_TEXT("night", 0, "NIGHT", &report_opt.night,
                 "Report what changed in this night: a number, the start of an identifier, or "
                 "last"),
                .excludes = "since"},
        {TK_OPT_TEXT("since", 0, "WHEN", &report_opt.since,
                "Report all changes from then on: a date, or a duration such as 7d")},
        {0},
};

static int run_report(struct tk_globals *g, struct tk_error *err)
{
	AUTO(tk_buf) out = TK_BUF_INIT;
	AUTO_TEXT templates = tk_path_join(tk_path_data_dir(), "templates");
	struct tk_site_options site = {.templates_dir = templates,
	        .title = g->config->site_title,
	        .tie = g->config->site_tie,
	        .now_s = tk_clock_now_s()};

	if (report_opt.since) {
		int64_t now_s = site.now_s;

		TRY(tk_when_count_from_end(g->store, report_opt.since, NULL, &now_s, err));
		TRY(tk_when_parse(report_opt.since, now_s, false, &site.since_s, err));
	} else if (report_opt.night) {
		TRY(tk_records_find_night(g->store, report_opt.night, &site.night_id, err));
	}
	TRY(tk_report_write(g->store, &site, report_opt.format, &out, err));
	return tk_markup_write(&out, stdout, err);
}

const struct tk_command tk_command_report = {.name = "report",
        .summary = "write a report of changes, best backends and statistics",
        .usage = {.options = report_options,
                .help = "Write a report for people: the last night in a sentence, what changed "
                        "and which commit did it, open alerts, the machines, the fastest backend "
                        "of each key problem with its share of the peak, and statistics of every "
                        "kernel and backend.\v"
                        "Without --night and --since, the newest analysed night of each machine "
                        "is reported. --format=html is one file without links to others, for an "
                        "e-mail; api/summary.md of the site is the report in Markdown.\n\n"
                        "Examples:\n"
                        "  tracker report\n"
                        "  tracker report --since=7d --format=md\n"
                        "  tracker report --night=last --format=html >report.html"},
        .opens = TK_OPENS_READ,
        .run = run_report};
