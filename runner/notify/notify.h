/* Alerts -> sinks. A sink is one row in the table of notify.c and one function; sending twice is
 * harmless (alerts have ids). */
#ifndef TK_NOTIFY_H
#define TK_NOTIFY_H
#include <stdint.h>

struct tk_error;
struct tk_store;

/* webhook_url: "https://..." or "http://..." gets one POST of JSON, "file:PATH" a line of JSON for
 * each alert; NULL: nobody wants to know. */
struct tk_notify_options {
	const char *webhook_url;
	const char *site_url;
	int64_t night_id;
};

/* Tells every open alert of which nobody has said anything and that the address has not been told
 * yet. Where sending fails nothing is remembered: the next call tries again. */
int tk_notify_send_alerts(
        struct tk_store *store, const struct tk_notify_options *options, struct tk_error *err);

#endif
