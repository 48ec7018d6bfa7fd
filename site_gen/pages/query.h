/* A page is its queries and its template: the rows of a SELECT as values of the page.
 *
 * A column is a member of the row's object: `NULL` is "", an integer is decimal, a text is itself.
 * The name of a column may end in a mark:
 *   "cut?"       a flag
 *   "series+"    the id of a series: all that tk_page_set_series() sets
 *   "change+"    a change of that series: all that tk_page_set_change() sets
 *   "step+"      after / before of that series: step_markup, a drawing
 *   "revision+"  the id of a revision: all that tk_page_set_revision() sets
 *   "since+"     the id of the revision before that one: all that
 *                tk_page_set_revision_range() sets
 *   "night+"     the id of a night: page (a flag) and href
 *   "id-"        for the row function alone
 * SQL has functions for what a person reads; query.c lists them. */
#ifndef TK_SITE_QUERY_H
#define TK_SITE_QUERY_H
#include "store/sql.h"

struct tk_arena;
struct tk_site;
struct tk_value;

/* The list `key` of `o`: an object for each row, to which `add` (may be NULL) adds. */
int tk_page_add_query(struct tk_site *site, struct tk_value *o, const char *key, const char *sql,
        const struct tk_cell *args, size_t arg_count,
        int (*add)(struct tk_site *site, struct tk_value *o, const struct tk_cell *row,
                struct tk_error *err),
        struct tk_error *err);
/* The members of `o` itself, from the only row. */
int tk_page_set_query(struct tk_site *site, struct tk_value *o, const char *sql,
        const struct tk_cell *args, size_t arg_count, struct tk_error *err);

struct tk_page_query {
	const char *key, *sql; /* key NULL: members of the object itself */
};
/* Several of the two kinds, each with the parameter ?1. */
int tk_page_add_queries(struct tk_site *site, struct tk_value *o,
        const struct tk_page_query *queries, size_t count, int64_t id, struct tk_error *err);

/* The columns of a table of change points, of `FROM page_change c`. */
#define TK_CHANGE_POINT_COLUMNS \
	" c.series_id AS 'series+', c.ratio - 1 AS 'change+', c.ratio AS 'step+'," \
	" iif(c.worse, 'bad', 'good') AS tone, quantity(c.before_value, c.unit) AS before," \
	" quantity(c.after_value, c.unit) AS after, minute(c.as_of_s) AS \"when\"," \
	" clip(c.cause, 40) AS cause"

/* Before the first query. Also makes the view page_change. */
int tk_page_define_functions(struct tk_store *store, struct tk_error *err);

#endif
