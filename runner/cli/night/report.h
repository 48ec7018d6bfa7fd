/* The summary that a night prints at its end, and its exit code. Used by nightly and backfill. */
#ifndef TK_NIGHT_REPORT_H
#define TK_NIGHT_REPORT_H
#include <stddef.h>

struct tk_error;
struct tk_night_report;
struct tk_store;

void tk_night_report_print(struct tk_store *store, const struct tk_night_report *report);

/* TK_EXIT_FOUND if a series has a status of fail_on (NULL-terminated names), TK_EXIT_INCOMPLETE if
 * the night is incomplete, else TK_EXIT_OK. */
int tk_night_report_exit_code(const struct tk_night_report *report, char *const *fail_on);

/* "regressed,missing" -> checked names; "none" is the empty list. Free with tk_fail_on_free.
 * TK_EUSAGE: an unknown status. */
int tk_fail_on_parse(const char *text, char ***statuses, struct tk_error *err);
void tk_fail_on_free(char **statuses);

#endif
