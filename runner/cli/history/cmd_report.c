/* `tracker report`: the state of the history as text, Markdown or one HTML file. */
#include "base/try.h"
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "cli/markup.h"
#include "cli/options.h"
#include "cli/records.h"
#include "cli/when.h"
#include "config/config.h"
#include "site_gen/report/report.h"

static struct arguments {
	const char *night, *since;
	enum tk_document_format format;
} opt;

static const struct tk_option options[] = {
        {TK_OPT_WORD(
                "format", 0, "text|md|html", &opt.format, "Write text (the default), md or html")},
        {TK_OPT_TEXT("night", 0, "NIGHT", &opt.night,
                 "Report what changed in this night: a number, the start of an identifier, or "
                 "last"),
                .excludes = "since"},
        {TK_OPT_TEXT("since", 0, "WHEN", &opt.since,
                "Report all changes from then on: a date, or a duration such as 7d")},
        {0},
};

static int find_period(const struct arguments *a, struct tk_store *store,
        struct tk_report_options *report, struct tk_error *err)
{
	if (a->since)
		return tk_when_parse(a->since, report->now_s, false, &report->period.since_s, err);
	return a->night ? tk_records_find_night(store, a->night, &report->period.night_id, err)
	                : TK_OK;
}

static int run_report(struct tk_globals *g, struct tk_error *err)
{
	AUTO(tk_buf) out = TK_BUF_INIT;
	struct tk_report_options report = {.title = g->config->site_title,
	        .tie = g->config->site_tie,
	        .now_s = tk_clock_now_s(),
	        .format = opt.format};

	TRY(find_period(&opt, g->store, &report, err));
	TRY(tk_report_write(g->store, &report, &out, err));
	return tk_markup_write(&out, stdout, err);
}

const struct tk_command tk_command_report = {.name = "report",
        .summary = "write a report of changes, best backends and statistics",
        .usage = {.options = options,
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
