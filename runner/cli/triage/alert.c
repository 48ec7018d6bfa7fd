/* `tracker alert`: what is open, what people made of it. */
#include <inttypes.h>
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/triage/alert_groups.h"
#include "config/config.h"
#include "detect/rules/ab_result.h"
#include "nightly/stages/detect_policy.h"
#include "notify/notify.h"
#include "site_gen/render/format.h"

#define IDS_MAX 256

enum { OPT_BY = 256, OPT_STATE };

struct alert_options {
	const char *words[IDS_MAX], *note, *by, *state;
	size_t word_count;
	bool all, json, yaml;
};

static const struct argp_option options[] = {
        {0, 0, 0, 0, "list, show", 1},
        {"all", 'a', 0, 0, "Also list closed, expected and ignored alerts", 1},
        {"format", 'f', "text|json", 0, "Print text (default) or JSON", 1},
        {"state", OPT_STATE, "STATE", 0,
                "List only alerts that are new, acked, expected, ignored or recovered", 1},
        {0, 0, 0, 0, "ack, expect, ignore, link, note, reopen", 2},
        {"by", OPT_BY, "NAME", 0, "Record NAME as the author (default: your user name)", 2},
        {"note", 'm', "TEXT", 0, "Record the reason; expect and ignore need it", 2},
        {"yaml", 'y', 0, 0, "Print an entry for acks.yml; write nothing", 2},
        {0},
};

static const char *const states[] = {TK_TRIAGE_NEW, "acked", "expected", "ignored", "recovered"};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct alert_options *o = state->input;

	switch (key) {
	case 'a':
		o->all = true;
		return 0;
	case OPT_STATE:
		for (size_t i = 0; i < sizeof states / sizeof *states; i++)
			if (!strcmp(states[i], arg))
				o->state = arg;
		if (!o->state)
			argp_error(state,
			        "--state=%s: expected new, acked, expected, ignored or recovered",
			        arg);
		return 0;
	case 'f':
		o->json = tk_option_parse_json(arg, state);
		return 0;
	case 'm':
		o->note = arg;
		return 0;
	case OPT_BY:
		o->by = arg;
		return 0;
	case 'y':
		o->yaml = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->word_count == IDS_MAX)
			argp_error(state, "more than %d words", IDS_MAX);
		o->words[o->word_count++] = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_alert = {options, parse_option,
        "[list]\nshow ID\nack|expect|ignore|reopen ID...\nlink ID URL\nnote ID TEXT\ncheck",
        "List open alerts and triage them. An alert is one change of one series; alerts of the "
        "same commit on like "
        "machines form a group. ID is the first digits of the id of a group or of one alert.\v"
        "Actions are appended to the history; nothing is ever removed. `check` looks for missing "
        "data, notifies the "
        "webhook, and exits with 1 while there is new missing data; run it where all histories are "
        "merged.\n\n"
        "Examples:\n"
        "  tracker alert\n"
        "  tracker alert show 3f2a\n"
        "  tracker alert ack 3f2a --note='looking at it'\n"
        "  tracker alert expect 3f2a --note='more accurate, #123'\n"
        "  tracker alert expect 3f2a --note='more accurate, #123' --yaml >>acks.yml\n"
        "  tracker alert link 3f2a https://example.org/issues/123\n"
        "  tracker alert list --all --format=json"};

static int find_alert(const struct tk_alerts *a, const char *id,
        const struct tk_alert_group **group, const struct tk_alert_row **one, struct tk_error *err)
{
	int rc = tk_alerts_find(a, id, group, one, err);

	if (rc == TK_ENOTFOUND)
		err->status = rc = TK_EUSAGE;
	return rc;
}

/* ---- list
 * ------------------------------------------------------------------------------------------------------
 */

static const struct tk_column group_columns[] = {
        {"ID", 0},
        {"STATE", 0},
        {"OPENED", 0},
        {"WHAT", TK_COLUMN_WRAP},
        {"MACHINES", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3)},
        {"UPSTREAM", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"FIRST BAD", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"SAID", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL},
        {0},
};

static const char *upstream_of(const struct tk_alerts *a, const struct tk_alert_group *g)
{
	const struct tk_upstream_row *u = tk_lookup_upstream(&a->names, g->alerts[0]->upstream_id);

	return u ? u->name : "";
}

static const char *range_of(const struct tk_alert_row *alert, char *out, size_t size)
{
	snprintf(out, size, "%.12s%s%.12s", alert->good_rev, *alert->good_rev ? ".." : "",
	        alert->bad_rev);
	return out;
}

static const char *color_of(const char *state)
{
	return strcmp(state, TK_TRIAGE_NEW) == 0 ? "red"
	       : strcmp(state, "acked") == 0     ? "yellow"
	                                         : "halfbright";
}

static void group_row(struct tk_table *t, const struct tk_alerts *a, const struct tk_alert_group *g)
{
	char text[1024], day[TK_TIME_ISO_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "ID", "%.8s", g->uid);
	tk_table_set_cell(t, "STATE", "%s", g->state);
	tk_table_set_color(t, "STATE", color_of(g->state));
	tk_table_set_cell(t, "OPENED", "%s", tk_time_format_day(g->opened_s, day));
	tk_table_set_cell(t, "WHAT", "%s", tk_alert_group_title(g, text, sizeof text));
	tk_table_set_cell(t, "MACHINES", "%s", tk_alert_group_machines(a, g, text, sizeof text));
	tk_table_set_cell(t, "UPSTREAM", "%s", upstream_of(a, g));
	tk_table_set_cell(t, "FIRST BAD", "%s", range_of(g->alerts[0], text, sizeof text));
	if (g->said)
		tk_table_set_cell(t, "SAID", "%s%s%s", g->said->author, *g->said->note ? ": " : "",
		        g->said->note);
}

static json_t *said_json(const struct tk_triage_row *t)
{
	return t ? json_pack("{s:s,s:s,s:I,s:s}", "action", t->action, "author", t->author, "at_s",
	                   (json_int_t)t->at_s, "note", t->note)
	         : json_null();
}

static json_t *number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

/* The fields that `diff` has. */
static json_t *culprit_json(const struct tk_bisection_row *c)
{
	return c ? json_pack("{s:s,s:s,s:s,s:I,s:o,s:o}", "rev", c->first_bad, "subject",
	                   c->subject, "author", c->author, "author_time_s",
	                   (json_int_t)c->author_time_s, "change", number(c->change), "confidence",
	                   number(c->confidence))
	         : json_null();
}

static json_t *pairs_json(const struct tk_alerts *a, const struct tk_alert_row *alert)
{
	struct tk_ab_result p;

	if (tk_alert_load_ab_result(a, alert, &p, NULL) || p.decision == TK_AB_NONE)
		return json_null();
	return json_pack("{s:s,s:I,s:I,s:s,s:o,s:o,s:o}", "word", tk_ab_decision_name(p.decision),
	        "count", (json_int_t)p.count, "failed", (json_int_t)p.failed, "statistic",
	        tk_ab_result_statistic_name(&p), "change", number(p.change), "lo", number(p.lo),
	        "hi", number(p.hi));
}

static json_t *alert_json(const struct tk_alerts *a, const struct tk_alert_row *alert)
{
	const struct tk_series_row *series = tk_lookup_series(&a->names, alert->series_id);
	const struct tk_machine_row *machine = tk_lookup_machine(&a->names, alert->machine_id);

	return json_pack("{s:s,s:s,s:s,s:s,s:s?,s:s?,s:f,s:s,s:s,s:s,s:I,s:o,s:o,s:o}", "uid",
	        alert->uid, "state", tk_alert_state_name(&a->triage, alert), "status",
	        tk_alert_status_name(alert->status), "title", alert->title, "series",
	        series ? series->slug : NULL, "machine", machine ? machine->name : NULL, "change",
	        alert->change, "cause", tk_cause_name(alert->cause), "good_rev", alert->good_rev,
	        "bad_rev", alert->bad_rev, "opened_s", (json_int_t)alert->opened_s, "closed_s",
	        alert->closed_s ? json_integer(alert->closed_s) : json_null(), "culprit",
	        culprit_json(tk_alert_find_first_bad(a, alert)), "pairs", pairs_json(a, alert));
}

static json_t *group_json(const struct tk_alerts *a, const struct tk_alert_group *g)
{
	char title[1024];
	json_t *alerts = json_array(), *said = json_array();

	for (size_t i = 0; i < g->count; i++)
		json_array_append_new(alerts, alert_json(a, g->alerts[i]));
	for (size_t i = 0; i < a->triage.count; i++) {
		const struct tk_triage_row *t = TK_ROWS_AT(&a->triage, struct tk_triage_row, i);
		bool of_group = strcmp(t->alert_uid, g->uid) == 0;

		for (size_t k = 0; k < g->count && !of_group; k++)
			of_group = strcmp(t->alert_uid, g->alerts[k]->uid) == 0;
		if (of_group)
			json_array_append_new(said, said_json(t));
	}
	return json_pack("{s:s,s:s,s:s,s:b,s:s,s:s,s:I,s:s?,s:o,s:o}", "id", g->uid, "kind",
	        tk_alert_kind_name(g->alerts[0]->kind), "state", g->state, "open", g->open, "title",
	        tk_alert_group_title(g, title, sizeof title), "upstream", upstream_of(a, g),
	        "opened_s", (json_int_t)g->opened_s, "link", g->link ? g->link->note : NULL,
	        "history", said, "alerts", alerts);
}

static bool is_listed(const struct alert_options *o, const struct tk_alert_group *g)
{
	if (o->state)
		return strcmp(o->state, g->state) == 0;
	return o->all || (g->open && (strcmp(g->state, TK_TRIAGE_NEW) == 0 ||
	                                     strcmp(g->state, "acked") == 0));
}

static int list(const struct tk_globals *g, const struct alert_options *o,
        const struct tk_alerts *a, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, group_columns);
	json_t *array = json_array();
	size_t shown = 0;
	int rc;

	for (size_t i = 0; i < a->count; i++) {
		if (!is_listed(o, &a->groups[i]))
			continue;
		shown++;
		if (o->json)
			json_array_append_new(array, group_json(a, &a->groups[i]));
		else
			group_row(t, a, &a->groups[i]);
	}
	rc = o->json ? tk_command_print_json(json_incref(array), err)
	             : tk_table_print(t, stdout, err);
	if (!shown && !o->json)
		puts(a->count ? "Nothing is open (--all shows what was)." : "No alert yet.");
	json_decref(array);
	tk_table_free(t);
	return rc;
}

/* ---- show
 * ------------------------------------------------------------------------------------------------------
 */

static const struct tk_column member_columns[] = {
        {"ALERT", 0},
        {"STATE", 0},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"PAIRS", TK_COLUMN_OPTIONAL},
        {"SERIES", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"MACHINE", TK_COLUMN_OPTIONAL},
        {"FIRST BAD", TK_COLUMN_OPTIONAL},
        {"OPENED", 0},
        {"CLOSED", TK_COLUMN_OPTIONAL},
        {0},
};

static void member_row(
        struct tk_table *t, const struct tk_alerts *a, const struct tk_alert_row *alert)
{
	const struct tk_series_row *series = tk_lookup_series(&a->names, alert->series_id);
	const struct tk_machine_row *machine = tk_lookup_machine(&a->names, alert->machine_id);
	char text[TK_AB_RESULT_TEXT_SIZE > 64 ? TK_AB_RESULT_TEXT_SIZE : 64];
	struct tk_ab_result pairs;

	tk_table_add_row(t);
	tk_table_set_cell(t, "ALERT", "%.8s", alert->uid);
	if (!tk_alert_load_ab_result(a, alert, &pairs, NULL) && pairs.decision != TK_AB_NONE)
		tk_table_set_cell(t, "PAIRS", "%s", tk_ab_result_format(&pairs, text));
	tk_table_set_cell(t, "STATE", "%s", tk_alert_state_name(&a->triage, alert));
	if (alert->kind == TK_ALERT_CHANGE)
		tk_table_set_cell(t, "CHANGE", "%+.1f %%", 100 * alert->change);
	tk_table_set_cell(t, "SERIES", "%s", series ? series->slug : "");
	tk_table_set_cell(t, "MACHINE", "%s", machine ? machine->name : "");
	tk_table_set_cell(t, "FIRST BAD", "%s", range_of(alert, text, sizeof text));
	tk_table_set_cell(t, "OPENED", "%s", tk_time_format_day(alert->opened_s, text));
	if (alert->closed_s)
		tk_table_set_cell(t, "CLOSED", "%s", tk_time_format_day(alert->closed_s, text));
}

static void print_said(const struct tk_triage_row *t, const char *of)
{
	char minute[TK_FORMAT_SIZE];

	printf("  %s  %s", tk_format_minute(t->at_s, minute), t->action);
	if (*of)
		printf(" (%.8s)", of);
	fputs(" by ", stdout);
	tk_text_write_sanitized(stdout, t->author, "");
	if (*t->note) {
		fputs(": ", stdout);
		tk_text_write_sanitized(stdout, t->note, "");
	}
	putchar('\n');
}

/* Each commit once: that of the alert that moved most. */
static void print_culprits(const struct tk_alerts *a, const struct tk_alert_group *g)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct tk_bisection_row *c = tk_alert_find_first_bad(a, g->alerts[i]);
		char day[TK_TIME_ISO_SIZE];
		bool said = !c;

		for (size_t k = 0; k < i && !said; k++) {
			const struct tk_bisection_row *other =
			        tk_alert_find_first_bad(a, g->alerts[k]);

			said = other && strcmp(other->first_bad, c->first_bad) == 0;
		}
		if (said)
			continue;
		printf("\nFound by bisection: %.12s ", c->first_bad);
		tk_text_write_sanitized(stdout, c->subject, "");
		fputs(", by ", stdout);
		tk_text_write_sanitized(stdout, c->author, "");
		printf(" (%s): %+.1f %% against the commit before it, %.1f %% sure\n",
		        tk_time_format_day(c->author_time_s, day), 100 * c->change,
		        100 * c->confidence);
	}
}

static void print_history(const struct tk_alerts *a, const struct tk_alert_group *g)
{
	bool any = false;

	for (size_t i = 0; i < a->triage.count; i++) {
		const struct tk_triage_row *t = TK_ROWS_AT(&a->triage, struct tk_triage_row, i);
		const char *of = strcmp(t->alert_uid, g->uid) == 0 ? "" : NULL;

		for (size_t k = 0; k < g->count && !of; k++)
			if (strcmp(t->alert_uid, g->alerts[k]->uid) == 0)
				of = g->count > 1 ? t->alert_uid : "";
		if (!of)
			continue;
		if (!any)
			puts("\nHistory:");
		any = true;
		print_said(t, of);
	}
}

static int show(const struct tk_globals *g, const struct alert_options *o,
        const struct tk_alerts *a, struct tk_error *err)
{
	const struct tk_alert_group *group;
	const struct tk_alert_row *one;
	const struct tk_revision_row *bad = NULL;
	struct tk_alert_group of_one;
	struct tk_table *t;
	char title[1024];
	int rc = o->word_count == 2 ? find_alert(a, o->words[1], &group, &one, err)
	                            : tk_fail(err, TK_EUSAGE, "show: expected one id");

	if (rc)
		return rc;
	if (one) {
		of_one = tk_alert_group_from_one(a, &one);
		group = &of_one;
	}
	if (o->json)
		return tk_command_print_json(group_json(a, group), err);
	tk_text_write_sanitized(stdout, tk_alert_group_title(group, title, sizeof title), "");
	printf("\n%s since %s", group->state, tk_time_format_day(group->opened_s, title));
	for (size_t i = 0; i < a->names.revisions.count && !bad; i++) {
		const struct tk_revision_row *r =
		        TK_ROWS_AT(&a->names.revisions, struct tk_revision_row, i);

		if (r->upstream_id == group->alerts[0]->upstream_id && *group->alerts[0]->bad_rev &&
		        strcmp(r->rev, group->alerts[0]->bad_rev) == 0)
			bad = r;
	}
	if (bad) {
		printf("; first bad %.12s ", bad->rev);
		tk_text_write_sanitized(stdout, bad->subject, "");
		fputs(*bad->author ? ", by " : "", stdout);
		tk_text_write_sanitized(stdout, bad->author, "");
	}
	puts("\n");
	t = tk_table_new(g, member_columns);
	for (size_t i = 0; i < group->count; i++)
		member_row(t, a, group->alerts[i]);
	rc = tk_table_print(t, stdout, err);
	tk_table_free(t);
	print_culprits(a, group);
	print_history(a, group);
	return rc;
}

/* ---- what people say
 * ----------------------------------------------------------------------------------------------
 */

static const char *you(void)
{
	const struct passwd *user = getpwuid(getuid());
	const char *name = getenv("USER");

	return name && *name ? name : user ? user->pw_name : "somebody";
}

static void put_quoted(const char *key, const char *text)
{
	printf("  %s: '", key);
	for (; *text; text++)
		fputs(*text == '\''                  ? "''"
		        : (unsigned char)*text < ' ' ? " "
		                                     : (char[]){*text, '\0'},
		        stdout);
	puts("'");
}

/* One rule of acks.yml for the alerts of a first bad revision. */
static void print_rule(const struct tk_alerts *a, const struct alert_options *o,
        const struct tk_alert_row *const *at, size_t count, const char *bad_rev)
{
	fputs("- series:", stdout);
	for (size_t i = 0; i < count; i++) {
		const struct tk_series_row *s = tk_lookup_series(&a->names, at[i]->series_id);

		if (strcmp(at[i]->bad_rev, bad_rev) == 0)
			printf("\n    - %s", s ? s->slug : "?");
	}
	putchar('\n');
	if (*bad_rev)
		put_quoted("rev", bad_rev);
	printf("  action: %s\n", o->words[0]);
	put_quoted("by", o->by);
	put_quoted("note", o->note);
}

/* Series of a group that are measured at fewer revisions have another first bad one. */
static int print_entry(const struct tk_alerts *a, const struct alert_options *o,
        const struct tk_alert_group *g, const struct tk_alert_row *one, struct tk_error *err)
{
	const struct tk_alert_row *const *at =
	        one ? &one : (const struct tk_alert_row *const *)g->alerts;
	size_t count = one ? 1 : g->count;

	if (at[0]->kind == TK_ALERT_MISSING_DATA)
		return tk_fail(err, TK_EUSAGE,
		        "a stoppage is in no diff: acks.yml cannot accept it, the history can");
	for (size_t i = 0; i < count; i++) {
		bool told = false;

		for (size_t k = 0; k < i; k++)
			told |= strcmp(at[k]->bad_rev, at[i]->bad_rev) == 0;
		if (!told)
			print_rule(a, o, at, count, at[i]->bad_rev);
	}
	return TK_OK;
}

static int say_one(struct tk_store *s, const struct tk_alerts *a, const struct alert_options *o,
        const char *id, struct tk_error *err)
{
	const struct tk_alert_group *g;
	const struct tk_alert_row *one;
	struct tk_triage_row row = {
	        .at_s = tk_clock_now_s(), .author = o->by, .action = o->words[0], .note = o->note};
	int rc = find_alert(a, id, &g, &one, err);

	if (rc)
		return rc;
	if (o->yaml)
		return print_entry(a, o, g, one, err);
	row.alert_uid = one ? one->uid : g->uid;
	return tk_store_append_triage(s, &row, err);
}

/* What was said of which, once it is in the history. */
static int print_said_of(
        const struct tk_alerts *a, const struct alert_options *o, struct tk_error *err)
{
	static const struct {
		const char *action, *done;
	} words[] = {{"ack", "acked"}, {"expect", "expected"}, {"ignore", "ignored"},
	        {"link", "linked"}, {"note", "noted"}, {"reopen", "reopened"}};
	const char *done = o->words[0];
	const struct tk_alert_group *group;
	const struct tk_alert_row *one;
	char title[1024];
	int rc = TK_OK;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		done = strcmp(words[i].action, o->words[0]) == 0 ? words[i].done : done;
	for (size_t i = 1; !rc && i < o->word_count; i++) {
		rc = find_alert(a, o->words[i], &group, &one, err);
		if (rc)
			break;
		printf("%s: %.8s ", done, one ? one->uid : group->uid);
		tk_text_write_sanitized(stdout,
		        one ? one->title : tk_alert_group_title(group, title, sizeof title), "");
		putchar('\n');
	}
	return rc;
}

static int check_words(struct alert_options *o, struct tk_error *err)
{
	const char *action = o->words[0];
	bool has_text = strcmp(action, "link") == 0 || strcmp(action, "note") == 0;

	if (has_text && o->word_count == 3 && !o->note)
		o->note = o->words[--o->word_count];
	if (has_text && (o->word_count != 2 || !o->note || !*o->note))
		return tk_fail(err, TK_EUSAGE, "%s: expected an id and %s", action,
		        strcmp(action, "link") == 0 ? "an address" : "a text");
	if (o->word_count < 2)
		return tk_fail(err, TK_EUSAGE,
		        "%s: expected the id of an alert (`tracker alert` lists them)", action);
	if (strcmp(action, "link") == 0 && strncmp(o->note, "https://", 8) != 0 &&
	        strncmp(o->note, "http://", 7) != 0)
		return tk_fail(err, TK_EUSAGE,
		        "link: %.200s: expected an address that begins with https:// or http://",
		        o->note);
	if ((strcmp(action, "expect") == 0 || strcmp(action, "ignore") == 0) &&
	        (!o->note || !*o->note))
		return tk_fail(err, TK_EUSAGE, "%s: expected --note=TEXT: why it is no regression",
		        action);
	if (o->yaml && (has_text || strcmp(action, "reopen") == 0))
		return tk_fail(err, TK_EUSAGE, "--yaml: expected ack, expect or ignore");
	if (o->yaml && (!o->note || !*o->note))
		return tk_fail(
		        err, TK_EUSAGE, "--yaml: expected --note=TEXT: acks.yml needs a reason");
	o->note = o->note ? o->note : "";
	o->by = o->by && *o->by ? o->by : you();
	return TK_OK;
}

/* All of them or none. */
static int say(const struct tk_globals *g, struct tk_store *s, const struct tk_alerts *a,
        struct alert_options *o, struct tk_error *err)
{
	int rc = check_words(o, err);

	if (rc || o->yaml) {
		for (size_t i = 1; !rc && i < o->word_count; i++)
			rc = say_one(s, a, o, o->words[i], err);
		return rc;
	}
	rc = tk_store_begin(s, err);
	if (rc)
		return rc;
	for (size_t i = 1; !rc && i < o->word_count; i++)
		rc = say_one(s, a, o, o->words[i], err);
	if (rc) {
		tk_store_rollback(s);
		return rc;
	}
	rc = tk_store_commit(s, err);
	return rc || g->quiet ? rc : print_said_of(a, o, err);
}

/* ---- check
 * -------------------------------------------------------------------------------------------------------
 */

static int check(struct tk_store *s, const struct tk_config *c, const struct tk_detect_options *d,
        int *code, struct tk_error *err)
{
	const struct tk_notify_options notify = {
	        .webhook_url = c->webhook_url, .site_url = c->site_url};
	struct tk_alerts a = {0};
	int rc = tk_missing_data_update_alerts(s, d, 0, err);

	if (!rc)
		rc = tk_alerts_load(s, d, &a, err);
	for (size_t i = 0; !rc && i < a.rows.count; i++) {
		const struct tk_alert_row *alert = TK_ROWS_AT(&a.rows, struct tk_alert_row, i);

		if (alert->kind != TK_ALERT_MISSING_DATA || alert->status != TK_ALERT_OPEN)
			continue;
		printf("%-9s ", tk_alert_state_name(&a.triage, alert));
		tk_text_write_sanitized(stdout, alert->title, "");
		putchar('\n');
		if (strcmp(tk_alert_state_name(&a.triage, alert), TK_TRIAGE_NEW) == 0)
			*code = TK_EXIT_FOUND;
	}
	tk_alerts_free(&a);
	return rc ? rc : tk_notify_send_alerts(s, &notify, err);
}

/* ---- the command
 * ---------------------------------------------------------------------------------------------------
 */

static const char *const verbs[] = {"list", "show", "check",
#define TK_ALERT_VERB(word, state, meaning) word,
        TK_TRIAGE_ACTIONS(TK_ALERT_VERB)
#undef TK_ALERT_VERB
                NULL};

static int check_verb(const char *verb, struct tk_error *err)
{
	const char *near = tk_suggest_name(verb, verbs);

	for (size_t i = 0; verbs[i]; i++)
		if (strcmp(verbs[i], verb) == 0)
			return TK_OK;
	return tk_fail(err, TK_EUSAGE,
	        near ? "unknown word \"%.60s\", did you mean \"%s\"?"
	             : "unknown word \"%.60s\", expected list, show, check, ack, expect, ignore, "
	               "link, note or reopen",
	        verb, near);
}

static int obey(const struct tk_globals *g, struct alert_options *o, const struct tk_config *config,
        struct tk_store *store, int *code, struct tk_error *err)
{
	struct tk_detect_policy judging;
	struct tk_alerts a = {0};
	int rc = tk_detect_policy_load(config, NULL, &judging, err);

	if (!rc && strcmp(o->words[0], "check") == 0) {
		rc = check(store, config, &judging.options, code, err);
	} else if (!rc) {
		rc = tk_alerts_load(store, &judging.options, &a, err);
		if (!rc)
			rc = tk_alerts_load_evidence(store, &a, err);
		if (!rc)
			rc = strcmp(o->words[0], "list") == 0   ? list(g, o, &a, err)
			     : strcmp(o->words[0], "show") == 0 ? show(g, o, &a, err)
			                                        : say(g, store, &a, o, err);
		tk_alerts_free(&a);
	}
	tk_detect_policy_free(&judging);
	return rc;
}

int tk_cmd_alert(const struct tk_globals *g, int argc, char **argv)
{
	struct alert_options o = {0};
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	struct tk_error err = {0};
	bool reads;
	int code;

	tk_command_parse(&tk_argp_alert, argc, argv, &o);
	if (!o.word_count)
		o.words[o.word_count++] = "list";
	if (check_verb(o.words[0], &err))
		return tk_command_fail("alert", &err);
	reads = strcmp(o.words[0], "list") == 0 || strcmp(o.words[0], "show") == 0 || o.yaml;
	code = tk_command_open(g, "alert", reads ? TK_STORE_READ : TK_STORE_WRITE, &config, &store);
	if (code)
		return code;
	if (obey(g, &o, config, store, &code, &err))
		code = tk_command_fail("alert", &err);
	tk_command_close(config, store);
	return code;
}
