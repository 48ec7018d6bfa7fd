/* `tracker log`: lists the nights, or shows one in full. */
#include "cli/history/log.h"
#include "base/try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "store/lock.h"

static struct tk_log_options opt = {.limit = 20};

static const struct tk_option options[] = {
        {TK_OPT_FLAG("failed", 0, &opt.failed, "List only nights that are not complete")},
        {TK_OPT_JSON(&opt.json, "Print text (default) or JSON")},
        {TK_OPT_COUNT("limit", 'n', "N", 0, 1e9, &opt.limit,
                "List at most N nights (default: 20; 0: all)")},
        {TK_OPT_ARGUMENT(&opt.night, NULL)},
        {0},
};

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

static int run_log(struct tk_globals *g, struct tk_error *err)
{
	AUTO(tk_lookup) lookup = {0};
	AUTO(tk_rows) nights = {0};
	const struct tk_night_row *night;

	TRY(tk_lookup_load(g->store, &lookup, err));
	TRY(tk_store_list(g->store, TK_TABLE_night, NULL, TK_NO_ARGS, &nights, err));
	tk_store_mark_stopped(g->store, &nights);
	if (!opt.night)
		return list_nights(g->store, g, &opt, &nights, &lookup, err);
	TRY(tk_lookup_find_night(&nights, opt.night, &night, err));
	return tk_log_print_night(g->store, g, &opt, night, &lookup, err);
}

const struct tk_command tk_command_log = {.name = "log",
        .summary = "list the nights and how they ended",
        .usage = {.options = options,
                .arguments = "[NIGHT]",
                .surplus = "expected one night",
                .help = "List the nights, newest first, and how they ended; or show NIGHT in "
                        "full: its stages, its upstreams and every failure.\v"
                        "NIGHT is a number, the first digits of an id (the last column), or "
                        "`last`. A night that was killed is `stopped`; `tracker nightly "
                        "--resume` continues it.\n\n"
                        "Examples:\n"
                        "  tracker log --limit=5\n"
                        "  tracker log --failed\n"
                        "  tracker log --format=json | jq '.[0].jobs'\n"
                        "  tracker log 3\n"
                        "  tracker log last"},
        .opens = TK_OPENS_READ,
        .run = run_log};
