/* What a series is called beside its problem: the backend where that is enough, with the upstream
 * where two upstreams have a backend of that name, then config, mode and metric where they are not
 * the usual ones. */
#ifndef TK_SITE_LABEL_H
#define TK_SITE_LABEL_H

struct tk_error;
struct tk_model;

/* Sets label and variant of every series; device, upstream and the modes of the devices are joined
 * already. */
int tk_labels_assign(struct tk_model *m, struct tk_error *err);

#endif
