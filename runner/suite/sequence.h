/* A suite as the sequence of mode "sequence": its kernels in the order of their launches. */
#ifndef TK_SUITE_SEQUENCE_H
#define TK_SUITE_SEQUENCE_H
#include "core/mode.h"
#include "suite/suite.h"

struct tk_suite_sequence {
	char mode[TK_MODE_WORD_SIZE]; /* "sequence:NAME@HASH" */
	struct tk_suite *suite;
	const char **kernels; /* problems of the suite; borrowed from it */
	size_t count;
};

/* The suite has `sequence: yes`, otherwise TK_ECONFIG; see tk_suite_load. */
int tk_suite_load_sequence(
        const char *root, const char *name, struct tk_suite_sequence *out, struct tk_error *err);
void tk_suite_free_sequence(struct tk_suite_sequence *s);

#endif
