/* What a night says at its end, and the exit code that it means. Shared by nightly and backfill. */
#ifndef TK_NIGHT_REPORT_H
#define TK_NIGHT_REPORT_H
#include <stddef.h>

struct tk_error;
struct tk_night_report;
struct tk_store;

void tk_night_report_print(struct tk_store *store, const struct tk_night_report *report);

/* 1 where a status of fail_on (NULL-terminated words) was found, 3 where the night is incomplete,
 * else 0. */
int tk_night_report_exit_code(const struct tk_night_report *report, char *const *fail_on);

/* Splits "regressed,wrong" into words and checks them; "none" is the empty list. Freed with
 * tk_fail_on_free. */
int tk_fail_on_parse(const char *text, char ***words, struct tk_error *err);
void tk_fail_on_free(char **words);

#endif
