/* Alerts of a night and their triage. Private to decide/. */
#ifndef TK_DECIDE_TRIAGE_H
#define TK_DECIDE_TRIAGE_H
#include "decide/history/analysis.h"

/* The uids of the alert of a row and of its group, existing or new. An existing alert stays in its
 * group even if better information has arrived: people may have triaged it. "": out of memory. */
void tk_series_case_make_alert_uids(const struct tk_analysis *c, const struct tk_series_case *k,
        enum tk_verdict_status status, const struct tk_diff_row *row, char uid[TK_ALERT_UID_SIZE],
        char group_uid[TK_ALERT_UID_SIZE]);
const struct tk_alert_row *tk_catalog_find_alert(
        const struct tk_catalog *c, const char *uid); /* NULL: it is new */
/* The line of acks.yml that is about this row; NULL: none. */
const struct tk_ack_rule *tk_ack_rule_find(const struct tk_detect_options *options,
        const struct tk_filter_fields *fields, const struct tk_diff_row *row);
/* A row that such a line accepts gets the status ACKED, if it is about bad news. */
void tk_diff_row_apply_ack_rules(const struct tk_detect_options *options,
        const struct tk_filter_fields *fields, struct tk_diff_row *row);
/* A regression that people accepted gets the status ACKED. */
void tk_series_case_apply_ack(
        const struct tk_analysis *c, const struct tk_series_case *k, struct tk_diff_row *row);

/* Opens an alert for each regression and new failure, closes those that are over, sets the state
 * and the alert of the rows. rows[i] is of case i. */
int tk_alerts_update(struct tk_store *s, struct tk_analysis *c, const struct tk_night_row *night,
        struct tk_diff_report *r, struct tk_error *err);

#endif
