/* The numbers and the circumstances of a step between two points of a case. Private to
 * decide/history. */
#ifndef TK_DECIDE_STEP_EVIDENCE_H
#define TK_DECIDE_STEP_EVIDENCE_H
#include <stdbool.h>
#include <stddef.h>

struct tk_analysis;
struct tk_error;
struct tk_level_change;
struct tk_series_case;
struct tk_step_evidence;

/* Of the points `a` and `b`. */
int tk_series_case_is_same_code(struct tk_analysis *set, const struct tk_series_case *k, size_t a,
        size_t b, bool *same, struct tk_error *err);
/* Where the level before a split begins. */
size_t tk_series_case_base(
        const struct tk_analysis *set, const struct tk_series_case *k, size_t split);
/* Levels on both sides of a split. */
void tk_series_case_split(const struct tk_analysis *set, const struct tk_series_case *k,
        size_t base, size_t split, struct tk_level_change *out);

/* `levels`, `threshold` and `q` are set; sets the rest but for `shared` and `environment`. */
int tk_step_evidence_describe(struct tk_analysis *set, const struct tk_series_case *k,
        struct tk_step_evidence *s, struct tk_error *err);
/* After `levels` and `nights`: sets `nights_back` and `newest_back`. */
void tk_step_evidence_count_back(const struct tk_series_case *k, struct tk_step_evidence *s);
/* Sets `shared` and `environment`. */
void tk_step_evidence_add_context(
        const struct tk_analysis *set, const struct tk_series_case *k, struct tk_step_evidence *s);

#endif
