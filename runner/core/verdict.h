/* What was decided about one series, as data. Rules make it from evidence (decide/rules), the store
 * keeps it, tk_verdict_format_reason() makes prose of it, which nobody reads back. */
#ifndef TK_CORE_VERDICT_H
#define TK_CORE_VERDICT_H
#include "core/vocabulary.h"

#define TK_FACT_NUMBERS_MAX 4
struct tk_fact {
	enum tk_fact_kind kind;
	uint16_t text; /* see tk_fact_text() */
	int64_t time_s;
	double number[TK_FACT_NUMBERS_MAX];
};

/* A value and its 95 % interval; NAN: none. */
struct tk_estimate {
	double value, lo, hi;
};

#define TK_VERDICT_FACTS_MAX 12
#define TK_VERDICT_TEXT_SIZE 960
struct tk_verdict {
	enum tk_verdict_status status;
	enum tk_verdict_status status_before_ack; /* what it is called had nobody accepted it */
	enum tk_cause cause;
	enum tk_rule_id decided_by;
	struct tk_estimate before, after;
	struct tk_estimate change;           /* after / before - 1 */
	double threshold, severity;          /* what had to be exceeded; |change| / threshold */
	double p, q;                         /* q: corrected for the number of series */
	int64_t good_build_id, bad_build_id; /* the change lies between them; 0: none was found */
	int64_t last_good_run_id,
	        first_bad_run_id; /* on both sides of what was compared; 0: none */
	struct tk_fact facts[TK_VERDICT_FACTS_MAX];
	size_t fact_count;
	char text[TK_VERDICT_TEXT_SIZE]; /* texts of the facts, each ended by NUL */
	size_t text_size;
};

/* What A/B runs of an old and a new build say of a series. */
struct tk_ab_result {
	enum tk_ab_decision decision;
	uint32_t count, failed; /* pairs with two timings; others */
	bool fastest;           /* by the fastest samples: the medians are too noisy */
	double change, lo, hi;  /* new / old - 1, and its 95 % interval; NAN: none */
};

static inline bool tk_ab_result_is_changed(const struct tk_ab_result *r)
{
	return r->decision == TK_AB_HIGHER || r->decision == TK_AB_LOWER;
}

/* Nothing decided: every number NAN. */
void tk_verdict_init(struct tk_verdict *v);
/* Appends; text may be NULL. Facts beyond TK_VERDICT_FACTS_MAX are dropped, texts are cut to the
 * room that is left, between two characters. */
void tk_verdict_add_fact(struct tk_verdict *v, struct tk_fact fact, const char *text);
void tk_verdict_clear_facts(struct tk_verdict *v);
/* Somebody accepted it: the status becomes ACKED, and a fact says who and why. */
void tk_verdict_accept(
        struct tk_verdict *v, enum tk_triage_state state, const char *author, const char *note);
const struct tk_fact *tk_verdict_find_fact(
        const struct tk_verdict *v, enum tk_fact_kind kind);                      /* NULL: none */
const char *tk_fact_text(const struct tk_verdict *v, const struct tk_fact *fact); /* "": none */

/* ---- outside of memory: facts as JSON, and the sentence that is made of them ----------------- */

/* [{"kind", "numbers", "time_s", "text"}], the facts of a verdict. */
json_t *tk_verdict_facts_to_json(const struct tk_verdict *v);
char *tk_verdict_facts_write(const struct tk_verdict *v); /* the same as text; caller frees */
/* Adds the facts of a stored verdict to *v. Kinds that this version does not know are left out. */
void tk_verdict_facts_read(const char *json, struct tk_verdict *v);

#define TK_REASON_SIZE 768
/* "A/B confirmed: +9.5 % (95 % CI 9.3 to 9.7, 16 pairs); nightly estimate +9.9 %": the facts,
 * joined by "; ". Valid UTF-8 without control characters; "" if there are none. Returns out. */
const char *tk_verdict_format_reason(const struct tk_verdict *v, char out[TK_REASON_SIZE]);

#define TK_AB_RESULT_TEXT_SIZE 112
/* "+1.2 % (95 % CI 0.9 to 1.5, 16 pairs)"; "no timings" where no pair has them. */
const char *tk_ab_result_format(const struct tk_ab_result *r, char out[TK_AB_RESULT_TEXT_SIZE]);
const char *tk_ab_result_statistic_name(const struct tk_ab_result *r); /* "median", "min" */

#endif
