/* `tracker export`: writes the runs of nights with everything that identifies them. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signature.h"
#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/options.h"
#include "cli/when.h"
#include "config/config.h"
#include "store/store.h"

enum { OPT_NIGHT = 256 };

struct export_options {
	const char *since, *night, *output;
	enum tk_record_format format;
};

#define FORMATS "ndjson|json|csv" /* in the order of `formats` */

static const struct argp_option options[] = {
        {"format", 'f', FORMATS, 0, "Write importable ndjson (default), JSON or CSV", 1},
        {"night", OPT_NIGHT, "NIGHT", 0,
                "Write only one night: its number, the first digits of its id (`tracker log`), or "
                "`last`",
                1},
        {"output", 'o', "FILE", 0, "Write to FILE instead of the standard output", 1},
        {"since", 's', "TIME", 0, "Write only nights since TIME: 7d, 2026-11-21", 1},
        {0},
};

static const enum tk_record_format formats[] = {TK_RECORD_NDJSON, TK_RECORD_JSON, TK_RECORD_CSV};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct export_options *o = state->input;

	switch (key) {
	case 's':
		o->since = arg;
		return 0;
	case OPT_NIGHT:
		o->night = arg;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case 'f':
		o->format = formats[tk_option_parse_choice(arg, "format", FORMATS, state)];
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_export = {options, parse_option, NULL,
        "Write the runs of nights with everything that identifies them: one record for each point, "
        "and for each run without a value.\v"
        "All formats have the same fields. `tracker import` reads the ndjson of whole nights on "
        "another machine.\n\n"
        "Examples:\n"
        "  tracker export --night=last --output=night.ndjson\n"
        "  tracker export --since=30d --format=csv --output=month.csv\n"
        "  tracker export --format=json | jq '.[] | [.series.slug, .measurement.value]'"};

static int choose_night(struct tk_store *s, const char *text, int64_t *id, struct tk_error *err)
{
	struct tk_rows nights;
	const struct tk_night_row *night = NULL;
	int status = tk_store_list_nights(s, &nights, err);

	if (status)
		return status;
	status = tk_lookup_find_night(&nights, text, &night, err);
	if (!status)
		*id = night->id;
	tk_rows_free(&nights);
	return status;
}

/* key: that signs the file; NULL: none. */
static int export(
        struct tk_store *s, const struct export_options *o, const char *key, struct tk_error *err)
{
	int64_t since_s = INT64_MIN, night_id = 0;
	int fd, status = 0;

	if (o->since && (status = tk_when_parse(o->since, tk_clock_now_s(), false, &since_s, err)))
		tk_error_add_context(err, "--since");
	if (!status && o->night)
		status = choose_night(s, o->night, &night_id, err);
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

int tk_cmd_export(const struct tk_globals *g, int argc, char **argv)
{
	struct export_options o = {.format = TK_RECORD_NDJSON};
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	struct tk_error err = {0};
	int code;

	tk_command_parse(&tk_argp_export, argc, argv, &o);
	code = tk_command_open(g, "export", TK_STORE_READ, &config, &store);
	if (code)
		return code;
	if (export(store, &o, config->signing.key, &err))
		code = tk_command_fail("export", &err);
	tk_command_close(config, store);
	return code;
}
