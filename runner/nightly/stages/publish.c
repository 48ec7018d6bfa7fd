/* Stage "publish": the program's pages, and notifications of new alerts. */
#include "base/error.h"
#include "base/log.h"
#include "nightly/night.h"
#include "notify/notify.h"

int tk_night_publish(struct tk_night *n, struct tk_error *err)
{
	const struct tk_night_publisher *p = n->options->publisher;
	struct tk_notify_options notify = {.webhook_url = n->config->webhook_url,
	        .site_url = n->config->site_url,
	        .night_id = n->night_id};
	struct tk_error reason = {0};
	int status = p ? p->publish(p->arg, n->store, n->report->site_index, err) : TK_OK;
	if (tk_notify_send_alerts(n->store, &notify, &reason))
		tk_log(TK_LOG_WARN, "notify", NULL, "could not deliver all notifications: %s",
		        reason.message);
	return status;
}
