/* One night, for those that analyse nights: after it, again, and for the newest. Private to
 * detect/. */
#ifndef TK_DECIDE_NIGHT_H
#define TK_DECIDE_NIGHT_H
#include "decide/monitor/monitor_session.h"
#include "decide/report/diff_row.h"
#include "decide/verdict_rows.h"

/* Evidence that comes late still counts: a night is analysed with the two before it. */
#define TK_NIGHT_WINDOW 3

/* A replay leaves out change points and missing data: later nights decide about them. */
enum tk_detect_mode { TK_DETECT_PREVIEW, TK_DETECT_NIGHT, TK_DETECT_REPLAY };

/* What a replay keeps from night to night instead of reading and storing it for each of them: the
 * tables that no night changes, the points and the monitors. The states of monitors are stored at
 * its end. */
struct tk_replay_memory {
	struct tk_catalog catalog;
	struct tk_kept_monitors monitors;
	struct tk_point_reader *reader;
};

/* Of *report only the rows, in any order, and by_status are set. Free it in any case. */
int tk_detect_replay_night(struct tk_store *s, int64_t night_id,
        const struct tk_detect_options *options, struct tk_replay_memory *memory,
        struct tk_diff_report *report, struct tk_error *err);
/* Start of the range of a night: the third newest night of its machine. *previous: the night
 * before it; 0: none. */
int64_t tk_night_find_range(
        const struct tk_rows *nights, const struct tk_night_row *night, int64_t *previous);
/* Reports an improvement once: not again if the night `previous` reported it. rows[i] is of
 * case i. */
int tk_diff_report_suppress_repeats(struct tk_store *s, const struct tk_analysis *c,
        int64_t previous, struct tk_diff_report *r, struct tk_error *err);

/* change_points.c: searches the whole history of a series and stores what it finds. */
int tk_detect_change_points(struct tk_store *s, struct tk_catalog *c,
        const struct tk_series_row *series, double min_effect, struct tk_error *err);
/* Of all series of the catalog. */
int tk_detect_all_change_points(
        struct tk_store *s, struct tk_catalog *c, double min_effect, struct tk_error *err);

#endif
