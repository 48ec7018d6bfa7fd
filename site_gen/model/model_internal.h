/* The steps of tk_model_load(), in the order in which they run. Private to model*.c. */
#ifndef TK_SITE_MODEL_INTERNAL_H
#define TK_SITE_MODEL_INTERNAL_H

#include "site_gen/model/model.h"

int tk_model_join_series(struct tk_model *m, struct tk_error *err);
int tk_model_join_changes(struct tk_model *m, struct tk_error *err);
int tk_model_read_newest_points(struct tk_model *m, struct tk_error *err);
void tk_model_assign_styles(struct tk_model *m);

#endif
