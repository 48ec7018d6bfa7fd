/* What the commands that run nights share: the site, the report, the exit code. */
#ifndef TK_NIGHT_REPORT_H
#define TK_NIGHT_REPORT_H
#include "cli/arguments.h"
#include "nightly/nightly.h"

struct tk_globals;

/* tk_night_publisher.publish; arg: the configuration. */
int tk_night_report_publish(
        void *arg, struct tk_store *store, char *index_path, struct tk_error *err);
void tk_night_report_print(struct tk_store *store, const struct tk_night_report *r);
/* fail_on NULL: none. */
int tk_night_report_exit_code(
        const struct tk_night_report *report, const struct tk_status_set *fail_on);

#endif
