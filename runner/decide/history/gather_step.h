/* The step of a case, with what happened on its night. Private to decide/history. */
#ifndef TK_DECIDE_GATHER_STEP_H
#define TK_DECIDE_GATHER_STEP_H

struct tk_case_set;
struct tk_error;
struct tk_evidence;
struct tk_series_case;

/* Of a case with a baseline and a timing. Sets `is_step` and all below it. */
int tk_evidence_gather_step(struct tk_case_set *set, const struct tk_series_case *k,
        struct tk_evidence *e, struct tk_error *err);

#endif
