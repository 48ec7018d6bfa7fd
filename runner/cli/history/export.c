/* `tracker export`: writes the runs of nights with everything that identifies them. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signature.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/records.h"
#include "cli/when.h"
#include "config/config.h"
#include "store/store.h"

static struct export_options {
	const char *since, *night, *output;
	enum tk_record_format format;
} opt = {.format = TK_RECORD_NDJSON};

static const struct tk_option options[] = {
        {TK_OPT_WORD("format", 'f', "ndjson|json|csv", &opt.format,
                "Write importable ndjson (default), JSON or CSV")},
        {TK_OPT_TEXT("night", 0, "NIGHT", &opt.night,
                "Write only one night: its number, the first digits of its id (`tracker log`), "
                "or `last`")},
        {TK_OPT_TEXT("output", 'o', "FILE", &opt.output,
                "Write to FILE instead of the standard output")},
        {TK_OPT_TEXT(
                "since", 's', "TIME", &opt.since, "Write only nights since TIME: 7d, 2026-11-21")},
        {0},
};

/* key: that signs the file; NULL: none. */
static int export(
        struct tk_store *s, const struct export_options *o, const char *key, struct tk_error *err)
{
	int64_t since_s = INT64_MIN, night_id = 0;
	int fd, status = 0;

	if (o->since && (status = tk_when_parse(o->since, tk_clock_now_s(), false, &since_s, err)))
		tk_error_add_context(err, "--since");
	if (!status && o->night)
		status = tk_records_find_night(s, o->night, &night_id, err);
	if (status)
		return status;
	fd = o->output ? open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
	               : STDOUT_FILENO;
	status = fd < 0 ? tk_fail_errno(err, "%s", o->output)
	                : tk_store_export_records(s, since_s, night_id, o->format, fd, err);
	if (fd >= 0 && o->output && close(fd) != 0 && !status)
		status = tk_fail_errno(err, "%s", o->output);
	return status || !o->output ? status : tk_signature_write(key, o->output, err);
}

static int run_export(struct tk_globals *g, struct tk_error *err)
{
	return export(g->store, &opt, g->config->signing.key, err);
}

const struct tk_command tk_command_export = {.name = "export",
        .summary = "write runs for other programs and machines",
        .usage = {.options = options,
                .help = "Write the runs of nights with everything that identifies them: one "
                        "record for each point, and for each run without a value.\v"
                        "All formats have the same fields. `tracker import` reads the ndjson of "
                        "whole nights on another machine.\n\n"
                        "Examples:\n"
                        "  tracker export --night=last --output=night.ndjson\n"
                        "  tracker export --since=30d --format=csv --output=month.csv\n"
                        "  tracker export --format=json | jq '.[] | [.series.slug, "
                        ".measurement.value]'"},
        .opens = TK_OPENS_READ,
        .run = run_export};
