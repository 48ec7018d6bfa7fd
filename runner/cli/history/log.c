/* `tracker log`: lists the nights, or shows one in full. */
#include "cli/history/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "store/lock.h"

enum { OPT_FAILED = 256 };

static const struct argp_option options[] = {
        {"failed", OPT_FAILED, NULL, 0, "List only nights that are not complete", 1},
        {"format", 'f', "text|json", 0, "Print text (default) or JSON", 1},
        {"limit", 'n', "N", 0, "List at most N nights (default: 20; 0: all)", 1},
        {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct tk_log_options *o = state->input;

	switch (key) {
	case 'n':
		o->limit = tk_option_parse_count(arg, "limit", state);
		return 0;
	case OPT_FAILED:
		o->failed = true;
		return 0;
	case 'f':
		o->json = tk_option_parse_json(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (o->night)
			argp_error(state, "expected one night");
		o->night = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_log = {options, parse_option, "[NIGHT]",
        "List the nights, newest first, and how they ended; or show NIGHT in full: its stages, its "
        "upstreams and every failure.\v"
        "NIGHT is a number, the first digits of an id (the last column), or `last`. A night that "
        "was killed is `stopped`; `tracker nightly --resume` continues it.\n\n"
        "Examples:\n"
        "  tracker log --limit=5\n"
        "  tracker log --failed\n"
        "  tracker log --format=json | jq '.[0].jobs'\n"
        "  tracker log 3\n"
        "  tracker log last"};

static int list_nights(struct tk_store *s, const struct tk_globals *g,
        const struct tk_log_options *o, const struct tk_rows *nights, const struct tk_lookup *l,
        struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, tk_night_columns);
	json_t *array = o->json ? json_array() : NULL;
	size_t shown = 0;
	bool hint = false;
	int status = 0;

	for (size_t i = 0; i < nights->count && !status && (!o->limit || shown < o->limit); i++) {
		const struct tk_night_row *night = TK_ROWS_AT(nights, struct tk_night_row, i);
		struct tk_night_counts c;

		if (o->failed && night->status == TK_NIGHT_COMPLETE)
			continue;
		status = tk_night_count(s, night->id, &c, err);
		if (!status)
			status = tk_night_find_revision(s, night, l, &c, err);
		if (status)
			break;
		shown++;
		hint = hint || tk_night_can_resume(night);
		if (array)
			json_array_append_new(array, tk_night_json(night, &c, l));
		else
			tk_night_add_row(t, night, &c, l);
	}
	if (!status && o->json)
		status = tk_command_print_json(json_incref(array), err);
	else if (!status && !shown)
		puts(o->failed ? "No night failed." : "No nights yet.");
	else if (!status)
		status = tk_table_print(t, stdout, err);
	if (!status && hint && !o->json)
		printf("\n%s\n", tk_night_resume_hint);
	json_decref(array);
	tk_table_free(t);
	return status;
}

int tk_cmd_log(const struct tk_globals *g, int argc, char **argv)
{
	struct tk_log_options o = {.limit = 20};
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	struct tk_lookup lookup = {0};
	struct tk_rows nights = {0};
	struct tk_error err = {0};
	const struct tk_night_row *night = NULL;
	int status, code;

	tk_command_parse(&tk_argp_log, argc, argv, &o);
	code = tk_command_open(g, "log", TK_STORE_READ, &config, &store);
	if (code)
		return code;
	status = tk_lookup_load(store, &lookup, &err);
	if (!status)
		status = tk_store_list_nights(store, &nights, &err);
	if (!status)
		tk_store_mark_stopped(store, &nights);
	if (!status && o.night)
		status = tk_lookup_find_night(&nights, o.night, &night, &err);
	if (!status)
		status = night ? tk_log_print_night(store, g, &o, night, &lookup, &err)
		               : list_nights(store, g, &o, &nights, &lookup, &err);
	if (status)
		code = tk_command_fail("log", &err);
	tk_rows_free(&nights);
	tk_lookup_free(&lookup);
	tk_command_close(config, store);
	return code;
}
