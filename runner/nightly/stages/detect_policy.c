/* See detect_policy.h. */
#include "nightly/stages/detect_policy.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "config/acks.h"
#include "config/config.h"
#include "detect/history/filter.h"

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

static int copy_rules(struct tk_detect_policy *policy, struct tk_error *err)
{
	size_t count = policy->acks->count;
	policy->rules = tk_calloc(count + 1, sizeof *policy->rules);
	for (size_t i = 0; i < count; i++) {
		const struct tk_ack *a = &policy->acks->at[i];
		policy->rules[i] = (struct tk_ack_rule){.filters = (const char *const *)a->filters,
		        .rev = a->rev,
		        .action = a->action,
		        .author = a->by,
		        .note = a->note,
		        .until_s = a->until_s};
	}
	policy->options.acks = policy->rules;
	policy->options.ack_count = count;
	return TK_OK;
}

static int load_acks(const char *path, struct tk_detect_policy *policy, struct tk_error *err)
{
	int status = tk_acks_load(path, tk_filter_keys(), &policy->acks, err);
	if (status == TK_ENOTFOUND)
		return tk_fail(
		        err, TK_ECONFIG, "no file %s; expected a list of acknowledgements", path);
	return status ? status : copy_rules(policy, err);
}

int tk_detect_policy_load(const struct tk_config *c, const char *acks_path,
        struct tk_detect_policy *out, struct tk_error *err)
{
	const char *path = acks_path ? acks_path : c->acks_path;
	*out = (struct tk_detect_policy){.options = tk_detect_policy_thresholds(c)};
	if (path)
		return load_acks(path, out, err);
	char *usual = tk_path_join(c->root, "acks.yml");
	if (!usual)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	int status = tk_file_exists(usual) ? load_acks(usual, out, err) : TK_OK;
	free(usual);
	return status;
}

void tk_detect_policy_free(struct tk_detect_policy *policy)
{
	free(policy->rules);
	tk_acks_free(policy->acks);
	*policy = (struct tk_detect_policy){0};
}
