/* `tracker alert`: lists open alerts and records what people decide about them. */
#include <pwd.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/table.h"
#include "cli/triage/alerts.h"
#include "config/config.h"
#include "decide/decide.h"
#include "nightly/stages/detect_policy.h"
#include "notify/notify.h"
#include "store/store.h"

static struct {
	const char *action; /* NULL: list */
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

enum argument { NONE, ONE_ID, SOME_IDS, ID_AND_URL, ID_AND_TEXT };

static const struct action {
	const char *name;
	enum argument argument;
	bool needs_note, has_yaml;
	enum tk_triage_action triage;
	const char *done; /* of actions that are recorded: what is printed afterwards */
} actions[] = {
        {"list", NONE, false, false},
        {"show", ONE_ID, false, false},
        {"check", NONE, false, false},
        {"ack", SOME_IDS, false, true, TK_ACTION_ACK, "acked"},
        {"expect", SOME_IDS, true, true, TK_ACTION_EXPECT, "expected"},
        {"ignore", SOME_IDS, true, true, TK_ACTION_IGNORE, "ignored"},
        {"link", ID_AND_URL, false, false, TK_ACTION_LINK, "linked"},
        {"note", ID_AND_TEXT, false, false, TK_ACTION_NOTE, "noted"},
        {"reopen", SOME_IDS, false, false, TK_ACTION_REOPEN, "reopened"},
};
enum { LIST, SHOW, CHECK };

static const char *current_user(void)
{
	const struct passwd *user = getpwuid(getuid());
	const char *name = getenv("USER");

	return tk_text_or(name, user ? user->pw_name : "unknown");
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
	if (is_url && strncmp(opt.note, "https://", 8) != 0 && strncmp(opt.note, "http://", 7) != 0)
		return tk_fail(err, TK_EUSAGE,
		        "link: \"%.200s\": expected a URL that starts with https:// or http://",
		        opt.note);
	return TK_OK;
}

static int check_arguments(const struct action *action, struct tk_error *err)
{
	bool has_text = action->argument == ID_AND_URL || action->argument == ID_AND_TEXT;

	TRY(has_text ? take_text(action, err) : TK_OK);
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
	opt.by = tk_text_or(opt.by, current_user());
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
static void print_rule(const struct action *action, const json_t *alerts, const char *bad_rev)
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
	printf("  action: %s\n", tk_triage_action_name(action->triage));
	print_quoted("by", opt.by);
	print_quoted("note", opt.note);
}

static int print_rules(const struct action *action, const json_t *alerts, struct tk_error *err)
{
	json_auto_t *printed = json_object();
	const json_t *alert;
	size_t i;

	json_array_foreach ((json_t *)alerts, i, alert) {
		const char *rev = tk_record_text(alert, "bad_rev");

		if (strcmp(tk_record_text(alert, "kind"), "missing-data") == 0)
			return tk_fail(err, TK_EUSAGE,
			        "missing data is not in a diff; record it without --yaml");
		if (!json_object_get(printed, rev))
			print_rule(action, alerts, rev);
		json_object_set_new(printed, rev, json_true());
	}
	return TK_OK;
}

static int print_ack_rules(const json_t *groups, const struct action *action, struct tk_error *err)
{
	for (size_t i = 0; i < opt.ids.count; i++) {
		const json_t *group, *one;

		TRY(tk_alerts_find(groups, opt.ids.items[i], &group, &one, err));
		json_auto_t *alerts =
		        one ? json_pack("[O]", one) : json_incref(json_object_get(group, "alerts"));

		TRY(print_rules(action, alerts, err));
	}
	return TK_OK;
}

/* ---- actions --------------------------------------------------------------------------------- */

/* Records for all ids or none; what was done is printed for each. */
static int record(const struct tk_globals *g, const json_t *groups, const struct action *action,
        struct tk_error *err)
{
	const json_t *group, *one;
	struct tk_triage_row row = {.at_s = tk_clock_now_s(),
	        .author = opt.by,
	        .action = action->triage,
	        .note = opt.note};
	int status = TK_OK;

	TRY(tk_store_begin(g->store, err));
	for (size_t i = 0; !status && i < opt.ids.count; i++) {
		status = tk_alerts_find(groups, opt.ids.items[i], &group, &one, err);
		row.alert_uid = status ? "" : tk_record_text(one ? one : group, one ? "uid" : "id");
		if (!status)
			status = tk_store_append_triage(g->store, &row, err);
	}
	TRY(tk_store_end(g->store, status, err));
	for (size_t i = 0; !g->quiet && i < opt.ids.count; i++) {
		TRY(tk_alerts_find(groups, opt.ids.items[i], &group, &one, err));
		tk_print_line(stdout, "%s: %.8s %s", action->done,
		        tk_record_text(one ? one : group, one ? "uid" : "id"),
		        tk_record_text(one ? one : group, "title"));
	}
	return TK_OK;
}

/* Returns TK_EXIT_FOUND while there is new missing data. */
static int check_missing_data(
        const struct tk_globals *g, const json_t *groups, struct tk_error *err)
{
	const struct tk_notify_options notify = {
	        .webhook_url = g->config->webhook_url, .site_url = g->config->site_url};
	const json_t *group, *alert;
	int code = TK_EXIT_OK;
	size_t i, k;

	json_array_foreach ((json_t *)groups, i, group)
		json_array_foreach (json_object_get(group, "alerts"), k, alert) {
			const char *state = tk_record_text(alert, "state");

			if (strcmp(tk_record_text(alert, "kind"), "missing-data") != 0 ||
			        strcmp(tk_record_text(alert, "status"), "open") != 0)
				continue;
			tk_print_line(stdout, "%-9s %s", state, tk_record_text(alert, "title"));
			if (strcmp(state, "new") == 0)
				code = TK_EXIT_FOUND;
		}
	TRY(tk_notify_send_alerts(g->store, &notify, err));
	return code;
}

static int show(const struct tk_globals *g, const json_t *groups, struct tk_error *err)
{
	const json_t *group, *one;

	if (opt.ids.count != 1)
		return tk_fail(err, TK_EUSAGE, "show: expected one id");
	TRY(tk_alerts_find(groups, opt.ids.items[0], &group, &one, err));
	return tk_alerts_print_group(g, group, one, opt.json, err);
}

static int run_alert(struct tk_globals *g, struct tk_error *err)
{
	const int a = TK_FIND_ACTION(actions, opt.action ? opt.action : "list", err);
	AUTO(tk_detect_policy) policy = {0};
	json_auto_t *groups = NULL;

	TRY(a < 0 ? a : check_arguments(&actions[a], err));
	bool reads = a == LIST || a == SHOW || opt.yaml;
	TRY(tk_command_open(g, reads ? TK_OPENS_READ : TK_OPENS_WRITE, err));
	TRY(tk_detect_policy_load(g->config, NULL, &policy, err));
	if (a == CHECK)
		TRY(tk_missing_data_update_alerts(g->store, &policy.options, 0, err));
	TRY(tk_alerts_load(g->store, &policy.options, &groups, err));
	switch (a) {
	case LIST:
		return tk_alerts_print_list(g, groups, opt.state, opt.all, opt.json, err);
	case SHOW:
		return show(g, groups, err);
	case CHECK:
		return check_missing_data(g, groups, err);
	default:
		return opt.yaml ? print_ack_rules(groups, &actions[a], err)
		                : record(g, groups, &actions[a], err);
	}
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
