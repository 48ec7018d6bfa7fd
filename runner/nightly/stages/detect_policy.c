/* Stage "detect": verdicts, change points and alerts of the night; and detect_policy.h. */
#include "nightly/stages/detect_policy.h"
#include "base/base.h"
#include "config/config.h"
#include "decide/decide.h"
#include "nightly/night.h"

struct tk_detect_options tk_detect_policy_thresholds(const struct tk_config *config)
{
	const struct tk_threshold_config *t = &config->thresholds;

	return (struct tk_detect_options){.min_effect = t->min_effect,
	        .min_effect_ns = t->min_effect_ns,
	        .fdr = t->fdr,
	        .window = t->window,
	        .stale_days = t->stale_days,
	        .missing_data_nights = t->missing_data_nights,
	        .now_s = tk_clock_now_s()};
}

static int load_acks(const char *path, struct tk_detect_policy *policy, struct tk_error *err)
{
	int status = tk_acks_load(path, tk_filter_keys(), &policy->acks, err);
	if (status)
		return status == TK_ENOTFOUND
		               ? tk_fail(err, TK_ECONFIG,
		                         "no file %s; expected a list of acknowledgements", path)
		               : status;
	size_t count = policy->options.ack_count = policy->acks->count;
	policy->options.acks = policy->rules = tk_calloc(count + 1, sizeof *policy->rules);
	for (size_t i = 0; i < count; i++) {
		const struct tk_ack *a = &policy->acks->at[i];
		policy->rules[i] = (struct tk_ack_rule){.filters = (const char *const *)a->filters,
		        .rev = a->rev,
		        .action = a->action,
		        .author = a->by,
		        .note = a->note,
		        .until_s = a->until_s};
	}
	return TK_OK;
}

int tk_detect_policy_load(const struct tk_config *c, const char *acks_path,
        struct tk_detect_policy *out, struct tk_error *err)
{
	const char *path = acks_path ? acks_path : c->acks_path;
	*out = (struct tk_detect_policy){.options = tk_detect_policy_thresholds(c)};
	if (path)
		return load_acks(path, out, err);
	AUTO_TEXT usual = tk_path_join(c->root, "acks.yml");
	return tk_file_exists(usual) ? load_acks(usual, out, err) : TK_OK;
}

void tk_detect_policy_free(struct tk_detect_policy *policy)
{
	free(policy->rules);
	tk_acks_free(policy->acks);
	*policy = (struct tk_detect_policy){0};
}

/* ---- the stage ---- */

static int run_detection(
        struct tk_night *n, int64_t night_id, struct tk_diff_report *report, struct tk_error *err)
{
	AUTO(tk_detect_policy) policy = {0};
	struct tk_error reason = {0};
	/* acks.yml was valid when the night began; an error since then must not lose the
	 * verdicts. */
	if (tk_detect_policy_load(n->config, NULL, &policy, &reason))
		tk_log(TK_LOG_WARN, "acks", NULL, "acknowledgements ignored: %s", reason.message);
	return tk_detect_night(n->store, night_id, &policy.options, report, err);
}

int tk_night_rerun_detection(
        struct tk_night *n, int64_t night_id, struct tk_diff_report *report, struct tk_error *err)
{
	int status = run_detection(n, night_id, report, err);
	if (status)
		tk_error_add_context(err,
		        "the result and its A/B pairs are stored, but the verdicts of "
		        "the night were not updated; run the command again");
	return status;
}

int tk_night_detect(struct tk_night *n, struct tk_error *err)
{
	AUTO(tk_diff_report) report = {0};
	TRY(run_detection(n, n->night_id, &report, err));
	memcpy(n->report->by_status, report.by_status, sizeof n->report->by_status);
	return TK_OK;
}
