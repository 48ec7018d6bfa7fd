/* Alerts -> sinks. A sink is one row in the table of notify.c and one function; sending twice is harmless (alerts have ids). */
#ifndef TK_NOTIFY_H
#define TK_NOTIFY_H
#include <stdint.h>

struct tk_config;
struct tk_error;
struct tk_store;

struct tk_notify_options { const char *webhook_url; const char *site_url; int64_t night_id; };

int tk_notify_night(struct tk_store *store, const struct tk_notify_options *options, struct tk_error *err);

#endif
