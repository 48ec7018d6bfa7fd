/* The demo history: a hundred nights of up to three machines, analysed by the real detection. */
#include <string.h>

#include "base/base.h"
#include "decide/decide.h"
#include "labs.h"
#include "seed.h"

static double level(const struct seed_series_plan *f, int night)
{
	double v = f->value;
	for (int i = 0; i < 3; i++)
		if (f->steps[i].factor > 0 && night >= f->steps[i].night)
			v *= f->steps[i].factor;
	return v;
}

static double level_on_machine(
        const struct seed_lab *lab, const struct seed_series_plan *f, int night)
{
	return level(f, night) * (lab->environment_changes && night >= lab->environment_changes
	                                         ? lab->environment_factor
	                                         : 1);
}

static void measure_night(
        struct seed_lab *lab, int n, struct seed_context *w, struct tk_rng *rng, size_t *failed)
{
	for (size_t i = 0; i < lab->count; i++, w->seq++) {
		struct seed_series_plan *f = &lab->all[i];
		bool fails = f->outcome && n >= f->fails_from && n <= f->fails_to;
		double v = level_on_machine(lab, f, n) * (1 + f->noise * tk_rng_normal(rng));
		w->build = lab->sources[f->upstream].builds[n];
		seed_run(w, f->series, fails ? f->outcome : "ok", fails ? f->message : "",
		        fails ? 0 : v, 0.6 * f->noise + 0.001);
		*failed += fails && strcmp(f->outcome, "unsupported");
	}
}

/* A/B pairs of every series that got slower in the last night. */
static void put_ab_pairs(const struct seed_lab *lab, int n, const struct seed_context *w)
{
	struct tk_rng rng; /* separate, so that the other values stay the same */
	tk_rng_seed(&rng, 11);
	for (size_t i = 0; i < lab->count; i++) {
		const struct seed_series_plan *f = &lab->all[i];
		double good = level_on_machine(lab, f, n - 1), bad = level_on_machine(lab, f, n);
		for (int pair = 0; bad > good * 1.02 && pair < 16; pair++) {
			double drift = 1 + 0.03 * tk_rng_normal(&rng), good_value, bad_value;
			good_value = good * drift * (1 + 0.004 * tk_rng_normal(&rng));
			bad_value = bad * drift * (1 + 0.004 * tk_rng_normal(&rng));
			struct tk_ab_pair_row row = {.night_id = w->night,
			        .series_id = f->series,
			        .base_build_id = lab->sources[f->upstream].builds[n - 1],
			        .head_build_id = lab->sources[f->upstream].builds[n],
			        .pair = pair,
			        .started_s = w->night_s + 1200 + pair,
			        .wall_s = 0.8,
			        .first = pair % 2 ? "head" : "base",
			        .base_outcome = "ok",
			        .head_outcome = "ok",
			        .message = "",
			        .base_median = good_value,
			        .head_median = bad_value,
			        .base_min = good_value * 0.98,
			        .head_min = bad_value * 0.98};
			int64_t id;
			seed_check(tk_store_put(seed_db, TK_TABLE_ab_pair, &row, &id, &seed_err));
		}
	}
}

/* A bisection found the first bad commit. */
static void put_bisections(const struct seed_lab *lab, int n, int64_t night)
{
	const struct seed_source *s = &lab->sources[1];
	for (size_t i = 0; i < lab->count; i++)
		if (level(&lab->all[i], n) > level(&lab->all[i], n - 1) * 1.09)
			seed_check(tk_store_put(seed_db, TK_TABLE_bisection,
			        &(struct tk_bisection_row){.series_id = lab->all[i].series,
			                .night_id = night,
			                .good_rev = s->revs[n - 1],
			                .bad_rev = s->revs[n],
			                .outcome = TK_BISECT_FOUND,
			                .first_bad_rev = "5eed5eed5eed5eed5eed5eed5eed5eed5eed5eed",
			                .last_good_rev = s->revs[n - 1],
			                .subject = "Unroll the inner loop by eight",
			                .author = "Somebody Else",
			                .author_time_s = FIRST_S + 50 * DAY_S,
			                .change = 0.0921,
			                .change_lo = 0.089,
			                .change_hi = 0.095,
			                .confidence = 0.997,
			                .build_count = 3,
			                .comparison_count = 3,
			                .pair_count = 48,
			                .finished_s = FIRST_S + 60 * DAY_S},
			        NULL, &seed_err));
}

/* Triage of the alerts of the last night. */
static void put_triage(int64_t at_s)
{
	struct tk_rows alerts = {0};
	seed_check(tk_store_list_alerts(seed_db, &alerts, &seed_err));
	for (size_t i = 0; i < alerts.count; i++) {
		const struct tk_alert_row *a = TK_ROWS_AT(&alerts, struct tk_alert_row, i);
		if (a->status != TK_ALERT_OPEN || a->kind != TK_ALERT_CHANGE)
			continue;
		for (int k = 0; k < 2; k++) { /* equal for each alert of a group, so stored once */
			int64_t id;
			seed_check(tk_store_put(seed_db, TK_TABLE_triage,
			        &(struct tk_triage_row){.alert_uid = a->group_uid,
			                .at_s = at_s + 60 * k,
			                .author = "jane",
			                .action = k ? TK_ACTION_LINK : TK_ACTION_ACK,
			                .note = k ? "https://github.com/OpenMathLib/OpenBLAS/"
			                            "issues/1"
			                          : "looking at it"},
			        &id, &seed_err));
		}
	}
	tk_rows_free(&alerts);
}

static void demo_night(struct seed_lab *lab, int n, struct tk_rng *rng, bool last)
{
	struct seed_context w = {
	        .night_s = FIRST_S + (int64_t)(n - 40) * DAY_S + (int64_t)tk_rng_below(rng, 300)};
	size_t failed = 0;
	w.samples = n >= 90;
	w.night = seed_begin_night(lab->machine, w.night_s);
	w.environment =
	        lab->environments[lab->environment_changes && n >= lab->environment_changes];
	seed_stage(w.night, "resolve", "done", w.night_s, w.night_s + 4, "");
	for (size_t i = 0; i < lab->source_count; i++) {
		struct seed_source *s = &lab->sources[i];
		bool unreachable = i == 1 && n == 90,
		     fresh = n && s->revisions[n] != s->revisions[n - 1];
		seed_resolution(w.night, s->id, s->revisions[n], s->builds[n],
		        unreachable ? "unreachable"
		        : fresh     ? "new"
		                    : "unchanged",
		        unreachable ? "git fetch: could not resolve host: github.com; the last "
		                      "known revision is used"
		                    : "");
	}
	seed_stage(w.night, "build", "done", w.night_s + 4, w.night_s + 75, "");
	measure_night(lab, n, &w, rng, &failed);
	seed_stage(w.night, "measure", failed ? "failed" : "done", w.night_s + 75, w.night_s + 1260,
	        failed ? "some jobs have no timing" : "");
	seed_stage(w.night, "detect", "done", w.night_s + 1260, w.night_s + 1262, "");
	bool gpu = lab->device % 2 == 0;
	seed_ceiling(w.night, lab->device, "copy", "measured", "gb_per_s", gpu ? 4100 : 182);
	seed_ceiling(w.night, lab->device, "read", "measured", "gb_per_s", gpu ? 4350 : 205);
	if (gpu)
		seed_ceiling(w.night, lab->device, "l2 read", "measured", "gb_per_s", 6100);
	seed_ceiling(w.night, lab->device, gpu ? "f16" : "f32", "measured", "gflop_per_s",
	        gpu ? 780e3 : 2900);
	seed_ceiling(w.night, lab->device, gpu ? "f16" : "f32", "datasheet", "gflop_per_s",
	        gpu ? 989e3 : 3500);
	seed_check(tk_store_finish_night(seed_db, w.night,
	        failed ? TK_NIGHT_INCOMPLETE : TK_NIGHT_COMPLETE, "{}", w.night_s + 1265,
	        &seed_err));
	if (last && lab->source_count == 4) {
		put_ab_pairs(lab, n, &w);
		put_bisections(lab, n, w.night);
	}
	struct tk_detect_options options = {.min_effect = 0.02,
	        .min_effect_ns = 100,
	        .fdr = 0.05,
	        .window = 14,
	        .stale_days = 5,
	        .now_s = w.night_s + 1270};
	if (n > 20 || last)
		seed_check(tk_detect_night(seed_db, w.night, &options, NULL, &seed_err));
}

void demo(bool hostile)
{
	enum { nights = 100 };
	static struct seed_lab labs[3];
	struct tk_rng rng;
	tk_rng_seed(&rng, 7);
	make_cpu_lab(&labs[0], nights);
	make_gpu_lab(&labs[1], nights);
	if (hostile)
		make_hostile_lab(&labs[2], nights);
	for (int n = 0; n < nights; n++)
		for (int i = 0; i < (hostile ? 3 : 2); i++) {
			seed_check(tk_store_begin(seed_db, &seed_err));
			demo_night(&labs[i], n, &rng, n == nights - 1);
			seed_check(tk_store_commit(seed_db, &seed_err));
		}
	put_kernel_reports(&labs[1], &labs[1].all[2], FIRST_S + (nights - 41) * DAY_S);
	put_tunings(&labs[1], FIRST_S + (nights - 41) * DAY_S);
	if (hostile) {
		put_hostile_kernel_reports(
		        &labs[2], &labs[2].all[0], FIRST_S + (nights - 41) * DAY_S);
		put_hostile_tunings(&labs[2], &labs[2].all[1], FIRST_S + (nights - 41) * DAY_S);
	}
	put_triage(FIRST_S + (nights - 41) * DAY_S + 4 * 3600);
}
