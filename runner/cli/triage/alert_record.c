/* What people decide about alerts: appended to the history, or printed for acks.yml. */
#include "cli/triage/alert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/try.h"

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

/* One rule of acks.yml for the alerts of a first bad revision. */
static void print_rule(const struct tk_alerts *a, const struct tk_alert_options *o,
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
		print_quoted("rev", bad_rev);
	printf("  action: %s\n", tk_triage_action_name(o->triage));
	print_quoted("by", o->by);
	print_quoted("note", o->note);
}

/* One rule per first bad revision: series that are measured at fewer revisions have a later one. */
static int print_rules(const struct tk_alerts *a, const struct tk_alert_options *o,
        const struct tk_alert_group *g, const struct tk_alert_row *one, struct tk_error *err)
{
	const struct tk_alert_row *const *at =
	        one ? &one : (const struct tk_alert_row *const *)g->alerts;
	size_t count = one ? 1 : g->count;

	if (at[0]->kind == TK_ALERT_MISSING_DATA)
		return tk_fail(
		        err, TK_EUSAGE, "missing data is not in a diff; record it without --yaml");
	for (size_t i = 0; i < count; i++) {
		bool printed = false;

		for (size_t k = 0; k < i; k++)
			printed |= strcmp(at[k]->bad_rev, at[i]->bad_rev) == 0;
		if (!printed)
			print_rule(a, o, at, count, at[i]->bad_rev);
	}
	return TK_OK;
}

int tk_alert_print_ack_rules(
        const struct tk_alert_options *o, const struct tk_alerts *a, struct tk_error *err)
{
	const struct tk_alert_group *g;
	const struct tk_alert_row *one;
	int status = TK_OK;

	for (size_t i = 0; !status && i < o->ids.count; i++) {
		status = tk_alert_find(a, o->ids.items[i], &g, &one, err);
		if (!status)
			status = print_rules(a, o, g, one, err);
	}
	return status;
}

static int record_one(struct tk_store *s, const struct tk_alert_options *o,
        const struct tk_alerts *a, const char *id, struct tk_error *err)
{
	const struct tk_alert_group *g;
	const struct tk_alert_row *one;
	struct tk_triage_row row = {
	        .at_s = tk_clock_now_s(), .author = o->by, .action = o->triage, .note = o->note};
	TRY(tk_alert_find(a, id, &g, &one, err));
	row.alert_uid = one ? one->uid : g->uid;
	return tk_store_append_triage(s, &row, err);
}

static int print_recorded(const struct tk_alert_options *o, const struct tk_alerts *a,
        const char *done, struct tk_error *err)
{
	const struct tk_alert_group *group;
	const struct tk_alert_row *one;
	char title[1024];

	for (size_t i = 0; i < o->ids.count; i++) {
		TRY(tk_alert_find(a, o->ids.items[i], &group, &one, err));
		printf("%s: %.8s ", done, one ? one->uid : group->uid);
		tk_text_write_sanitized(stdout,
		        one ? one->title : tk_alert_group_title(group, title, sizeof title), "");
		putchar('\n');
	}
	return TK_OK;
}

int tk_alert_record(const struct tk_globals *g, struct tk_store *s,
        const struct tk_alert_options *o, const struct tk_alerts *a, const char *done,
        struct tk_error *err)
{
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	for (size_t i = 0; !status && i < o->ids.count; i++)
		status = record_one(s, o, a, o->ids.items[i], err);
	if (status) {
		tk_store_rollback(s);
		return status;
	}
	status = tk_store_commit(s, err);
	return status || g->quiet ? status : print_recorded(o, a, done, err);
}
