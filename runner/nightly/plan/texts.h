/* The texts that problems with dist=text:NAME take their inputs from, loaded once. */
#ifndef TK_NIGHT_TEXTS_H
#define TK_NIGHT_TEXTS_H
#include "suite/text_inputs.h"
#include "worker/worker.h"

/* A list, because jobs point to an entry until the end. */
struct tk_text_entry {
	struct tk_text_entry *next;
	struct tk_text text;
	struct tk_job_text job;
};

/* *out: the text of a problem; NULL if it needs none. Errors as of tk_text_load. */
int tk_texts_find(struct tk_text_entry **list, const char *root, const char *problem,
        const struct tk_job_text **out, struct tk_error *err);
void tk_texts_free(struct tk_text_entry *list);

#endif
