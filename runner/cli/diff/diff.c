/* `tracker diff`: shows regressions, improvements and failures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/diff/baseline.h"
#include "cli/diff/options.h"
#include "cli/diff/range.h"
#include "cli/diff/view.h"
#include "config/config.h"
#include "nightly/stages/detect_policy.h"
#include "store/store.h"

static void override_policy(const struct tk_diff_options *o, struct tk_detect_options *d)
{
	d->min_effect = isnan(o->threshold) ? d->min_effect : o->threshold;
	d->min_effect_ns = isnan(o->abs_ns) ? d->min_effect_ns : o->abs_ns;
	d->fdr = isnan(o->alpha) ? d->fdr : o->alpha;
	d->uncorrected = o->uncorrected;
	d->min_samples = (uint32_t)(o->min_samples < UINT32_MAX ? o->min_samples : UINT32_MAX);
	d->confirm_nights =
	        (uint32_t)(o->confirm_nights < UINT32_MAX ? o->confirm_nights : UINT32_MAX);
}

static void read_fail_on(const struct tk_diff_options *o, const struct tk_config *c,
        bool flags[TK_VERDICT_STATUS_COUNT])
{
	char bad[64];

	memset(flags, 0, TK_VERDICT_STATUS_COUNT * sizeof *flags);
	if (o->fail_on) {
		tk_diff_parse_statuses(o->fail_on, flags, bad);
		return;
	}
	for (char *const *word = c->fail_on; word && *word; word++) {
		enum tk_verdict_status s;

		if (!tk_verdict_status_parse(*word, &s)) /* "none" is not a status */
			flags[s] = true;
	}
}

/* A file is written completely or not at all. */
static int write_out(
        const struct tk_diff_options *o, const struct tk_diff_view *v, struct tk_error *err)
{
	char *data = NULL;
	size_t size = 0;
	FILE *f;
	int status;

	if (!o->output) {
		status = o->format->write(v, stdout, err);
		return status || fflush(stdout) == 0 ? status
		                                     : tk_fail_errno(err, "cannot write to stdout");
	}
	f = open_memstream(&data, &size);
	if (!f)
		return tk_fail_errno(err, "cannot write %s", o->output);
	status = o->format->write(v, f, err);
	if (fclose(f) && !status)
		status = tk_fail_errno(err, "cannot write %s", o->output);
	if (!status)
		status = tk_file_write(o->output, data, size, err);
	free(data);
	return status;
}

static int show(const struct tk_globals *g, const struct tk_diff_options *o,
        const struct tk_config *c, const struct tk_diff_report *report, int *code,
        struct tk_error *err)
{
	struct tk_diff_view v = {.globals = g,
	        .report = report,
	        .limit = o->limit,
	        .explicit_statuses = o->statuses_given,
	        .explain = o->explain,
	        .sort = o->sort,
	        .group = o->group,
	        .site_url = o->site_url ? o->site_url : c->site_url,
	        .first_bad_config = o->first_bad ? c : NULL};
	read_fail_on(o, c, v.fail_on);
	memcpy(v.chosen, o->chosen, sizeof v.chosen);
	if (v.limit == SIZE_MAX)
		v.limit = o->format->everything ? 0 : 50;
	int status = tk_diff_view_init(&v, o->format->everything, err);

	if (!status)
		status = write_out(o, &v, err);
	*code = tk_diff_has_fail_on(&v)              ? TK_EXIT_FOUND
	        : report->compared || o->allow_empty ? TK_EXIT_OK
	                                             : TK_EXIT_INCOMPLETE;
	tk_diff_view_free(&v);
	return status;
}

/* Was analysed when it ended: show the stored verdicts. */
static bool shows_newest_night(const struct tk_diff_options *o, const struct tk_detect_options *d)
{
	return o->range.last == 1 && !o->range.until && d->baseline == TK_BASELINE_WINDOW;
}

int tk_cmd_diff(const struct tk_globals *g, int argc, char **argv)
{
	struct tk_diff_options o = {.threshold = NAN,
	        .abs_ns = NAN,
	        .alpha = NAN,
	        .limit = SIZE_MAX,
	        .format = tk_diff_formats};
	struct tk_diff_range range = {0};
	struct tk_diff_report report = {0};
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	struct tk_detect_policy policy = {0};
	struct tk_diff_baseline baseline = {0};
	struct tk_error err = {0};
	int status, code;

	tk_command_parse(&tk_argp_diff, argc, argv, &o);
	code = tk_command_open(g, "diff", TK_STORE_READ, &config, &store);
	if (code)
		return code;
	status = tk_detect_policy_load(config, o.acks, &policy, &err);
	override_policy(&o, &policy.options);
	if (!status)
		status = tk_diff_range_resolve(
		        store, config, &o.range, o.machine, policy.options.now_s, &range, &err);
	if (!status)
		status = tk_diff_baseline_resolve(store, config,
		        o.baseline ? o.baseline : config->thresholds.baseline, &baseline,
		        &policy.options, &err);
	range.machine = o.machine;
	range.filters = o.filter_count ? o.filters : NULL;
	range.ignored = o.ignored_count ? o.ignored : NULL;
	if (!status)
		status = (shows_newest_night(&o, &policy.options)
		                  ? tk_detect_latest_nights
		                  : tk_detect_diff)(store, &policy.options, &range, &report, &err);
	if (!status)
		status = show(g, &o, config, &report, &code, &err);
	if (status)
		code = tk_command_fail("diff", &err);
	tk_diff_report_free(&report);
	tk_detect_policy_free(&policy);
	tk_diff_baseline_free(&baseline);
	tk_command_close(config, store);
	return code;
}
