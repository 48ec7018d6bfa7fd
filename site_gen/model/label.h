/* The label of a series beside its problem: the backend; with the upstream where two upstreams
 * have a backend of that name, unless the upstream is called the same; with config, mode and metric
 * where they are not the default. */
#ifndef TK_SITE_LABEL_H
#define TK_SITE_LABEL_H

struct tk_error;
struct tk_model;

/* Sets label and variant of every series. Devices, upstreams and modes must be joined. */
int tk_labels_assign(struct tk_model *m, struct tk_error *err);

#endif
