/* See alerts.h. */
#include "cli/triage/alerts.h"

#include "cli/commands.h"
#include "cli/table.h"
#include "core/fields.h"
#include "decide/decide.h"
#include "store/query/code_facts.h"
#include "store/store.h"

/* ---- groups ---------------------------------------------------------------------------------- */

static const char alerts_order[] =
        "ORDER BY min(a.opened_s) OVER (PARTITION BY a.group_uid) DESC, a.group_uid,"
        "  abs(ifnull(a.change, 0)) DESC, a.uid";

static const char triage_sql[] = "SELECT alert_uid, action, author, at_s AS \"at:time\", note"
                                 " FROM triage ORDER BY at_s, uid";

/* What missing data is about, as in alert_v; no row where an alert about it is stored. */
static const char missing_sql[] =
        "SELECT ifnull((SELECT name FROM machine WHERE id = ?1), '') AS machine,"
        "  ifnull((SELECT name FROM upstream WHERE id = ?2), '') AS upstream,"
        "  (SELECT slug FROM series WHERE id = ?3) AS series,"
        "  CASE (SELECT action FROM triage WHERE alert_uid IN (?4, ?5)"
        "      AND action IN ('ack', 'expect', 'ignore', 'reopen') ORDER BY at_s DESC, uid DESC "
        "LIMIT 1)"
        "    WHEN 'expect' THEN 'expected' WHEN 'ignore' THEN 'ignored' WHEN 'ack' THEN 'acked'"
        "    ELSE 'new' END AS state"
        " WHERE NOT EXISTS (SELECT 1 FROM alert WHERE uid = ?4)";

static bool is_about(const json_t *action, const json_t *alert)
{
	const char *uid = tk_record_text(action, "alert_uid");

	return strcmp(uid, tk_record_text(alert, "uid")) == 0 ||
	       strcmp(uid, tk_record_text(alert, "group_uid")) == 0;
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
	const json_t *first = json_array_get(alerts, 0), *alert, *t;
	json_t *history = find_history(alerts, triage), *decision = json_null(),
	       *link = json_null();
	enum tk_triage_state state = TK_TRIAGE_RECOVERED, own;
	const char *opened = tk_record_text(first, "opened");
	char machines[512] = "";
	bool open = false;
	size_t i;

	json_array_foreach (alerts, i, alert) {
		const char *machine = tk_record_text(alert, "machine");
		const size_t len = strlen(machines);

		if (!tk_triage_state_parse(tk_record_text(alert, "state"), &own))
			state = !i || own < state ? own : state; /* they are listed by urgency */
		open = open || strcmp(tk_record_text(alert, "status"), "open") == 0;
		if (strcmp(tk_record_text(alert, "opened"), opened) < 0)
			opened = tk_record_text(alert, "opened");
		if (*machine && !strstr(machines, machine))
			snprintf(machines + len, sizeof machines - len, "%s%s", len ? ", " : "",
			        machine);
	}
	json_array_foreach (history, i, t) {
		enum tk_triage_action action;

		if (tk_triage_action_parse(tk_record_text(t, "action"), &action))
			continue;
		if (tk_triage_action_state(action, &own))
			decision = (json_t *)t;
		if (action == TK_ACTION_LINK)
			link = json_object_get(t, "note");
	}
	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:s, s:s, s:s, s:O, s:O, s:o, s:o}", "id",
	        tk_record_text(first, "group_uid"), "kind", tk_record_text(first, "kind"), "state",
	        tk_triage_state_name(state), "open", open, "title", make_title(alerts), "upstream",
	        tk_record_text(first, "upstream"), "machines", machines, "opened", opened, "link",
	        link, "decision", decision, "history", history, "alerts", alerts);
}

/* `groups`: {GROUP: [alert, ...]} */
static void add_alert(json_t *groups, json_t *alert)
{
	const char *uid = tk_record_text(alert, "group_uid");

	if (!json_object_get(groups, uid))
		json_object_set_new(groups, uid, json_array());
	json_array_append(json_object_get(groups, uid), alert);
}

/* Adds missing data that is not stored; a group of its own is the newest one. */
static int add_unwritten(struct tk_store *s, const struct tk_missing_data *m, int64_t now_s,
        json_t *stored, json_t *newest, struct tk_error *err)
{
	json_auto_t *names = NULL, *alert = NULL;

	TRY(tk_records_select(s, missing_sql,
	        TK_ARGS(m->machine_id, m->upstream_id, m->series_id, (const char *)m->uid,
	                (const char *)m->group_uid),
	        &names, err));
	if (!json_array_size(names))
		return TK_OK;
	alert = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:n, s:n, s:n, s:n}",
	        "uid", m->uid, "group_uid", m->group_uid, "kind",
	        tk_alert_kind_name(TK_ALERT_MISSING_DATA), "status", "open", "title", m->title,
	        "cause", tk_cause_name(TK_CAUSE_MISSING_DATA), "good_rev", "", "bad_rev", "",
	        "opened", tk_time_to_json(now_s), "closed", "change", "ab_test",
	        "first_bad_commit");
	json_object_update(alert, json_array_get(names, 0));
	add_alert(json_object_get(stored, m->group_uid) ? stored : newest, alert);
	return TK_OK;
}

int tk_alerts_load(struct tk_store *s, const struct tk_detect_options *options, json_t **groups,
        struct tk_error *err)
{
	AUTO(tk_missing_data_list) missing = {0};
	json_auto_t *alerts = NULL, *triage = NULL, *stored = json_object(),
	            *newest = json_object();
	json_t *alert, *members;
	const char *uid;
	size_t i;

	*groups = NULL;
	TRY(tk_records_select_alerts(s, alerts_order, TK_NO_ARGS, &alerts, err));
	TRY(tk_records_select(s, triage_sql, TK_NO_ARGS, &triage, err));
	TRY(tk_missing_data_find(s, options, &missing, err));
	json_array_foreach (alerts, i, alert)
		add_alert(stored, alert);
	for (i = 0; i < missing.count; i++)
		TRY(add_unwritten(s, &missing.at[i], options->now_s, stored, newest, err));
	json_object_update(newest, stored);
	*groups = json_array();
	json_object_foreach (newest, uid, members)
		json_array_append_new(*groups, make_group(json_incref(members), triage));
	return TK_OK;
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

/* The commit that a bisection found, else the range that holds it. */
#define FIRST_BAD(of) \
	"[{" of "first_bad_commit.rev:short}][{!" of "first_bad_commit.rev}[{" of \
	"good_rev:short}..]{" of "bad_rev:short}]"

static const struct tk_column group_columns[] = {
        {"ID", 0, "id", TK_SHOW_UID},
        {"STATE", 0, "state", .color = color_state},
        {"OPENED", 0, "opened", TK_SHOW_DAY},
        {"WHAT", TK_COLUMN_WRAP, "title"},
        {"MACHINES", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3), "machines"},
        {"UPSTREAM", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "upstream"},
        {"FIRST BAD", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1), FIRST_BAD("alerts.0.")},
        {"NOTE", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL, "{decision.author}[: {decision.note}]"},
        {0},
};

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
	json_t *array = json_array(), *group;
	size_t i;

	json_array_foreach ((json_t *)groups, i, group)
		if (is_listed(group, state, all))
			json_array_append(array, group);
	if (!json_array_size(array) && !as_json)
		puts(json_array_size(groups) ? "No open alerts (--all lists the others)."
		                             : "No alerts yet.");
	return tk_records_print(g, group_columns, array, as_json, err);
}

/* ---- one in full ----------------------------------------------------------------------------- */

static const struct tk_column member_columns[] = {
        {"ALERT", 0, "uid", TK_SHOW_UID},
        {"STATE", 0, "state"},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "change.value", TK_SHOW_SIGNED},
        {"PAIRS", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"SERIES", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL, "series"},
        {"MACHINE", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(4), "machine"},
        {"FIRST BAD", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3), FIRST_BAD("")},
        {"OPENED", 0, "opened", TK_SHOW_DAY},
        {"CLOSED", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2), "closed", TK_SHOW_DAY},
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
}

/* What is known of an alert beside its row: each value once. */
static void print_evidence(const json_t *alerts)
{
	static const struct {
		const char *path, *template;
	} lines[] = {
	        {"first_bad_commit.rev", "\nFound by bisection: {first_bad_commit.rev:short} "
	                                 "{first_bad_commit.subject}, by {first_bad_commit.author} "
	                                 "({first_bad_commit.author_time:day}): "
	                                 "{first_bad_commit.change:signed} against its parent, "
	                                 "{first_bad_commit.confidence:tenths} confidence\n"},
	        {"code_change", "\nMachine code: {code_change}\n"},
	        {"regions", "\nInside the kernel: {regions}\n"}};
	const json_t *alert;
	size_t i;

	for (size_t line = 0; line < sizeof lines / sizeof *lines; line++) {
		json_auto_t *printed = json_object();

		json_array_foreach ((json_t *)alerts, i, alert) {
			const char *value = tk_record_text(alert, lines[line].path);

			if (*value && !json_object_get(printed, value))
				tk_record_write(stdout, lines[line].template, alert);
			json_object_set_new(printed, value, json_true());
		}
	}
}

static void print_history(const json_t *group)
{
	bool several = json_array_size(json_object_get(group, "alerts")) > 1;
	json_t *t;
	size_t i;

	json_array_foreach (json_object_get(group, "history"), i, t) {
		const char *of = tk_record_text(t, "alert_uid");

		if (several && strcmp(of, tk_record_text(group, "id")) != 0)
			json_object_set_new(t, "one", json_string(of));
		fputs(i ? "" : "\nHistory:\n", stdout);
		tk_record_write(
		        stdout, "  {at:minute}  {action}[ ({one:uid})] by {author}[: {note}]\n", t);
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

/* Of a range only its end is known; a bisection names the commit, below. */
static int print_text(const struct tk_globals *g, const json_t *group, struct tk_error *err)
{
	const json_t *alerts = json_object_get(group, "alerts"), *alert;
	struct tk_table *t = tk_table_new(g, member_columns);
	size_t i;

	tk_record_write(stdout,
	        "{title}\n{state} since {opened:day}[{!alerts.0.first_bad_commit.rev}; first bad "
	        "{alerts.0.bad_rev:short} [{alerts.0.bad_subject}][, by "
	        "{alerts.0.bad_author}]]\n\n",
	        group);
	json_array_foreach ((json_t *)alerts, i, alert)
		add_member_row(t, alert);
	TRY(tk_table_finish(t, stdout, err));
	print_evidence(alerts);
	print_history(group);
	return TK_OK;
}

int tk_alerts_print_group(const struct tk_globals *g, const json_t *group, const json_t *one,
        bool as_json, struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};
	json_auto_t *shown = json_deep_copy(group), *alone = one ? json_pack("[O]", one) : NULL;
	json_t *alert;
	size_t i;

	if (one)
		json_object_update_new(
		        shown, json_pack("{s:o, s:o, s:o, s:O, s:O}", "title", make_title(alone),
		                       "alerts", json_deep_copy(alone), "history",
		                       find_history(alone, json_object_get(shown, "history")),
		                       "state", json_object_get(one, "state"), "opened",
		                       json_object_get(one, "opened")));
	TRY(tk_store_list_alerts(g->store, &rows, err));
	json_array_foreach (json_object_get(shown, "alerts"), i, alert)
		TRY(add_evidence(
		        g->store, find_row(&rows, tk_record_text(alert, "uid")), alert, err));
	return as_json ? tk_command_print_json(json_incref(shown), err) : print_text(g, shown, err);
}
