/* The last stages: decide what moved, write the site, tell who wants to know, keep the house small.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "detect/detect.h"
#include "nightly/night.h"
#include "nightly/stages/detect_policy.h"
#include "notify/notify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tk_night_run_detection(
        struct tk_night *n, int64_t night_id, struct tk_diff_report *report, struct tk_error *err)
{
	struct tk_detect_policy judging;
	struct tk_error why = {0};
	/* It was right when the night began; what has been measured is judged even where it no
	 * longer is. */
	if (tk_detect_policy_load(n->config, NULL, &judging, &why) != TK_OK)
		tk_log(TK_LOG_WARN, "acks", NULL, "judged without what was accepted: %s",
		        why.message);
	int status = tk_detect_night(n->store, night_id, &judging.options, report, err);
	tk_detect_policy_free(&judging);
	return status;
}

int tk_night_rerun_detection(
        struct tk_night *n, int64_t night_id, struct tk_diff_report *report, struct tk_error *err)
{
	int status = tk_night_run_detection(n, night_id, report, err);
	return status == TK_OK ? TK_OK
	                       : tk_error_add_context(err,
	                                 "the answer and its pairs are stored, the verdicts of the "
	                                 "night are still "
	                                 "those of before them (the same command tries again)");
}

int tk_night_detect(struct tk_night *n, struct tk_error *err)
{
	struct tk_diff_report report = {0};
	int status = tk_night_run_detection(n, n->night_id, &report, err);
	if (status == TK_OK)
		memcpy(n->report->by_status, report.by_status, sizeof n->report->by_status);
	tk_diff_report_free(&report);
	return status;
}

int tk_night_publish(struct tk_night *n, struct tk_error *err)
{
	struct tk_notify_options notify = {.webhook_url = n->config->webhook_url,
	        .site_url = n->config->site_url,
	        .night_id = n->night_id};
	struct tk_error why = {0};
	const struct tk_night_publisher *p = n->options->publisher;
	int status = TK_OK;
	if (p)
		status = p->publish(p->arg, n->store, n->report->site_index, err);
	if (tk_notify_send_alerts(n->store, &notify, &why) != TK_OK)
		tk_log(TK_LOG_WARN, "notify", NULL, "could not deliver all notifications: %s",
		        why.message);
	return status;
}

static int64_t upstream_of(const struct tk_rows *revisions, int64_t revision_id)
{
	for (size_t i = 0; i < revisions->count; i++) {
		const struct tk_revision_row *r = TK_ROWS_AT(revisions, struct tk_revision_row, i);
		if (r->id == revision_id)
			return r->upstream_id;
	}
	return 0;
}

/* Keys of the newest good artifact of every upstream: these stay in the cache, they are what a
 * change is compared with. The keys live in `builds`. */
static int good_keys(struct tk_night *n, struct tk_rows *builds, const char ***keys, size_t *count,
        struct tk_error *err)
{
	struct tk_rows revisions = {0}, upstreams = {0};
	int status = tk_store_list_builds(n->store, builds, err);
	if (status == TK_OK)
		status = tk_store_list_revisions(n->store, &revisions, err);
	if (status == TK_OK)
		status = tk_store_list_upstreams(n->store, &upstreams, err);
	*keys = calloc(upstreams.count + 1, sizeof **keys);
	if (status == TK_OK && !*keys)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t u = 0; status == TK_OK && u < upstreams.count; u++) {
		const char *newest = NULL;
		int64_t newest_s = INT64_MIN,
		        id = TK_ROWS_AT(&upstreams, struct tk_upstream_row, u)->id;
		for (size_t i = 0; i < builds->count; i++) {
			const struct tk_build_row *b = TK_ROWS_AT(builds, struct tk_build_row, i);
			if (b->status != TK_BUILD_OK || b->built_s < newest_s ||
			        upstream_of(&revisions, b->revision_id) != id)
				continue;
			newest = b->artifact_key;
			newest_s = b->built_s;
		}
		if (newest)
			(*keys)[(*count)++] = newest;
	}
	tk_rows_free(&revisions);
	tk_rows_free(&upstreams);
	return status;
}

int tk_night_tidy(struct tk_night *n, struct tk_error *err)
{
	struct tk_rows builds = {0};
	const char **keys = NULL;
	size_t count = 0;
	int status = TK_OK;
	if (n->config->budgets.cache_bytes) {
		status = good_keys(n, &builds, &keys, &count, err);
		if (status == TK_OK)
			status = tk_artifact_evict(n->config->cache_dir,
			        n->config->budgets.cache_bytes, keys, count, err);
	}
	if (status == TK_OK && n->config->keep_samples_days) {
		int64_t before_s = tk_clock_now_s() - (int64_t)n->config->keep_samples_days * 86400;
		status = tk_store_drop_samples(n->store, before_s, err);
	}
	free(keys);
	tk_rows_free(&builds);
	return status;
}
