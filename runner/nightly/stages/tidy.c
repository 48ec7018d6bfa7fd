/* The last stages. "tidy": drops artifacts and samples that the configured limits do not keep.
 * "publish": the program's pages, and notifications of new alerts. */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/try.h"
#include "nightly/night.h"
#include "notify/notify.h"

/* The builds that changes are compared with stay in the cache: the newest good one of each
 * upstream. */
static int evict_artifacts(struct tk_night *n, struct tk_error *err)
{
	struct kept {
		const char *key;
	};
	static const struct tk_db_column columns[] = {TK_MEMBER(struct kept, key)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct kept, columns);
	AUTO(tk_rows) rows = {0};
	TRY(tk_store_select(n->store,
	        "SELECT artifact_key AS key FROM (SELECT artifact_key, row_number() OVER"
	        " (PARTITION BY upstream_id ORDER BY built_s DESC, id DESC) AS age"
	        " FROM build_v WHERE status='ok') WHERE age=1",
	        TK_NO_ARGS, &type, &rows, err));
	/* the only member of each row */
	return tk_artifact_evict(
	        n->config->cache_dir, n->config->budgets.cache_bytes, rows.rows, rows.count, err);
}

int tk_night_tidy(struct tk_night *n, struct tk_error *err)
{
	int64_t keep_s = (int64_t)n->config->keep_samples_days * 86400;
	if (n->config->budgets.cache_bytes)
		TRY(evict_artifacts(n, err));
	return keep_s ? tk_store_drop_samples(n->store, tk_clock_now_s() - keep_s, err) : TK_OK;
}

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
