/* Evidence -> verdict: an ordered table of rules. The first rule that applies decides; A/B runs may
 * overrule it. Pure: no store, no clock, no prose. A new rule is one row in absence.c, baseline.c,
 * step.c or steady.c, and a case in tests/unit/decide/test_rules.c. */
#ifndef TK_DECIDE_RULES_H
#define TK_DECIDE_RULES_H
#include <stdbool.h>
#include <stdint.h>

#include "core/verdict.h"

struct tk_evidence;
struct tk_run_evidence;
struct tk_step_evidence;

struct tk_rule {
	enum tk_rule_id id;
	bool (*applies)(const struct tk_evidence *e);
	void (*set_levels)(
	        const struct tk_evidence *e, struct tk_verdict *v); /* NULL: it has no numbers */
	void (*decide)(
	        const struct tk_evidence *e, struct tk_verdict *v); /* status, cause and facts */
};

/* Overrules a verdict of the nights. */
struct tk_ab_rule {
	bool (*applies)(const struct tk_evidence *e, const struct tk_verdict *nightly);
	void (*decide)(const struct tk_evidence *e, struct tk_verdict *v);
};

void tk_rules_decide(const struct tk_evidence *e, struct tk_verdict *out);

/* Parts of the table, each ended by a row without `decide`; private to rules/. */
extern const struct tk_rule tk_rules_absence[];  /* no recent timing */
extern const struct tk_rule tk_rules_baseline[]; /* nothing to compare with */
extern const struct tk_rule tk_rules_step[];     /* the level changed */
extern const struct tk_rule tk_rules_steady[];   /* it did not */
extern const struct tk_ab_rule tk_rules_ab[];

/* verdict_parts.c: what several rules do.
 *
 * The numbers of a verdict. */
void tk_verdict_set_last_value(
        const struct tk_evidence *e, struct tk_verdict *v); /* before: the newest point */
void tk_verdict_set_new_value(
        const struct tk_evidence *e, struct tk_verdict *v); /* after: the newest point */
void tk_verdict_set_step(
        const struct tk_evidence *e, struct tk_verdict *v); /* both sides of e->step */
void tk_verdict_set_levels(const struct tk_step_evidence *s, struct tk_verdict *v);
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
bool tk_verdict_add_shared_shift(const struct tk_step_evidence *s, struct tk_verdict *v);
bool tk_verdict_add_environment(const struct tk_step_evidence *s, struct tk_verdict *v);
void tk_verdict_add_outcome(
        const struct tk_run_evidence *run, enum tk_fact_kind kind, struct tk_verdict *v);
void tk_verdict_add_last_measured(const struct tk_evidence *e, struct tk_verdict *v);

#endif
