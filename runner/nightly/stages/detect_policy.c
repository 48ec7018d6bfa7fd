/* See judging.h. */
#include "nightly/stages/detect_policy.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
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
	        .stoppage_nights = t->stoppage_nights,
	        .now_s = tk_clock_now_s()};
}

static int take_rules(struct tk_detect_policy *j, struct tk_error *err)
{
	j->rules = calloc(j->acks->count + 1, sizeof *j->rules);
	if (!j->rules)
		return tk_fail(err, TK_ENOMEM, "out of memory while reading what was accepted");
	for (size_t i = 0; i < j->acks->count; i++) {
		const struct tk_ack *a = &j->acks->at[i];

		j->rules[i] = (struct tk_ack_rule){.filters = (const char *const *)a->filters,
		        .rev = a->rev,
		        .action = a->action,
		        .author = a->by,
		        .note = a->note,
		        .until_s = a->until_s};
	}
	j->options.acks = j->rules;
	j->options.ack_count = j->acks->count;
	return TK_OK;
}

int tk_detect_policy_load(const struct tk_config *c, const char *acks_path,
        struct tk_detect_policy *out, struct tk_error *err)
{
	const char *path = acks_path ? acks_path : c->acks_path;
	char *usual = NULL;
	int status = TK_OK;

	*out = (struct tk_detect_policy){.options = tk_detect_policy_thresholds(c)};
	if (!path) {
		usual = tk_path_join(c->root, "acks.yml");
		if (!usual)
			return tk_fail(err, TK_ENOMEM, "out of memory");
		path = tk_file_exists(usual) ? usual : NULL;
	}
	if (path)
		status = tk_acks_load(path, tk_filter_keys(), &out->acks, err);
	if (status == TK_ENOTFOUND)
		status = tk_fail(err, TK_ECONFIG,
		        "there is no file %s, expected a list of what was accepted", path);
	if (!status && out->acks)
		status = take_rules(out, err);
	free(usual);
	return status;
}

void tk_detect_policy_free(struct tk_detect_policy *j)
{
	free(j->rules);
	tk_acks_free(j->acks);
	*j = (struct tk_detect_policy){0};
}
