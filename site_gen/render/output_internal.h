/* The state of a site that is being written. Private to output*.c. */
#ifndef TK_SITE_OUTPUT_INTERNAL_H
#define TK_SITE_OUTPUT_INTERNAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site_gen/render/output.h"

struct tk_buf;
struct tk_error;

/* A change of the old site that waits for the commit: a new content, which is in the temporary
 * folder under the number of the step, or a removal. */
struct tk_output_step {
	char *path;
	bool is_new, is_removal;
};

struct tk_output {
	char *dir, *parent, *temp;
	int parent_fd, temp_fd, old_fd; /* old_fd -1: there is no old site */
	char last_folder[256];          /* the folder that was created last */
	struct tk_output_counts counts;
	char *old; /* buffer for comparing with old files */
	size_t old_size;
	bool is_committed;
	bool is_resumed; /* steps change the old site in place; else a whole site replaces it */
	struct tk_output_step *steps;
	size_t step_count, step_cap;
};

/* Creates the folder of a file that is about to be written. */
int tk_output_make_folder(struct tk_output *o, const char *path, struct tk_error *err);
/* Writes a new file in the temporary folder. */
int tk_output_write_temp(
        struct tk_output *o, const char *name, const struct tk_buf *content, struct tk_error *err);
/* The name of a step's file in the temporary folder. */
#define TK_OUTPUT_STEP_NAME_SIZE 24
void tk_output_step_name(char name[TK_OUTPUT_STEP_NAME_SIZE], size_t number);

#endif
