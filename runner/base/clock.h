/* Time: the monotonic clock, the calendar, and the notation that users write for both.
 *
 * TRACKER_NOW=<ISO time or seconds> pins the calendar for tests and reproducible sites. */
#ifndef TK_BASE_CLOCK_H
#define TK_BASE_CLOCK_H
#include <stdint.h>

struct tk_error;

int64_t tk_clock_monotonic_ns(void);
int64_t tk_clock_now_s(void); /* seconds since the epoch, UTC */
void tk_clock_sleep_ns(int64_t ns);

#define TK_TIME_ISO_SIZE 32
const char *tk_time_format_iso(
        int64_t t_s, char out[TK_TIME_ISO_SIZE]); /* 2026-11-21T09:42:00Z; returns out */
const char *tk_time_format_day(
        int64_t t_s, char out[TK_TIME_ISO_SIZE]); /* 2026-11-21; returns out */
int tk_time_parse(const char *text, int64_t *t_s,
        struct tk_error *err); /* 2026-11-21, 2026-11-21T09:42[:00][Z|+hh:mm], @seconds */

#endif
