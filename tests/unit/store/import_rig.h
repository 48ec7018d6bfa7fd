/* Imports a text into a new history, and describes what it became. */
#ifndef TK_TEST_IMPORT_RIG_H
#define TK_TEST_IMPORT_RIG_H
#include "base/base.h"
#include "history.h"
#include <string.h>

#define IMPORT_AT_S 1700000000 /* of files that name no time */

/* Requests for a format: with the members that follow, and in a machine "box" at IMPORT_AT_S. */
#define IMPORT_AS(name, ...) ((struct tk_import_request){.format = (name), __VA_ARGS__})
#define IMPORT(name, ...) IMPORT_AS(name, .machine = "box", .at_s = IMPORT_AT_S, ##__VA_ARGS__)

struct import_rig {
	struct history history;
	struct tk_import_counts counts; /* of the last import that succeeded */
	char path[160];                 /* of the last text */
};
void import_rig_new(struct import_rig *rig);
void import_rig_free(struct import_rig *rig);

/* Writes the text to DIR/file and imports it. */
int import_rig_read(struct import_rig *rig, struct tk_import_request request, const char *text,
        struct tk_error *err);

/* Sorted, one line each:
 * "TITLE METRIC UNIT BETTER [backend=] [config=] [dtype=] [family=]: VALUE@TIME[n= min= ...] ..."
 * backend where it is not the format; of a point only what is known, n where it is above 1. */
char *import_rig_series(struct import_rig *rig, const char *format);
/* "machine NAME ATTRIBUTES", "device NAME ARCH", "upstream NAME URL", as they are listed. */
char *import_rig_places(struct import_rig *rig);
/* "TIME REV AUTHOR: SUBJECT ATTRIBUTES" of each run, oldest night first. */
char *import_rig_runs(struct import_rig *rig);

/* The same for a text that is imported into a history of its own; free() the result. */
char *import_series(struct tk_import_request request, const char *text);
char *import_places(struct tk_import_request request, const char *text);
char *import_runs(struct tk_import_request request, const char *text);
#define EXPECT_TEXT(call, expected) \
	do { \
		char *got_ = (call); \
		assert_string_equal(got_, expected); \
		free(got_); \
	} while (0)

/* The import of a text into an empty history fails with TK_EDATA and these words, and leaves
 * nothing. */
void import_must_fail(struct tk_import_request request, const char *text, const char *words);

#endif
