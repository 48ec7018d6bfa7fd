/* Alerts -> sinks. A sink is one row in the table of notify.c and one function. */
#ifndef TK_NOTIFY_H
#define TK_NOTIFY_H
#include <stdint.h>

struct tk_error;
struct tk_store;

struct tk_notify_options {
	/* "https://..." and "http://..." receive one POST of JSON, "file:PATH" one line of JSON per
	 * alert; NULL: no sink. */
	const char *webhook_url;
	const char *site_url; /* for links; may be NULL */
	int64_t night_id;
};

/* Sends open alerts without a triage state that this address has not received yet. After a failure
 * nothing is recorded as sent: the next call tries again. */
int tk_notify_send_alerts(
        struct tk_store *store, const struct tk_notify_options *options, struct tk_error *err);

#endif
