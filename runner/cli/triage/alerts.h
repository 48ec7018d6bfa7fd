/* Alerts as people work on them: grouped, with their triage, as records (docs/reference/json.md).
 * alerts.c reads and prints them, alert.c has the actions. */
#ifndef TK_CLI_ALERTS_H
#define TK_CLI_ALERTS_H
#include <jansson.h>
#include <stdbool.h>

struct tk_detect_options;
struct tk_error;
struct tk_globals;
struct tk_store;

/* Groups, newest first; the alerts of a group by the size of their change. Missing data that no
 * night has written down is among them: the machine that would have is the one that stopped. The
 * caller frees *groups, also after a failure. */
int tk_alerts_load(struct tk_store *s, const struct tk_detect_options *options, json_t **groups,
        struct tk_error *err);

/* By the first digits of the id of a group or of one alert; *one: that alert, NULL where the whole
 * group is meant. TK_EUSAGE: none, or several. */
int tk_alerts_find(const json_t *groups, const char *id, const json_t **group, const json_t **one,
        struct tk_error *err);

/* state: -1 for all that are open and not decided, or with `all` every one. */
int tk_alerts_print_list(const struct tk_globals *g, const json_t *groups, int state, bool all,
        bool as_json, struct tk_error *err);
/* In full; `one` NULL: the whole group. */
int tk_alerts_print_group(const struct tk_globals *g, const json_t *group, const json_t *one,
        bool as_json, struct tk_error *err);

#endif
