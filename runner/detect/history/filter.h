/* "key:glob" of --filter: which series are meant. */
#ifndef TK_DETECT_FILTER_H
#define TK_DETECT_FILTER_H
#include <stdbool.h>

struct tk_error;

/* What can be asked about a series; every member is a string, none is NULL. */
struct tk_filter_fields {
	const char *backend, *problem, *title, *op, *dtype, *device, *device_name, *machine,
	        *upstream, *metric, *mode, *config, *role, *series;
};

/* TK_EUSAGE for a filter without a key, with an unknown key or an empty glob. filters:
 * NULL-terminated, or NULL. */
/* The keys, NULL-terminated. */
const char *const *tk_filter_keys(void);
int tk_filter_check(const char *const *filters, struct tk_error *err);
/* Filters of one key are alternatives, different keys must all match. Letters' case does not
 * matter. */
bool tk_filter_match(const char *const *filters, const struct tk_filter_fields *s);

/* One of them matches: what is left out. */
bool tk_filter_match_any(const char *const *filters, const struct tk_filter_fields *s);

#endif
