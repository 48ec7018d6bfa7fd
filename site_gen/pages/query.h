/* A page is its queries and its template: the rows of a SELECT as values of the page.
 *
 * A column is a member of the row's object: NULL is "", an integer is decimal, a text is itself. The
 * name of a column may end in a mark:
 *   "cut?"       a flag
 *   "id-"        not shown: the ?1 of queries of the row
 *   "series+"    the id of a series: all that tk_page_set_series() sets; has_series (a flag)
 *   "change+"    a change of that series: change, direction, glyph; "" for a text
 *   "step+"      after / before of that series: step_markup
 *   "spark+"     spark_markup of that series
 *   "revision+"  the id of a revision: all that tk_page_set_revision() sets
 *   "base+" and then "range+"  the ids of two revisions: all that tk_page_set_revision_range() sets
 *   "night+"     the id of a night: page (a flag) and href
 * SQL has functions for what a person reads; sql_functions.c lists them. */
#ifndef TK_SITE_QUERY_H
#define TK_SITE_QUERY_H
#include "store/select.h"

struct tk_site;
struct tk_value;

/* The queries of PAGE.sql, beside the templates. Each stands below a line "-- KEY:", the list that
 * it makes, "-- .:", members of the object itself, or "-- LIST/KEY:", the same for each object of
 * a list before it. ?1 is `id`, or that of the object. views.sql has views for all pages. */
int tk_page_add_sql(struct tk_site *site, struct tk_value *o, const char *page, int64_t id,
        struct tk_error *err);

/* Reads the queries, defines the functions, and makes what views.sql says. */
int tk_page_load_queries(struct tk_site *site, struct tk_error *err);
void tk_page_free_queries(struct tk_site *site);
int tk_page_add_functions(struct tk_store *store, struct tk_error *err);

#endif
