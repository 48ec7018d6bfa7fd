/* A site of a small real history (../detect/world.h), built as a whole, with templates that the
 * test chooses: what a page is given stands in its file as plain text. */
#ifndef TK_SITE_LAB_H
#define TK_SITE_LAB_H
#include <stdbool.h>

#include "../detect/world.h"
#include "base/buf.h"
#include "site_gen/site.h"

struct site_lab {
	struct world w;
	char *root, *templates, *out;
	struct tk_site_options options;
	struct tk_site_report report; /* of the last build */
	struct tk_buf text;           /* of the file read last */
};

/* For cmocka: *state is a struct site_lab. Every template of the project is "-". */
int lab_setup(void **state);
int lab_teardown(void **state);

void lab_set_template(struct site_lab *lab, const char *name, const char *text);
/* Ends the night that is under way and writes the site; the clock stands a day after that night. */
void lab_build(struct site_lab *lab);
void lab_build_now(struct site_lab *lab); /* the same, and the night goes on */
/* A verdict with the reason "because" and no A/B runs; levels NAN: it has no numbers. */
struct tk_verdict_row lab_verdict(
        int64_t series_id, enum tk_verdict_status status, double before, double after);
/* Of series 1 between its first and second revision; a found commit is r15. */
struct tk_bisection_row lab_bisection(enum tk_bisect_outcome outcome);
/* Of the night that is under way. */
void lab_put_verdicts(struct site_lab *lab, struct tk_verdict_row *rows, size_t count);
/* At the time of the night that is under way; replaces those of the series. */
void lab_put_change_point(struct site_lab *lab, int64_t series_id, int64_t run_id,
        int64_t previous_run_id, double before, double after, enum tk_cause cause);
/* A point without an interval, of a series of the lab's device and upstream. */
void lab_put_point(struct site_lab *lab, const struct tk_series_row *series, double value,
        const char *attributes);
/* Runs SQL past the tracker, as another program would. */
void lab_run_sql(struct site_lab *lab, const char *sql);
bool lab_has(struct site_lab *lab, const char *path);
/* A file of the site, which must exist, with blanks for no-break spaces; valid until the next
 * call. */
const char *lab_read(struct site_lab *lab, const char *path);
/* Builds the site; then the file is this text. */
void lab_expect(struct site_lab *lab, const char *path, const char *text);
void lab_overwrite(struct site_lab *lab, const char *path, const char *text);
/* The file contains a text, or does not. */
void lab_assert_has(struct site_lab *lab, const char *path, const char *text);
void lab_assert_lacks(struct site_lab *lab, const char *path, const char *text);

#endif
