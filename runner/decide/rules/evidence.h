/* Everything that the rules use of one series. history/gather.c gathers it before they run, so that
 * a rule is a pure function of it. Strings are borrowed. */
#ifndef TK_DECIDE_EVIDENCE_H
#define TK_DECIDE_EVIDENCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/outcome.h"
#include "core/verdict.h"
#include "decide/decide.h"
#include "decide/rules/level_test.h"

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
	size_t series,
	        controls; /* series of unchanged code that show it; control series among them */
	double shift;     /* logarithm */
	double remaining; /* the step of this series without it, logarithm */
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
	int64_t good_build_id, bad_build_id;               /* on both sides of the step */
	int64_t newest_good_build_id, newest_bad_build_id; /* where the newest build came in */
	int64_t last_good_run_id, first_bad_run_id;
	struct tk_shared_shift_evidence shared;
	struct tk_environment_evidence environment;
};

struct tk_alert_evidence {
	bool exists, is_closed;
	int64_t opened_s;
	const char *bad_rev;
	double baseline; /* logarithm of the level before it; NAN: unknown */
	double change;   /* the alert's step, a ratio - 1 */
};

struct tk_monitor_step {
	bool exists;
	int64_t first_s;      /* the first point at the new level */
	double before, after; /* levels in the unit of the values */
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
	bool lower_is_better, is_time_ns;
	bool is_night; /* one night is analysed, not a range */

	struct tk_run_evidence within;   /* newest run in the range */
	struct tk_run_evidence newest;   /* that, or else the newest one before */
	struct tk_run_evidence previous; /* how it ended before */
	/* the newest full night of the machine measured this upstream, and not this series */
	bool was_left_out;
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
	struct tk_step_evidence
	        /* the best step of `raw`: only its shared shift and environment are set */
	        raw_step;

	struct tk_ab_result ab;
	bool has_code_step; /* `step` joins equal code, and A/B runs found a change: */
	struct tk_step_evidence code_step; /* at the first night of the newest code */

	struct tk_alert_evidence alert; /* the newest one from before */
	struct tk_alert_evidence ended; /* that began and ended in the range */
	struct tk_monitor_evidence monitor;
};

/* A change of the value that is large enough to be reported at all. */
bool tk_evidence_exceeds_threshold(const struct tk_evidence *e, double before, double after);
/* A change above the threshold that also exceeds the noise of the series. */
bool tk_evidence_is_large(const struct tk_evidence *e, const struct tk_level_change *change);
/* A large change that is unlikely by itself. With the correction for the other series of the night
 * it may still be chance. */
bool tk_evidence_is_suggestive(const struct tk_evidence *e, const struct tk_level_change *change);
/* The step that A/B runs test: the one at the first night of the newest code, if that is a
 * different one. */
const struct tk_step_evidence *tk_evidence_ab_step(const struct tk_evidence *e);
/* Sign of a change that is worse: +1 where lower is better. */
double tk_evidence_sign(const struct tk_evidence *e);

#endif
