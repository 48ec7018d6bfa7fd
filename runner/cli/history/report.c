/* `tracker report`: the state of the history as text, Markdown or one HTML file. */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "cli/lookup.h"
#include "cli/markup.h"
#include "cli/options.h"
#include "cli/when.h"
#include "config/config.h"
#include "site_gen/report/report.h"

enum { OPT_FORMAT = 256, OPT_NIGHT, OPT_SINCE };

struct arguments {
	const char *night, *since;
	enum tk_document_format format;
};

static const struct argp_option options[] = {
        {"format", OPT_FORMAT, "FORMAT", 0, "Write text (the default), md or html", 0},
        {"night", OPT_NIGHT, "NIGHT", 0,
                "Report what changed in this night: a number, the start of an identifier, or last",
                0},
        {"since", OPT_SINCE, "WHEN", 0,
                "Report all changes from then on: a date, or a duration such as 7d", 0},
        {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_FORMAT:
		tk_option_parse_choice(arg, "format", "text|md|html", state);
		a->format = tk_document_format_parse(arg);
		return 0;
	case OPT_NIGHT:
		a->night = arg;
		return 0;
	case OPT_SINCE:
		a->since = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", arg);
		return EINVAL;
	case ARGP_KEY_END:
		if (a->night && a->since)
			argp_error(state, "--night and --since exclude each other");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp tk_argp_report = {
        .options = options,
        .parser = parse_option,
        .doc = "Write a report for people: the last night in a sentence, what changed and which "
               "commit did it, open alerts, the machines, the fastest backend of each key problem "
               "with its share of the peak, and statistics of every kernel and backend.\v"
               "Without --night and --since, the newest analysed night of each machine is "
               "reported. --format=html is one file without links to others, for an e-mail; "
               "api/summary.md of the site is the report in Markdown.\n\n"
               "Examples:\n"
               "  tracker report\n"
               "  tracker report --since=7d --format=md\n"
               "  tracker report --night=last --format=html >report.html",
};

static int find_period(const struct arguments *a, struct tk_store *store,
        struct tk_report_options *report, struct tk_error *err)
{
	struct tk_rows nights = {0};
	const struct tk_night_row *night;
	int status = 0;

	if (a->since)
		status =
		        tk_when_parse(a->since, report->now_s, false, &report->period.since_s, err);
	if (status || !a->night)
		return status;
	status = tk_store_list_nights(store, &nights, err);
	if (!status)
		status = tk_lookup_find_night(&nights, a->night, &night, err);
	if (!status)
		report->period.night_id = night->id;
	tk_rows_free(&nights);
	return status;
}

int tk_cmd_report(const struct tk_globals *g, int argc, char **argv)
{
	struct arguments a = {0};
	struct tk_config *config;
	struct tk_store *store;
	struct tk_buf out = TK_BUF_INIT;
	struct tk_error err;
	int code;

	tk_command_parse(&tk_argp_report, argc, argv, &a);
	code = tk_command_open(g, "report", TK_STORE_READ, &config, &store);
	if (code)
		return code;
	struct tk_report_options report = {.title = config->site_title,
	        .tie = config->site_tie,
	        .now_s = tk_clock_now_s(),
	        .format = a.format};
	int status = find_period(&a, store, &report, &err);
	if (!status)
		status = tk_report_write(store, &report, &out, &err);
	if (!status)
		status = tk_markup_write(&out, stdout, &err);
	if (status)
		code = tk_command_fail("report", &err);
	tk_buf_free(&out);
	tk_command_close(config, store);
	return code;
}
