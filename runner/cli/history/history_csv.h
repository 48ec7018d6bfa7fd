/* Histories from a CSV file with series_id, day, value and, optionally, commit; other columns are
 * ignored. As after `tracker import`, the days order a series, not the rows of the file: those of
 * one day stay in the order of the file. */
#ifndef TK_HISTORY_CSV_H
#define TK_HISTORY_CSV_H
#include "base/clock.h"
#include "decide/decide.h"

struct tk_history_csv;
struct tk_error;

/* env_path (columns machine,day,driver) and meta_path (series_id,machine) may be NULL. TK_EDATA: a
 * wrong row, with file, line and field. Free *out in any case. */
int tk_history_csv_read(const char *path, const char *env_path, const char *meta_path,
        struct tk_history_csv **out, struct tk_error *err);
const struct tk_series_history *tk_history_csv_series(
        const struct tk_history_csv *h, size_t *count); /* in the order of their first rows */
const char *tk_history_csv_commit(const struct tk_history_csv *h, size_t series, size_t index);

/* As the file has its days: a date where one of them is a date, else the number. Returns `out`. */
const char *tk_history_csv_format_day(
        const struct tk_history_csv *h, int64_t day, char out[TK_TIME_ISO_SIZE]);
void tk_history_csv_free(struct tk_history_csv *h);

#endif
