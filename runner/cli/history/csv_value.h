/* Numbers in the fields of a CSV file. */
#ifndef TK_CLI_CSV_VALUE_H
#define TK_CLI_CSV_VALUE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/csv.h"

/* `text`, a field of the current row, as a whole number and as any number. A date is the number of
 * days since 1970, and *is_date. TK_EDATA, with the line, if it is not one. */
int tk_csv_read_day(const struct tk_csv *t, const char *text, int64_t *day, bool *is_date,
        struct tk_error *err);
int tk_csv_read_value(
        const struct tk_csv *t, const char *text, double *value, struct tk_error *err);

#endif
