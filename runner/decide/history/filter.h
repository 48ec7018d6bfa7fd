/* "key:glob" filters: which series to report. */
#ifndef TK_DECIDE_FILTER_H
#define TK_DECIDE_FILTER_H
#include <stdbool.h>

struct tk_error;

/* What filters see of a series. No member is NULL. */
struct tk_filter_fields {
	const char *backend, *problem, *title, *op, *dtype, *device, *device_name, *machine,
	        *upstream, *metric, *mode, *config, *role, *series;
};

/* The keys, NULL-terminated. */
const char *const *tk_filter_keys(void);
/* filters: NULL-terminated, or NULL. TK_EUSAGE: no key, an unknown key, or an empty glob. */
int tk_filter_check(const char *const *filters, struct tk_error *err);
/* Filters of one key are alternatives; different keys must all match. Ignores case. */
bool tk_filter_match(const char *const *filters, const struct tk_filter_fields *s);
/* At least one filter matches. */
bool tk_filter_match_any(const char *const *filters, const struct tk_filter_fields *s);

#endif
