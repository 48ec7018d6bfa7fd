/* Inputs that follow a text (dist=text:NAME): each row of A, or of Q, K and V, belongs to a token.
 * Private to measure/, but for tk_text_inputs_set() in measure.h. */
#ifndef TK_MEASURE_TEXT_INPUTS_H
#define TK_MEASURE_TEXT_INPUTS_H
#include "core/problem.h"

struct tk_error;

bool tk_text_inputs_cover(const struct tk_problem_spec *problem, uint32_t tensor);
/* Fills such a tensor. TK_EDATA: its text was not set. */
int tk_text_inputs_fill(const struct tk_problem_spec *problem, uint32_t tensor, uint64_t seed,
        void *data, struct tk_error *err);
/* inputs.c: a value of the standard normal distribution from random bits. `nodes`: a table of
 * quantiles, or NULL, which gives the same value more slowly. */
double tk_inputs_normal(uint64_t bits, const double *nodes);
/* NULL: the table costs more than so many values, or no memory is left. Free with free(). */
double *tk_inputs_make_nodes(uint64_t values);

#endif
