/* The summary that a night prints at its end, and its exit code. Used by nightly and backfill. */
#ifndef TK_NIGHT_REPORT_H
#define TK_NIGHT_REPORT_H
#include <stddef.h>

#include "cli/options.h"

struct tk_error;
struct tk_night_report;
struct tk_store;

void tk_night_report_print(struct tk_store *store, const struct tk_night_report *report);

/* TK_EXIT_FOUND if a series has a status of fail_on, TK_EXIT_INCOMPLETE if something failed.
 * fail_on may be NULL. */
int tk_night_report_exit_code(
        const struct tk_night_report *report, const struct tk_status_set *fail_on);

#endif
