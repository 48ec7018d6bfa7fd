/* What the parts of `tracker alert` share: alert.c has the actions, alert_show.c and alert_json.c
 * print alerts, alert_record.c records what people decide. */
#ifndef TK_CLI_ALERT_H
#define TK_CLI_ALERT_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/commands.h"
#include "cli/triage/alert_groups.h"

struct tk_alert_options {
	const char *action;           /* as typed; NULL: list */
	enum tk_triage_action triage; /* where that is an action on an alert */
	struct tk_option_list ids;
	const char *note, *by; /* NULL: not given */
	int state;             /* list only these; -1: all */
	bool all, json, yaml;
};

/* As tk_alerts_find, but an unknown id is TK_EUSAGE. */
int tk_alert_find(const struct tk_alerts *a, const char *id, const struct tk_alert_group **group,
        const struct tk_alert_row **one, struct tk_error *err);

const char *tk_alert_upstream_name(const struct tk_alerts *a, const struct tk_alert_group *g);
json_t *tk_alert_group_json(const struct tk_alerts *a, const struct tk_alert_group *g);

int tk_alert_list(const struct tk_globals *g, const struct tk_alert_options *o,
        const struct tk_alerts *a, struct tk_error *err);
int tk_alert_show(const struct tk_globals *g, const struct tk_alert_options *o,
        const struct tk_alerts *a, struct tk_error *err);

/* Prints the groups as rules of acks.yml. */
int tk_alert_print_ack_rules(
        const struct tk_alert_options *o, const struct tk_alerts *a, struct tk_error *err);
/* Records o->triage for all ids or none; `done` ("acked") is printed for each. */
int tk_alert_record(const struct tk_globals *g, struct tk_store *s,
        const struct tk_alert_options *o, const struct tk_alerts *a, const char *done,
        struct tk_error *err);

#endif
