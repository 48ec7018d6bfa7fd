/* `tracker alert`: lists open alerts and records what people decide about them. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/try.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/triage/alerts.h"
#include "config/config.h"
#include "core/triage.h"
#include "decide/decide.h"
#include "nightly/stages/detect_policy.h"
#include "notify/notify.h"
#include "store/store.h"

static struct {
	const char *action;           /* as typed; NULL: list */
	enum tk_triage_action triage; /* where that is an action on an alert */
	struct tk_option_list ids;
	const char *note, *by; /* NULL: not given */
	int state;             /* list only these; -1: all */
	bool all, json, yaml;
} opt = {.state = -1};

static const struct tk_option options[] = {
        {TK_OPT_HEADING("list, show")},
        {TK_OPT_FLAG("all", 'a', &opt.all, "Also list closed, expected and ignored alerts")},
        {TK_OPT_JSON(&opt.json, "Print text (default) or JSON")},
        {TK_OPT_WORD("state", 0, "new|acked|expected|ignored|recovered", &opt.state,
                "List only alerts that are new, acked, expected, ignored or recovered")},
        {TK_OPT_HEADING("ack, expect, ignore, link, note, reopen")},
        {TK_OPT_TEXT(
                "by", 0, "NAME", &opt.by, "Record NAME as the author (default: your user name)")},
        {TK_OPT_TEXT(
                "note", 'm', "TEXT", &opt.note, "Record the reason; expect and ignore need it")},
        {TK_OPT_FLAG("yaml", 'y', &opt.yaml, "Print an entry for acks.yml; write nothing")},
        {TK_OPT_ARGUMENT(&opt.action, NULL)},
        {TK_OPT_ARGUMENTS(&opt.ids, NULL)},
        {0},
};

enum action_kind { LIST, SHOW, CHECK, RECORD };
enum argument { NONE, ONE_ID, SOME_IDS, ID_AND_URL, ID_AND_TEXT };

struct action {
	const char *name;
	enum action_kind kind;
	enum argument argument;
	bool needs_note, has_yaml;
	enum tk_triage_action triage; /* RECORD */
	const char *done;             /* RECORD: what is printed afterwards */
};

static const struct action actions[] = {
        {"list", LIST, NONE, false, false, 0, NULL},
        {"show", SHOW, ONE_ID, false, false, 0, NULL},
        {"check", CHECK, NONE, false, false, 0, NULL},
        {"ack", RECORD, SOME_IDS, false, true, TK_ACTION_ACK, "acked"},
        {"expect", RECORD, SOME_IDS, true, true, TK_ACTION_EXPECT, "expected"},
        {"ignore", RECORD, SOME_IDS, true, true, TK_ACTION_IGNORE, "ignored"},
        {"link", RECORD, ID_AND_URL, false, false, TK_ACTION_LINK, "linked"},
        {"note", RECORD, ID_AND_TEXT, false, false, TK_ACTION_NOTE, "noted"},
        {"reopen", RECORD, SOME_IDS, false, false, TK_ACTION_REOPEN, "reopened"},
};
#define ACTION_COUNT (sizeof actions / sizeof actions[0])

static const struct action *find_action(const char *name, struct tk_error *err)
{
	const char *names[ACTION_COUNT + 1] = {0};

	for (size_t i = 0; i < ACTION_COUNT; i++) {
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
		names[i] = actions[i].name;
	}
	tk_options_fail_action(name, names, err);
	return NULL;
}

static const char *current_user(void)
{
	const struct passwd *user = getpwuid(getuid());
	const char *name = getenv("USER");

	return name && *name ? name : user ? user->pw_name : "unknown";
}

static bool is_web_url(const char *url)
{
	return strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0;
}

/* "link ID URL", "note ID TEXT": the second argument is the note. */
static int take_text(const struct action *action, struct tk_error *err)
{
	bool is_url = action->argument == ID_AND_URL;

	if (opt.ids.count == 2 && !opt.note)
		opt.note = opt.ids.items[--opt.ids.count];
	if (opt.ids.count != 1 || !opt.note || !*opt.note)
		return tk_fail(err, TK_EUSAGE, "%s: expected an id and a %s", action->name,
		        is_url ? "URL" : "text");
	if (is_url && !is_web_url(opt.note))
		return tk_fail(err, TK_EUSAGE,
		        "link: \"%.200s\": expected a URL that starts with https:// or http://",
		        opt.note);
	return TK_OK;
}

static int check_arguments(const struct action *action, struct tk_error *err)
{
	bool has_text = action->argument == ID_AND_URL || action->argument == ID_AND_TEXT;
	int status = has_text ? take_text(action, err) : TK_OK;

	if (status)
		return status;
	if (action->argument != NONE && !opt.ids.count)
		return tk_fail(err, TK_EUSAGE,
		        "%s: expected the id of an alert (`tracker alert` lists them)",
		        action->name);
	if (action->needs_note && (!opt.note || !*opt.note))
		return tk_fail(
		        err, TK_EUSAGE, "%s: expected --note=TEXT with the reason", action->name);
	if (opt.yaml && !action->has_yaml)
		return tk_fail(err, TK_EUSAGE, "--yaml: expected ack, expect or ignore");
	if (opt.yaml && (!opt.note || !*opt.note))
		return tk_fail(err, TK_EUSAGE, "--yaml: expected --note=TEXT with the reason");
	opt.note = opt.note ? opt.note : "";
	opt.by = opt.by && *opt.by ? opt.by : current_user();
	return TK_OK;
}

/* ---- acks.yml -------------------------------------------------------------------------------- */

static void print_quoted(const char *key, const char *text)
{
	printf("  %s: '", key);
	for (; *text; text++)
		fputs(*text == '\''                  ? "''"
		        : (unsigned char)*text < ' ' ? " "
		                                     : (char[]){*text, '\0'},
		        stdout);
	puts("'");
}

/* One rule for the alerts of a first bad revision: series that are measured at fewer revisions have
 * a later one. */
static void print_rule(const json_t *alerts, const char *bad_rev)
{
	const json_t *alert;
	size_t i;

	fputs("- series:", stdout);
	json_array_foreach ((json_t *)alerts, i, alert)
		if (strcmp(tk_record_text(alert, "bad_rev"), bad_rev) == 0)
			printf("\n    - %s", tk_record_text(alert, "series"));
	putchar('\n');
	if (*bad_rev)
		print_quoted("rev", bad_rev);
	printf("  action: %s\n", tk_triage_action_name(opt.triage));
	print_quoted("by", opt.by);
	print_quoted("note", opt.note);
}

static int print_rules(const json_t *alerts, struct tk_error *err)
{
	size_t count = json_array_size(alerts);

	for (size_t i = 0; i < count; i++) {
		const json_t *alert = json_array_get(alerts, i);
		const char *rev = tk_record_text(alert, "bad_rev");
		bool printed = false;

		if (strcmp(tk_record_text(alert, "kind"), "missing-data") == 0)
			return tk_fail(err, TK_EUSAGE,
			        "missing data is not in a diff; record it without --yaml");
		for (size_t k = 0; k < i; k++)
			printed |= strcmp(tk_record_text(json_array_get(alerts, k), "bad_rev"),
			                   rev) == 0;
		if (!printed)
			print_rule(alerts, rev);
	}
	return TK_OK;
}

static int print_ack_rules(const json_t *groups, struct tk_error *err)
{
	for (size_t i = 0; i < opt.ids.count; i++) {
		const json_t *group, *one;
		json_t *alerts;
		int status;

		TRY(tk_alerts_find(groups, opt.ids.items[i], &group, &one, err));
		alerts =
		        one ? json_pack("[O]", one) : json_incref(json_object_get(group, "alerts"));
		status = print_rules(alerts, err);
		json_decref(alerts);
		if (status)
			return status;
	}
	return TK_OK;
}

/* ---- actions --------------------------------------------------------------------------------- */

static int record_one(
        struct tk_store *s, const json_t *groups, const char *id, struct tk_error *err)
{
	const json_t *group, *one;
	struct tk_triage_row row = {
	        .at_s = tk_clock_now_s(), .author = opt.by, .action = opt.triage, .note = opt.note};

	TRY(tk_alerts_find(groups, id, &group, &one, err));
	row.alert_uid = one ? tk_record_text(one, "uid") : tk_record_text(group, "id");
	return tk_store_append_triage(s, &row, err);
}

/* Records for all ids or none; `done` ("acked") is printed for each. */
static int record(
        const struct tk_globals *g, const json_t *groups, const char *done, struct tk_error *err)
{
	const json_t *group, *one;
	int status = tk_store_begin(g->store, err);

	if (status)
		return status;
	for (size_t i = 0; !status && i < opt.ids.count; i++)
		status = record_one(g->store, groups, opt.ids.items[i], err);
	if (status) {
		tk_store_rollback(g->store);
		return status;
	}
	TRY(tk_store_commit(g->store, err));
	for (size_t i = 0; !g->quiet && i < opt.ids.count; i++) {
		TRY(tk_alerts_find(groups, opt.ids.items[i], &group, &one, err));
		printf("%s: %.8s ", done, tk_record_text(one ? one : group, one ? "uid" : "id"));
		tk_text_write_sanitized(stdout, tk_record_text(one ? one : group, "title"), "");
		putchar('\n');
	}
	return TK_OK;
}

/* Returns TK_EXIT_FOUND while there is new missing data. */
static int check_missing_data(
        const struct tk_globals *g, const struct tk_detect_options *d, struct tk_error *err)
{
	const struct tk_notify_options notify = {
	        .webhook_url = g->config->webhook_url, .site_url = g->config->site_url};
	const json_t *group, *alert;
	json_t *groups;
	int status, code = TK_EXIT_OK;
	size_t i, k;

	TRY(tk_missing_data_update_alerts(g->store, d, 0, err));
	status = tk_alerts_load(g->store, d, &groups, err);
	json_array_foreach (groups, i, group)
		json_array_foreach (json_object_get(group, "alerts"), k, alert) {
			if (strcmp(tk_record_text(alert, "kind"), "missing-data") != 0 ||
			        strcmp(tk_record_text(alert, "status"), "open") != 0)
				continue;
			printf("%-9s ", tk_record_text(alert, "state"));
			tk_text_write_sanitized(stdout, tk_record_text(alert, "title"), "");
			putchar('\n');
			if (strcmp(tk_record_text(alert, "state"), "new") == 0)
				code = TK_EXIT_FOUND;
		}
	json_decref(groups);
	if (!status)
		status = tk_notify_send_alerts(g->store, &notify, err);
	return status ? status : code;
}

static int show(const struct tk_globals *g, const json_t *groups, struct tk_error *err)
{
	const json_t *group, *one;

	if (opt.ids.count != 1)
		return tk_fail(err, TK_EUSAGE, "show: expected one id");
	TRY(tk_alerts_find(groups, opt.ids.items[0], &group, &one, err));
	return tk_alerts_print_group(g, group, one, opt.json, err);
}

static int run_action(const struct tk_globals *g, const struct action *action,
        const struct tk_detect_options *d, struct tk_error *err)
{
	json_auto_t *groups = NULL;
	int status;

	if (action->kind == CHECK)
		return check_missing_data(g, d, err);
	status = tk_alerts_load(g->store, d, &groups, err);
	if (!status)
		status = action->kind == LIST ? tk_alerts_print_list(g, groups, opt.state, opt.all,
		                                        opt.json, err)
		         : action->kind == SHOW ? show(g, groups, err)
		         : opt.yaml             ? print_ack_rules(groups, err)
		                                : record(g, groups, action->done, err);
	return status;
}

static int run_alert(struct tk_globals *g, struct tk_error *err)
{
	const struct action *action = find_action(opt.action ? opt.action : actions[0].name, err);
	AUTO(tk_detect_policy) policy = {0};

	if (!action)
		return err->status;
	TRY(check_arguments(action, err));
	opt.triage = action->triage;
	bool reads = action->kind == LIST || action->kind == SHOW || opt.yaml;
	TRY(tk_command_open(g, reads ? TK_OPENS_READ : TK_OPENS_WRITE, err));
	int status = tk_detect_policy_load(g->config, NULL, &policy, err);

	if (!status)
		status = run_action(g, action, &policy.options, err);
	return status;
}

const struct tk_command tk_command_alert = {.name = "alert",
        .summary = "list open alerts and triage them",
        .usage = {.options = options,
                .arguments = "[list]\nshow ID\nack|expect|ignore|reopen ID...\nlink ID URL\nnote "
                             "ID TEXT\ncheck",
                .help = "List open alerts and triage them. An alert is one change of one series; "
                        "alerts of the same commit on like machines form a group. ID is the "
                        "first digits of the id of a group or of one alert.\v"
                        "Actions are appended to the history; nothing is ever removed. `check` "
                        "looks for missing data, notifies the webhook, and exits with 1 while "
                        "there is new missing data; run it where all histories are merged.\n\n"
                        "Examples:\n"
                        "  tracker alert\n"
                        "  tracker alert show 3f2a\n"
                        "  tracker alert ack 3f2a --note='looking at it'\n"
                        "  tracker alert expect 3f2a --note='more accurate, #123'\n"
                        "  tracker alert expect 3f2a --note='more accurate, #123' --yaml "
                        ">>acks.yml\n"
                        "  tracker alert link 3f2a https://example.org/issues/123\n"
                        "  tracker alert list --all --format=json"},
        .run = run_alert};
