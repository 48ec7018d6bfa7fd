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

struct tk_error;
struct tk_site;
struct tk_value;

/* The queries of PAGE.sql, beside the templates. Each stands below a line "-- KEY:", the list that
 * it makes, or "-- .:", members of the object itself. ?1 is `id`. */
int tk_page_add_sql(struct tk_site *site, struct tk_value *o, const char *page, int64_t id,
        struct tk_error *err);

/* Reads the queries, defines the functions, and makes what views.sql says. */
int tk_page_load_queries(struct tk_site *site, struct tk_error *err);
void tk_page_free_queries(struct tk_site *site);

#endif
