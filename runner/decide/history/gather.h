/* History of a case -> evidence for the rules: the part of a decision that reads the store. */
#ifndef TK_DECIDE_GATHER_H
#define TK_DECIDE_GATHER_H

struct tk_analysis;
struct tk_error;
struct tk_evidence;
struct tk_series_case;

/* Strings of *out live as long as the case set. After tk_analysis_evaluate(). */
int tk_evidence_gather(struct tk_analysis *set, const struct tk_series_case *k,
        struct tk_evidence *out, struct tk_error *err);

#endif
