/* See alerts.h. */
#include "cli/triage/alerts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/try.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "core/fields.h"
#include "decide/decide.h"
#include "store/kernel_report.h"
#include "store/query/code_facts.h"
#include "store/store.h"

static const char triage_sql[] = "SELECT alert_uid, action, author, at_s AS \"at:time\", note"
                                 " FROM triage ORDER BY at_s, uid";

static const char machine_sql[] = "SELECT ifnull((SELECT name FROM machine WHERE id = ?1), '')"
                                  "  AS machine,"
                                  "  ifnull((SELECT name FROM upstream WHERE id = ?2), '')"
                                  "  AS upstream,"
                                  "  (SELECT slug FROM series WHERE id = ?3) AS series";

/* ---- triage ---------------------------------------------------------------------------------- */

static bool is_about(const json_t *action, const json_t *alert)
{
	const char *uid = tk_record_text(action, "alert_uid");

	return strcmp(uid, tk_record_text(alert, "uid")) == 0 ||
	       strcmp(uid, tk_record_text(alert, "group_uid")) == 0;
}

/* The state that the newest decision leads to. An alert that ended by itself has recovered. */
static enum tk_triage_state find_state(
        const json_t *alert, const json_t *triage, const json_t **decision)
{
	enum tk_triage_state state = TK_TRIAGE_NEW;
	enum tk_triage_action action;
	const json_t *t;
	size_t i;

	json_array_foreach ((json_t *)triage, i, t)
		if (is_about(t, alert) &&
		        !tk_triage_action_parse(tk_record_text(t, "action"), &action) &&
		        tk_triage_action_state(action, &state))
			*decision = t;
	return strcmp(tk_record_text(alert, "status"), "closed") == 0 &&
	                       state != TK_TRIAGE_EXPECTED && state != TK_TRIAGE_IGNORED
	               ? TK_TRIAGE_RECOVERED
	               : state;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static double change_of(const json_t *alert)
{
	double change = fabs(tk_record_number(alert, "change.value"));

	return isnan(change) ? 0 : change;
}

static int by_group(const void *x, const void *y)
{
	const json_t *a = *(json_t *const *)x, *b = *(json_t *const *)y;
	int order = strcmp(tk_record_text(a, "group_uid"), tk_record_text(b, "group_uid"));
	double da = change_of(a), db = change_of(b);

	if (!order)
		order = (da < db) - (da > db);
	return order ? order : strcmp(tk_record_text(a, "uid"), tk_record_text(b, "uid"));
}

static int newest_first(const void *x, const void *y)
{
	const json_t *a = *(json_t *const *)x, *b = *(json_t *const *)y;
	int order = strcmp(tk_record_text(b, "opened"), tk_record_text(a, "opened"));

	return order ? order : strcmp(tk_record_text(a, "id"), tk_record_text(b, "id"));
}

/* A sorted copy. Frees `array`. */
static json_t *sort(json_t *array, int (*compare)(const void *, const void *))
{
	size_t count = json_array_size(array);
	json_t **items = calloc(count + 1, sizeof *items), *sorted = json_array();

	for (size_t i = 0; i < count; i++)
		items[i] = json_array_get(array, i);
	qsort(items, count, sizeof *items, compare);
	for (size_t i = 0; i < count; i++)
		json_array_append(sorted, items[i]);
	free(items);
	json_decref(array);
	return sorted;
}

static void add_machine(char *list, size_t size, const char *machine)
{
	size_t len = strlen(list);

	if (*machine && !strstr(list, machine))
		snprintf(list + len, size - len, "%s%s", len ? ", " : "", machine);
}

/* The history of a group: what people did with it or one of its alerts. */
static json_t *find_history(const json_t *alerts, const json_t *triage)
{
	json_t *history = json_array(), *t, *alert;
	size_t i, k;

	json_array_foreach ((json_t *)triage, i, t)
		json_array_foreach ((json_t *)alerts, k, alert)
			if (is_about(t, alert)) {
				json_array_append(history, t);
				break;
			}
	return history;
}

/* "openblas gemm 512 on box: +12.0 %", or of several: how many series, and the worst. */
static json_t *make_title(const json_t *alerts)
{
	const json_t *first = json_array_get(alerts, 0);
	const char *title = tk_record_text(first, "title");
	size_t count = json_array_size(alerts);

	if (count == 1)
		return json_string(title);
	return json_sprintf("%zu series, %s: %s", count,
	        strcmp(tk_record_text(first, "kind"), "change") == 0 ? "worst" : "including",
	        title);
}

/* A group is as urgent as its most urgent alert. */
static json_t *make_group(json_t *alerts, const json_t *triage)
{
	const json_t *first = json_array_get(alerts, 0), *decision = NULL, *link = NULL, *alert, *t;
	json_t *history = find_history(alerts, triage);
	enum tk_triage_state state = TK_TRIAGE_RECOVERED;
	const char *opened = tk_record_text(first, "opened");
	char machines[512] = "";
	bool open = false;
	size_t i;

	json_array_foreach (alerts, i, alert) {
		enum tk_triage_state own = find_state(alert, triage, &decision);

		json_object_set_new(
		        (json_t *)alert, "state", json_string(tk_triage_state_name(own)));
		state = !i || own < state ? own : state; /* they are listed by urgency */
		open = open || strcmp(tk_record_text(alert, "status"), "open") == 0;
		if (strcmp(tk_record_text(alert, "opened"), opened) < 0)
			opened = tk_record_text(alert, "opened");
		add_machine(machines, sizeof machines, tk_record_text(alert, "machine"));
	}
	json_array_foreach (history, i, t)
		if (strcmp(tk_record_text(t, "action"), "link") == 0)
			link = t;
	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "id",
	        tk_record_text(first, "group_uid"), "kind", tk_record_text(first, "kind"), "state",
	        tk_triage_state_name(state), "open", open, "title", make_title(alerts), "upstream",
	        tk_record_text(first, "upstream"), "machines", machines, "opened", opened, "link",
	        link ? json_string(tk_record_text(link, "note")) : json_null(), "decision",
	        decision ? json_incref((json_t *)decision) : json_null(), "history", history,
	        "alerts", alerts);
}

static json_t *make_groups(const json_t *alerts, const json_t *triage)
{
	json_t *groups = json_array();
	size_t count = json_array_size(alerts);

	for (size_t i = 0, end; i < count; i = end) {
		json_t *members = json_array();
		const char *uid = tk_record_text(json_array_get(alerts, i), "group_uid");

		for (end = i;
		        end < count &&
		        strcmp(tk_record_text(json_array_get(alerts, end), "group_uid"), uid) == 0;
		        end++)
			json_array_append(members, json_array_get(alerts, end));
		json_array_append_new(groups, make_group(members, triage));
	}
	return sort(groups, newest_first);
}

static bool has_alert(const json_t *alerts, const char *uid)
{
	const json_t *a;
	size_t i;

	json_array_foreach ((json_t *)alerts, i, a)
		if (strcmp(tk_record_text(a, "uid"), uid) == 0)
			return true;
	return false;
}

static int add_unwritten(struct tk_store *s, const struct tk_missing_data *m, int64_t now_s,
        json_t *alerts, struct tk_error *err)
{
	json_t *names, *alert;
	int status;

	if (has_alert(alerts, m->uid))
		return TK_OK;
	status = tk_records_select(
	        s, machine_sql, TK_ARGS(m->machine_id, m->upstream_id, m->series_id), &names, err);
	alert = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:n, s:n, s:n, s:n}",
	        "uid", m->uid, "group_uid", m->group_uid, "kind",
	        tk_alert_kind_name(TK_ALERT_MISSING_DATA), "status", "open", "title", m->title,
	        "cause", tk_cause_name(TK_CAUSE_MISSING_DATA), "good_rev", "", "bad_rev", "",
	        "opened", tk_time_to_json(now_s), "closed", "change", "ab_test",
	        "first_bad_commit");
	json_object_update(alert, json_array_get(names, 0));
	json_array_append_new(alerts, alert);
	json_decref(names);
	return status;
}

int tk_alerts_load(struct tk_store *s, const struct tk_detect_options *options, json_t **groups,
        struct tk_error *err)
{
	AUTO(tk_missing_data_list) missing = {0};
	json_t *alerts = NULL, *triage = NULL;
	int status = tk_records_select_alerts(s, "ORDER BY a.uid", TK_NO_ARGS, &alerts, err);

	if (!status)
		status = tk_records_select(s, triage_sql, TK_NO_ARGS, &triage, err);
	if (!status)
		status = tk_missing_data_find(s, options, &missing, err);
	for (size_t i = 0; !status && i < missing.count; i++)
		status = add_unwritten(s, &missing.at[i], options->now_s, alerts, err);
	alerts = sort(alerts, by_group);
	*groups = make_groups(alerts, triage);
	json_decref(alerts);
	json_decref(triage);
	return status;
}

int tk_alerts_find(const json_t *groups, const char *id, const json_t **group, const json_t **one,
        struct tk_error *err)
{
	size_t len = strlen(id), found = 0, i, k;
	const json_t *g, *alert;

	json_array_foreach ((json_t *)groups, i, g) {
		bool is_group = len && strncmp(tk_record_text(g, "id"), id, len) == 0;

		json_array_foreach (json_object_get(g, "alerts"), k, alert) {
			if (is_group ? k : strncmp(tk_record_text(alert, "uid"), id, len) != 0)
				continue;
			*group = g;
			*one = is_group ? NULL : alert;
			found += len > 0;
		}
	}
	if (found == 1)
		return TK_OK;
	return tk_fail(err, TK_EUSAGE,
	        found ? "\"%.80s\" is ambiguous: %zu alerts start with it"
	              : "no alert \"%.80s\"; `tracker alert list --all` lists all alerts",
	        id, found);
}

/* ---- the list -------------------------------------------------------------------------------- */

static const char *color_state(const json_t *row)
{
	const char *state = tk_record_text(row, "state");

	return strcmp(state, "new") == 0     ? "red"
	       : strcmp(state, "acked") == 0 ? "yellow"
	                                     : "halfbright";
}

static const struct tk_column group_columns[] = {
        {"ID", 0, "id", TK_SHOW_UID, NULL},
        {"STATE", 0, "state", 0, color_state},
        {"OPENED", 0, "opened", TK_SHOW_DAY, NULL},
        {"WHAT", TK_COLUMN_WRAP, "title", 0, NULL},
        {"MACHINES", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3), "machines", 0, NULL},
        {"UPSTREAM", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "upstream", 0, NULL},
        {"FIRST BAD", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1), NULL, 0, NULL},
        {"NOTE", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL, NULL, 0, NULL},
        {0},
};

/* The commit that a bisection found, else the range that holds it. */
static void set_range(struct tk_table *t, const json_t *alert)
{
	const char *good = tk_record_text(alert, "good_rev"),
	           *found = tk_record_text(alert, "first_bad_commit.rev");

	if (*found)
		tk_table_set_cell(t, "FIRST BAD", "%.12s", found);
	else
		tk_table_set_cell(t, "FIRST BAD", "%.12s%s%.12s", good, *good ? ".." : "",
		        tk_record_text(alert, "bad_rev"));
}

static void add_group_row(struct tk_table *t, const json_t *group)
{
	const json_t *decision = json_object_get(group, "decision");
	const char *note = tk_record_text(decision, "note");

	tk_table_add_record(t, group);
	set_range(t, json_array_get(json_object_get(group, "alerts"), 0));
	if (json_is_object(decision))
		tk_table_set_cell(t, "NOTE", "%s%s%s", tk_record_text(decision, "author"),
		        *note ? ": " : "", note);
}

static bool is_listed(const json_t *group, int state, bool all)
{
	const char *word = tk_record_text(group, "state");

	if (state >= 0)
		return strcmp(word, tk_triage_state_name((enum tk_triage_state)state)) == 0;
	return all || (json_is_true(json_object_get(group, "open")) &&
	                      (strcmp(word, "new") == 0 || strcmp(word, "acked") == 0));
}

int tk_alerts_print_list(const struct tk_globals *g, const json_t *groups, int state, bool all,
        bool as_json, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, group_columns);
	json_t *array = json_array(), *group;
	size_t i;

	json_array_foreach ((json_t *)groups, i, group)
		if (is_listed(group, state, all)) {
			json_array_append(array, group);
			add_group_row(t, group);
		}
	if (!json_array_size(array) && !as_json)
		puts(json_array_size(groups) ? "No open alerts (--all lists the others)."
		                             : "No alerts yet.");
	return tk_records_finish(t, array, as_json, err);
}

/* ---- one in full ----------------------------------------------------------------------------- */

static const struct tk_column member_columns[] = {
        {"ALERT", 0, "uid", TK_SHOW_UID, NULL},
        {"STATE", 0, "state", 0, NULL},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, NULL, 0, NULL},
        {"PAIRS", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1), NULL, 0, NULL},
        {"SERIES", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL, "series", 0, NULL},
        {"MACHINE", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(4), "machine", 0, NULL},
        {"FIRST BAD", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3), NULL, 0, NULL},
        {"OPENED", 0, "opened", TK_SHOW_DAY, NULL},
        {"CLOSED", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "closed", TK_SHOW_DAY, NULL},
        {0},
};

static void add_member_row(struct tk_table *t, const json_t *alert)
{
	const json_t *ab = json_object_get(alert, "ab_test");
	struct tk_ab_result r = {.count = (uint32_t)tk_record_number(ab, "count"),
	        .fastest = strcmp(tk_record_text(ab, "statistic"), "min") == 0,
	        .change = tk_record_number(ab, "change.value"),
	        .lo = tk_record_number(ab, "change.lo"),
	        .hi = tk_record_number(ab, "change.hi")};
	char text[TK_AB_RESULT_TEXT_SIZE];

	tk_table_add_record(t, alert);
	if (json_is_object(ab))
		tk_table_set_cell(t, "PAIRS", "%s", tk_ab_result_format(&r, text));
	if (strcmp(tk_record_text(alert, "kind"), "change") == 0)
		tk_table_set_cell(
		        t, "CHANGE", "%+.1f %%", 100 * tk_record_number(alert, "change.value"));
	set_range(t, alert);
}

static void print_text_of(const char *before, const char *text, const char *after)
{
	fputs(before, stdout);
	tk_text_write_sanitized(stdout, text, "");
	fputs(after, stdout);
}

/* A member of each alert, each value once. */
static void print_once(const json_t *alerts, const char *path,
        void (*print)(const json_t *alert, const char *value))
{
	size_t count = json_array_size(alerts);

	for (size_t i = 0; i < count; i++) {
		const json_t *alert = json_array_get(alerts, i);
		const char *value = tk_record_text(alert, path);
		bool printed = !*value;

		for (size_t k = 0; k < i && !printed; k++)
			printed =
			        strcmp(tk_record_text(json_array_get(alerts, k), path), value) == 0;
		if (!printed)
			print(alert, value);
	}
}

static void print_first_bad(const json_t *alert, const char *rev)
{
	const json_t *c = json_object_get(alert, "first_bad_commit");

	printf("\nFound by bisection: %.12s ", rev);
	print_text_of("", tk_record_text(c, "subject"), "");
	print_text_of(", by ", tk_record_text(c, "author"), "");
	printf(" (%.10s): %+.1f %% against its parent, %.1f %% confidence\n",
	        tk_record_text(c, "author_time"), 100 * tk_record_number(c, "change"),
	        100 * tk_record_number(c, "confidence"));
}

static void print_code(const json_t *alert, const char *text)
{
	print_text_of("\nMachine code: ", text, "\n");
}

static void print_regions(const json_t *alert, const char *text)
{
	print_text_of("\nInside the kernel: ", text, "\n");
}

static void print_history(const json_t *group)
{
	const json_t *t;
	bool several = json_array_size(json_object_get(group, "alerts")) > 1;
	size_t i;

	json_array_foreach (json_object_get(group, "history"), i, t) {
		const char *at = tk_record_text(t, "at"), *of = tk_record_text(t, "alert_uid");

		if (!i)
			puts("\nHistory:");
		printf("  %.10s %.5s  %s", at, at + 11, tk_record_text(t, "action"));
		if (several && strcmp(of, tk_record_text(group, "id")) != 0)
			printf(" (%.8s)", of);
		print_text_of(" by ", tk_record_text(t, "author"), "");
		if (*tk_record_text(t, "note"))
			print_text_of(": ", tk_record_text(t, "note"), "");
		putchar('\n');
	}
}

static const struct tk_alert_row *find_row(const struct tk_rows *rows, const char *uid)
{
	for (size_t i = 0; i < rows->count; i++)
		if (strcmp(TK_ROWS_AT(rows, struct tk_alert_row, i)->uid, uid) == 0)
			return TK_ROWS_AT(rows, struct tk_alert_row, i);
	return NULL;
}

/* Sets what a trace of its last good and first bad revision found inside the kernel, and how the
 * machine code of the kernel changed; null: not known. */
static int add_evidence(
        struct tk_store *s, const struct tk_alert_row *row, json_t *alert, struct tk_error *err)
{
	char regions[TK_KERNEL_CHANGE_SIZE] = "", code[TK_CODE_CHANGE_SIZE] = "", *result = NULL;
	struct tk_series_row series;

	if (row && row->series_id && *row->good_rev && *row->bad_rev) {
		TRY(tk_store_get(s, TK_TABLE_series, row->series_id, &series, err));
		TRY(tk_store_find_comparison(s, &series, tk_record_text(alert, "upstream"),
		        row->good_rev, row->bad_rev, &result, err));
		if (result)
			tk_kernel_report_summarize(result, regions);
		free(result);
	}
	if (row)
		TRY(tk_store_find_code_change(s, row, code, err));
	json_object_set_new(alert, "regions", tk_json_text(regions));
	json_object_set_new(alert, "code_change", tk_json_text(code));
	return TK_OK;
}

static int print_text(const struct tk_globals *g, const json_t *group, struct tk_error *err)
{
	const json_t *alerts = json_object_get(group, "alerts"), *first = json_array_get(alerts, 0),
	             *alert;
	struct tk_table *t = tk_table_new(g, member_columns);
	size_t i;
	int status;

	print_text_of("", tk_record_text(group, "title"), "\n");
	printf("%s since %.10s", tk_record_text(group, "state"), tk_record_text(group, "opened"));
	/* Of a range only its end is known; a bisection names the commit, below. */
	if (*tk_record_text(first, "bad_rev") && !*tk_record_text(first, "first_bad_commit.rev")) {
		printf("; first bad %.12s ", tk_record_text(first, "bad_rev"));
		print_text_of("", tk_record_text(first, "bad_subject"), "");
		if (*tk_record_text(first, "bad_author"))
			print_text_of(", by ", tk_record_text(first, "bad_author"), "");
	}
	puts("\n");
	json_array_foreach ((json_t *)alerts, i, alert)
		add_member_row(t, alert);
	status = tk_table_finish(t, stdout, err);
	print_once(alerts, "first_bad_commit.rev", print_first_bad);
	print_once(alerts, "code_change", print_code);
	print_once(alerts, "regions", print_regions);
	print_history(group);
	return status;
}

int tk_alerts_print_group(const struct tk_globals *g, const json_t *group, const json_t *one,
        bool as_json, struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};
	json_t *shown = json_deep_copy(group), *alert;
	size_t i;
	int status = tk_store_list_alerts(g->store, &rows, err);

	if (one) {
		json_t *alone = json_array(), *history;

		json_array_append(alone, (json_t *)one);
		history = find_history(alone, json_object_get(shown, "history"));
		json_object_set_new(shown, "title", make_title(alone));
		json_object_set_new(shown, "alerts", json_deep_copy(alone));
		json_object_set_new(shown, "history", history);
		json_object_set(shown, "state", json_object_get(one, "state"));
		json_object_set(shown, "opened", json_object_get(one, "opened"));
		json_decref(alone);
	}
	json_array_foreach (json_object_get(shown, "alerts"), i, alert) {
		if (status)
			break;
		status = add_evidence(
		        g->store, find_row(&rows, tk_record_text(alert, "uid")), alert, err);
	}
	if (!status && as_json)
		return tk_command_print_json(shown, err);
	if (!status)
		status = print_text(g, shown, err);
	json_decref(shown);
	return status;
}
