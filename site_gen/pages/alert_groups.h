/* Alerts by group: those of one commit on similar devices. */
#ifndef TK_SITE_ALERT_GROUPS_H
#define TK_SITE_ALERT_GROUPS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/triage.h"

struct tk_alert_row;
struct tk_error;
struct tk_site;
struct tk_site_series;

struct tk_alert_group {
	const struct tk_alert_row *const *members; /* the largest change first */
	size_t count;
	bool open;
	const struct tk_alert_row *lead; /* its first open member, else its first */
	enum tk_triage_state state;      /* of that one */
	int64_t opened_s, closed_s;
};
struct tk_alert_groups {
	const struct tk_alert_row **alerts;
	struct tk_alert_group *at;
	size_t count;
};

/* Most urgent first. Free with tk_alert_groups_free(), after a failure as well. */
int tk_alert_groups_load(
        const struct tk_site *site, struct tk_alert_groups *out, struct tk_error *err);
void tk_alert_groups_free(struct tk_alert_groups *g);

const struct tk_site_series *tk_alert_series(
        const struct tk_site *site, const struct tk_alert_row *alert); /* NULL: of no series */
bool tk_alert_is_change(const struct tk_alert_row *alert);

#endif
