/* Evidence -> verdict: an ordered table of rules. The first rule that applies decides; A/B runs may
 * overrule it. Pure: no store, no clock, no prose. A new rule is one row in a table of absence.c or
 * step.c, and a case in tests/unit/decide/test_rules.c. Private to decide/. */
#ifndef TK_DECIDE_RULES_H
#define TK_DECIDE_RULES_H
#include "core/verdict.h"
#include "core/vocabulary.h"
#include "decide/decide.h"

/* ---- level_test.c: did the level of one series change? --------------------------------------- */

/* Pure functions on arrays of logarithms.
 *
 * The noise between nights is estimated from the successive differences of the series and shrunk
 * towards that of the other series of its device (a moderated t test, Smyth 2004): a series of two
 * points can be tested, and one of sixty is tested by its own noise. */

/* The noise of a series without a history: 1 % between nights, with the weight of six degrees of
 * freedom. */
#define TK_NOISE_DEFAULT 0.01
#define TK_NOISE_DEFAULT_DF 6.0
#define TK_NOISE_STANDARD_ERRORS 3.0 /* a change must exceed this many */

struct tk_level_test_input {
	const double *y;    /* logarithms in the order of time */
	const double *se;   /* standard error of each point, from its samples */
	size_t n, range;    /* y[range ..] are in the range; 1 <= range < n */
	size_t window;      /* points of the baseline, at most */
	double prior_sigma; /* noise between nights of the series of this device */
	int worse;          /* sign of a change for the worse */
};

struct tk_level_change {
	size_t base, split;   /* levels of y[base .. split) and y[split .. n) */
	double before, after; /* those levels */
	double se_before, se_after, se;
	double t, p; /* of after - before; p is corrected for the splits that were tried */
};

struct tk_level_test {
	double sigma, df;             /* noise of one night, degrees of freedom of its estimate */
	struct tk_level_change whole; /* split at the range; worse_again: at its newest nights */
	struct tk_level_change best;  /* split where two levels fit best; worse_again: as `whole` */
	bool worse_again;             /* the newest nights are worse than a level of the range that
	                                 was not worse than before */
	bool earlier;                 /* the change happened before the range */
	bool spike;                   /* one night, no larger than an earlier spike */
};

/* Where the level before the range starts: the last change point among y[0 .. range). */
void tk_level_find_baseline(const double *y, size_t range, size_t *base);
/* A level is the median of at most this many of the newest points. */
#define TK_LEVEL_POINTS_MAX 64
double tk_level_estimate(const double *y, size_t n);
/* Noise of one night by the series alone; 0: fewer than six points. */
double tk_level_estimate_noise(const double *y, size_t n);
/* Tests this one split, whichever fits best. */
void tk_level_test_split(const struct tk_level_test_input *in, size_t base, size_t split,
        struct tk_level_change *out);
/* Tests all splits in the range; the level before it starts at `base`. */
void tk_level_test_run(
        const struct tk_level_test_input *in, size_t base, struct tk_level_test *out);

/* ---- evidence -------------------------------------------------------------------------------- */

/* Everything that the rules use of one series. gather.c gathers it before they run, so that a rule
 * is a pure function of it. Strings are borrowed. */

/* How a run ended. */
struct tk_run_evidence {
	bool exists, has_timing;
	enum tk_outcome outcome; /* TK_OUTCOME_COUNT: one that this version does not know */
	const char *message;
	int64_t as_of_s, run_id, build_id;
};

/* The change that the series of a device share on one night. */
struct tk_shared_shift_evidence {
	bool exists, significant;
	bool unknown_code;       /* else it is of series with unchanged code */
	size_t series, controls; /* that show it; control series among them */
	double shift;            /* logarithm */
	double remaining;        /* the step of this series without it, logarithm */
};

struct tk_environment_evidence {
	bool hard;      /* a change that affects measurements: driver, card, clock policy, method */
	char text[300]; /* "driver 550 -> 555"; "": nothing changed */
};

/* A step between two points, or the whole range against the points before it. */
struct tk_step_evidence {
	struct tk_level_change levels; /* logarithms, without the machine's shift */
	int64_t start_s;               /* time of the first point at the new level */
	struct tk_estimate before, after, change;
	/* by the nightly medians, where the monitor's levels replace them; NAN */
	double median_change;
	double threshold; /* logarithm */
	double q;
	size_t nights;                   /* since the step */
	size_t nights_back, newest_back; /* of them, at the level before; the newest in a row */
	struct tk_estimate back, back_change; /* the level of these newest, against before */
	uint32_t samples_before, samples_after;
	/* the first night at the new level still had the machine code of before */
	bool same_code_at_step;
	bool same_code; /* so have all nights since */
	bool new_code;  /* the newest build is known not to have the code of the last good run */
	/* the step coincides with code known to be new, or with a build after nights of one */
	bool is_new_build;
	bool is_unstable; /* most timings before or after have an interval wider than the target */
	int64_t good_build_id, bad_build_id; /* on both sides of the step */
	int64_t newest_bad_build_id;
	int64_t last_good_run_id, first_bad_run_id;
	struct tk_shared_shift_evidence shared;
	struct tk_environment_evidence environment;
};

/* A step from 0 or to 0, or a level of 0: there is no ratio. */
struct tk_zero_step {
	bool exists, is_changed;
	bool is_open; /* it may be chance */
	double before, after;
	size_t nights, nights_before; /* since the step; at the level before */
	int64_t start_s, good_build_id, bad_build_id, last_good_run_id, first_bad_run_id;
};

struct tk_alert_evidence {
	bool exists, is_closed;
	int64_t opened_s;
	const char *bad_rev;
	double baseline; /* logarithm of the level before it; NAN: unknown */
	double change;   /* the alert's step, a ratio - 1 */
};

/* The newest nights, nearer to the level before an open alert than to the alert's. */
struct tk_back_evidence {
	size_t nights;
	bool is_clear; /* they have left the alert's level beyond the noise, for that before it */
	bool is_new_build; /* with a build that came in with the first of them */
	struct tk_estimate before, after, change;
};

struct tk_monitor_step {
	bool exists, is_drift; /* is_drift: from `before` to `after` in steps, none of them large */
	int64_t first_s;       /* the first point at the new level */
	int64_t known_s;       /* when it was reported */
	double before, after;  /* levels in the unit of the values */
	double log_lr, q;
};

/* What the monitor, which has learnt the noise of the series from all its nights, decided in the
 * range. */
struct tk_monitor_evidence {
	bool is_monitored;
	double level; /* by its model, in the unit of the values; NAN: not known here */
	struct tk_monitor_step step, machine_step, retracted;
};

struct tk_evidence {
	const struct tk_detect_options *options;
	enum tk_better better;
	/* Smaller changes are no change; 0: none. Of the tracker's own measurements alone. */
	double min_effect_ns;
	double min_effect; /* of its device and mode, a ratio */
	bool is_night;     /* one night is analysed, not a range */

	struct tk_run_evidence within;   /* newest run in the range */
	struct tk_run_evidence newest;   /* that, or else the newest one before */
	struct tk_run_evidence previous; /* how it ended before */
	/* the newest full night of the machine measured this upstream, and not this series */
	bool was_left_out;
	bool is_retired;        /* no suite has it any more */
	uint32_t rotate_nights; /* its suite measures it in one of so many nights; 0, 1: in each */
	uint32_t nights_ago;    /* since its newest run, where its suite rotates */
	bool is_not_due;        /* not in the range, because its suite rotates */
	bool is_too_old;        /* the newest run; only if the range is open */

	size_t point_count;
	struct tk_estimate last_value; /* newest point */
	int64_t last_point_s, last_point_build_id, last_point_run_id;
	uint32_t last_point_samples;

	bool lacks_baseline; /* the baseline that the user chose was never measured */
	bool has_baseline;
	struct tk_level_test raw;      /* of the timings */
	struct tk_level_test adjusted; /* of the timings without the machine's shift; decides */
	bool is_step;    /* `step` is a change of the level; else the whole range against before */
	bool by_monitor; /* it is the monitor's step */
	struct tk_step_evidence step;
	struct tk_step_evidence raw_step; /* the best step of `raw` */

	struct tk_ab_result ab;
	bool has_code_step; /* `step` joins equal code, and A/B runs found a change: */
	struct tk_step_evidence code_step; /* at the first night of the newest code */

	struct tk_zero_step zero;
	struct tk_alert_evidence alert; /* the newest one from before */
	struct tk_alert_evidence ended; /* that began and ended in the range */
	struct tk_back_evidence back;
	struct tk_monitor_evidence monitor;
};

/* A change of the value that is large enough to be reported at all. */
bool tk_evidence_exceeds_threshold(const struct tk_evidence *e, double before, double after);
/* A change above the threshold that also exceeds the noise of the series. */
bool tk_evidence_is_large(const struct tk_evidence *e, const struct tk_level_change *change);
/* A change that exceeds the noise, but not the least change in time. */
bool tk_evidence_is_below_floor(const struct tk_evidence *e, const struct tk_level_change *change);
/* A large change that is unlikely by itself. With the correction for the other series of the night
 * it may still be chance. */
bool tk_evidence_is_suggestive(const struct tk_evidence *e, const struct tk_level_change *change);
/* The step that A/B runs test: the one at the first night of the newest code, if that is a
 * different one. */
const struct tk_step_evidence *tk_evidence_ab_step(const struct tk_evidence *e);
/* Sign of a change that is worse: +1 where lower is better, or nobody knows. */
double tk_evidence_sign(const struct tk_evidence *e);

/* ---- rules ----------------------------------------------------------------------------------- */

void tk_rules_decide(const struct tk_evidence *e, struct tk_verdict *out);

struct tk_rule {
	enum tk_rule_id id;
	bool (*applies)(const struct tk_evidence *e);
	void (*set_levels)(
	        const struct tk_evidence *e, struct tk_verdict *v); /* NULL: it has no numbers */
	/* Unless decide() sets another one. */
	enum tk_verdict_status status;
	/* The builds on both sides of the step; what else happened on its night. */
	bool has_builds, has_context;
	/* NULL: none; facts, and a status or cause that depends on the evidence. */
	void (*decide)(const struct tk_evidence *e, struct tk_verdict *v);
};

/* Parts of the table, each ended by a row without `applies`. */
extern const struct tk_rule tk_rules_absence[];  /* no recent timing */
extern const struct tk_rule tk_rules_baseline[]; /* nothing to compare with */
extern const struct tk_rule tk_rules_step[];     /* the level changed */
extern const struct tk_rule tk_rules_steady[];   /* it did not */

/* rules.c: what several rules do.
 *
 * The numbers of a verdict. */
void tk_verdict_set_last_value(
        const struct tk_evidence *e, struct tk_verdict *v); /* before: the newest point */
void tk_verdict_set_new_value(
        const struct tk_evidence *e, struct tk_verdict *v); /* after: the newest point */
void tk_verdict_set_step(
        const struct tk_evidence *e, struct tk_verdict *v); /* both sides of e->step */
void tk_verdict_set_levels(const struct tk_step_evidence *s, struct tk_verdict *v);
void tk_verdict_add_number(struct tk_verdict *v, enum tk_fact_kind kind, double a, double b);
/* UNSURE, or SAME if the machine code is the same. */
void tk_verdict_set_unsure(const struct tk_evidence *e, struct tk_verdict *v);

/* A level, a logarithm, against the one of the alert and the one before it. */
bool tk_evidence_is_at_alert(
        const struct tk_evidence *e, int64_t start_s, double level, double threshold);
/* No worse than before the alert; true if that level is not known. */
bool tk_evidence_is_at_baseline(const struct tk_evidence *e, double level, double threshold);
bool tk_evidence_is_recovered(const struct tk_evidence *e, double level, double threshold);
void tk_verdict_add_alert_fact(
        const struct tk_evidence *e, enum tk_fact_kind kind, struct tk_verdict *v);

/* What happened on the night of a step. */
void tk_verdict_add_shared_shift(const struct tk_step_evidence *s, struct tk_verdict *v);
void tk_verdict_add_shared_step(const struct tk_evidence *e, struct tk_verdict *v);
void tk_verdict_add_environment(const struct tk_step_evidence *s, struct tk_verdict *v);
void tk_verdict_add_outcome(
        const struct tk_run_evidence *run, enum tk_fact_kind kind, struct tk_verdict *v);
void tk_verdict_add_last_measured(const struct tk_evidence *e, struct tk_verdict *v);

#endif
