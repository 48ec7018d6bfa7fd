/* What is known of the machine code of kernels, compared. */
#ifndef TK_STORE_CODE_FACTS_H
#define TK_STORE_CODE_FACTS_H
#include <stdbool.h>
#include <stddef.h>

#include "store/store.h"

/* A number of a kernel, for people and for JSON. */
struct tk_code_fact {
	const char *key, *title;
	const char *name, *unit; /* in a sentence: "spills 48 bytes" */
	size_t offset;           /* of an int64_t in struct tk_kernel_row; -1: unknown */
};
#define TK_CODE_FACT_COUNT 5
extern const struct tk_code_fact tk_code_facts[TK_CODE_FACT_COUNT];
int64_t tk_code_fact_value(const struct tk_code_fact *fact, const struct tk_kernel_row *k);

/* What a backend runs. */
struct tk_kernel_use {
	const char *backend, *problem, *config;
};
/* The next of a build's kernels from *i on that may have run, *i then is behind it; NULL: no more.
 * Of a compiled kernel package these are the kernels of the problem and configuration, of a shared
 * object all GPU kernels. */
const struct tk_kernel_row *tk_kernel_rows_next(
        const struct tk_rows *kernels, const struct tk_kernel_use *use, size_t *i);

#define TK_CODE_CHANGE_SIZE 320
/* "registers 168 -> 255, spills 0 -> 48 bytes, LDL 0 -> 12", whole items only; "": nothing that is
 * known of both differs. */
const char *tk_kernel_row_format_change(const struct tk_kernel_row *before,
        const struct tk_kernel_row *after, char out[TK_CODE_CHANGE_SIZE]);
/* What the verdict of an alert's night says about the machine code of its kernel, as above; "":
 * nothing. */
int tk_store_find_code_change(struct tk_store *s, const struct tk_alert_row *alert,
        char out[TK_CODE_CHANGE_SIZE], struct tk_error *err);

#endif
