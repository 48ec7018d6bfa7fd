/* Levels that series had before their alerts, kept in memory between the nights of a replay: an
 * alert that stays open is asked for its level each night. Private to detect/. */
#ifndef TK_DETECT_ALERT_LEVELS_H
#define TK_DETECT_ALERT_LEVELS_H
#include <stdbool.h>
#include <stddef.h>

struct tk_alert_row;

struct tk_alert_levels {
	struct tk_alert_level *at; /* by series */
	size_t count, capacity;
};

/* False: not known, or the alert is about another change by now. `levels` may be NULL. */
bool tk_alert_levels_find(
        const struct tk_alert_levels *levels, const struct tk_alert_row *a, double *level);
/* 0 or TK_ENOMEM. */
int tk_alert_levels_put(struct tk_alert_levels *levels, const struct tk_alert_row *a, double level);
void tk_alert_levels_free(struct tk_alert_levels *levels);

#endif
