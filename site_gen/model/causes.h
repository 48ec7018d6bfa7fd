/* What changed, by cause: series that changed with one commit, with their environment, or failed
 * for one reason, as one group. */
#ifndef TK_SITE_CAUSES_H
#define TK_SITE_CAUSES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "store/store.h"

struct tk_error;
struct tk_model;
struct tk_site_series;

enum tk_site_cause_kind {
	TK_SITE_CAUSE_WORSE,
	TK_SITE_CAUSE_FAILED,
	TK_SITE_CAUSE_MISSING,
	TK_SITE_CAUSE_BETTER,
	TK_SITE_CAUSE_FIXED,
	TK_SITE_CAUSE_ENVIRONMENT,
	TK_SITE_CAUSE_KINDS
};
/* One series that changed. NAN: not known. */
struct tk_site_event {
	const struct tk_site_series *series;
	enum tk_site_cause_kind kind;
	const struct tk_verdict_row *verdict; /* NULL: it is a change point */
	double before, after, change, change_lo, change_hi;
	double size; /* of the change, as a logarithm */
	int64_t at_s;
	const char *reason;
	const struct tk_revision_row *commit; /* with which it changed; NULL: unknown, or none */
};

/* "regression", "failure", ...: for sentences that count; the plural with several. */
const char *tk_site_cause_word(enum tk_site_cause_kind kind, size_t count);

struct tk_site_cause {
	enum tk_site_cause_kind kind;
	struct tk_site_event *events; /* the largest change first */
	size_t count;
	const struct tk_revision_row *bad;      /* its commit; NULL: not of a commit */
	const struct tk_verdict_row *first_bad; /* has the one that a bisection found; NULL: none */
};
struct tk_site_causes {
	struct tk_site_event *events;
	struct tk_site_cause *at; /* most urgent first */
	size_t event_count, room, count;
	size_t of_kind[TK_SITE_CAUSE_KINDS]; /* series */
	size_t compared;                     /* series that were compared with earlier nights */
	struct tk_rows night_verdicts;       /* texts of the events of one night */
};

struct tk_site_period {
	/* verdicts of this night; 0: of the newest analysed night of each machine */
	int64_t night_id;
	int64_t since_s; /* and change points from this time on; 0: none */
};

/* Free with tk_site_causes_free, also after a failure. */
int tk_site_causes_load(const struct tk_model *m, const struct tk_site_period *period,
        struct tk_site_causes *out, struct tk_error *err);
void tk_site_causes_free(struct tk_site_causes *causes);

/* Nights of a machine that are newer than its last regression; SIZE_MAX: there was none. */
size_t tk_model_count_nights_since_regression(const struct tk_model *m);

#endif
