/* A moment as people type it on the command line. */
#ifndef TK_CLI_WHEN_H
#define TK_CLI_WHEN_H
#include <stdbool.h>
#include <stdint.h>

struct tk_error;

/* "7d" (that long before now), a date or time ("2026-11-21", "2026-11-21T09:42:00Z",
 * "@1700000000"), "today", "yesterday" or "last week" -> seconds since 1970, UTC. A day is its
 * first second, with `end_of_day` its last one. TK_EUSAGE: none of these, with a message. */
int tk_when_parse(
        const char *text, int64_t now_s, bool end_of_day, int64_t *out, struct tk_error *err);

#endif
