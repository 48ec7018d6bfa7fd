/* `tracker alert`: lists open alerts and records what people decide about them. */
#include "cli/triage/alert.h"
#include "base/try.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/options.h"
#include "config/config.h"
#include "nightly/stages/detect_policy.h"
#include "notify/notify.h"

static struct tk_alert_options opt = {.state = -1};

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
static int take_text(const struct action *action, struct tk_alert_options *o, struct tk_error *err)
{
	bool is_url = action->argument == ID_AND_URL;

	if (o->ids.count == 2 && !o->note)
		o->note = o->ids.items[--o->ids.count];
	if (o->ids.count != 1 || !o->note || !*o->note)
		return tk_fail(err, TK_EUSAGE, "%s: expected an id and a %s", action->name,
		        is_url ? "URL" : "text");
	if (is_url && !is_web_url(o->note))
		return tk_fail(err, TK_EUSAGE,
		        "link: \"%.200s\": expected a URL that starts with https:// or http://",
		        o->note);
	return TK_OK;
}

static int check_arguments(
        const struct action *action, struct tk_alert_options *o, struct tk_error *err)
{
	bool has_text = action->argument == ID_AND_URL || action->argument == ID_AND_TEXT;
	int status = has_text ? take_text(action, o, err) : TK_OK;

	if (status)
		return status;
	if (action->argument != NONE && !o->ids.count)
		return tk_fail(err, TK_EUSAGE,
		        "%s: expected the id of an alert (`tracker alert` lists them)",
		        action->name);
	if (action->needs_note && (!o->note || !*o->note))
		return tk_fail(
		        err, TK_EUSAGE, "%s: expected --note=TEXT with the reason", action->name);
	if (o->yaml && !action->has_yaml)
		return tk_fail(err, TK_EUSAGE, "--yaml: expected ack, expect or ignore");
	if (o->yaml && (!o->note || !*o->note))
		return tk_fail(err, TK_EUSAGE, "--yaml: expected --note=TEXT with the reason");
	o->note = o->note ? o->note : "";
	o->by = o->by && *o->by ? o->by : current_user();
	return TK_OK;
}

int tk_alert_find(const struct tk_alerts *a, const char *id, const struct tk_alert_group **group,
        const struct tk_alert_row **one, struct tk_error *err)
{
	int status = tk_alerts_find(a, id, group, one, err);

	if (status == TK_ENOTFOUND)
		err->status = status = TK_EUSAGE;
	return status;
}

static int check_missing_data(struct tk_store *s, const struct tk_config *c,
        const struct tk_detect_options *d, int *code, struct tk_error *err)
{
	const struct tk_notify_options notify = {
	        .webhook_url = c->webhook_url, .site_url = c->site_url};
	struct tk_alerts a = {0};
	int status = tk_missing_data_update_alerts(s, d, 0, err);

	if (!status)
		status = tk_alerts_load(s, d, &a, err);
	for (size_t i = 0; !status && i < a.rows.count; i++) {
		const struct tk_alert_row *alert = TK_ROWS_AT(&a.rows, struct tk_alert_row, i);
		enum tk_triage_state state;

		if (alert->kind != TK_ALERT_MISSING_DATA || alert->status != TK_ALERT_OPEN)
			continue;
		state = tk_alert_compute_state(&a.triage, alert);
		printf("%-9s ", tk_triage_state_name(state));
		tk_text_write_sanitized(stdout, alert->title, "");
		putchar('\n');
		if (state == TK_TRIAGE_NEW)
			*code = TK_EXIT_FOUND;
	}
	tk_alerts_free(&a);
	return status ? status : tk_notify_send_alerts(s, &notify, err);
}

static int run_action(const struct tk_globals *g, const struct action *action,
        const struct tk_alert_options *o, const struct tk_alerts *a, struct tk_store *store,
        struct tk_error *err)
{
	switch (action->kind) {
	case LIST:
		return tk_alert_list(g, o, a, err);
	case SHOW:
		return tk_alert_show(g, o, a, err);
	default:
		return o->yaml ? tk_alert_print_ack_rules(o, a, err)
		               : tk_alert_record(g, store, o, a, action->done, err);
	}
}

static int run_subcommand(const struct tk_globals *g, const struct action *action,
        const struct tk_alert_options *o, const struct tk_config *config, struct tk_store *store,
        int *code, struct tk_error *err)
{
	struct tk_detect_policy policy;
	struct tk_alerts a = {0};
	int status = tk_detect_policy_load(config, NULL, &policy, err);

	if (!status && action->kind == CHECK) {
		status = check_missing_data(store, config, &policy.options, code, err);
	} else if (!status) {
		status = tk_alerts_load(store, &policy.options, &a, err);
		if (!status)
			status = tk_alerts_load_evidence(store, &a, err);
		if (!status)
			status = run_action(g, action, o, &a, store, err);
		tk_alerts_free(&a);
	}
	tk_detect_policy_free(&policy);
	return status;
}

static int run_alert(struct tk_globals *g, struct tk_error *err)
{
	const struct action *action = find_action(opt.action ? opt.action : actions[0].name, err);
	int result = TK_OK;

	if (!action)
		return err->status;
	TRY(check_arguments(action, &opt, err));
	opt.triage = action->triage;
	bool reads = action->kind == LIST || action->kind == SHOW || opt.yaml;
	TRY(tk_command_open(g, reads ? TK_OPENS_READ : TK_OPENS_WRITE, err));
	TRY(run_subcommand(g, action, &opt, g->config, g->store, &result, err));
	return result;
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
