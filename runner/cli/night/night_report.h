/* What the commands that run nights share: the site, the report, the exit code. */
#ifndef TK_NIGHT_REPORT_H
#define TK_NIGHT_REPORT_H
#include "cli/arguments.h"
#include "nightly/nightly.h"

struct tk_globals;

/* --dry-run: the newest revision of one upstream, or of all that are built, and what building and
 * measuring them takes. Opens what it needs. */
int tk_night_plan_print_newest(struct tk_globals *g, const char *upstream, struct tk_error *err);

/* The same of a range, both ends included; everything is open. */
int tk_night_plan_print_range(struct tk_globals *g, const char *upstream, const char *from,
        const char *to, struct tk_error *err);

/* tk_night_publisher.publish; arg: the configuration. */
int tk_night_report_publish(
        void *arg, struct tk_store *store, char *index_path, struct tk_error *err);
void tk_night_report_print(struct tk_store *store, const struct tk_night_report *r);
/* fail_on NULL: none. */
int tk_night_report_exit_code(
        const struct tk_night_report *report, const struct tk_status_set *fail_on);

#endif
