/* A page is its queries and its template: the rows of a SELECT as values of the page.
 *
 * A column is a member of the row's object: NULL is "", an integer is decimal, a text is itself.
 * The name of a column may end in a mark:
 *   "cut?"       a flag
 *   "id-"        not shown: the ?1 of queries of the row
 *   "bar!"       markup
 *   "facts*"     a JSON object: a list of key and value
 *   "series+"    the id of a series: all that tk_page_set_series() sets; has_series (a flag)
 *   "change+"    a change of that series: change, direction, glyph; "" for a text
 *   "step+"      after / before of that series: step_markup
 *   "spark+"     spark_markup of that series
 *   "bar+"       a share: bar_markup
 *   "revision+"  the id of a revision: all that tk_page_set_revision() sets
 *   "base+" and then "range+"  the ids of two revisions: all that tk_page_set_revision_range() sets
 *   "mark+"      a style: mark_markup
 *   "verdict+"   all that tk_page_set_verdict() sets of that series
 *   "p99+"       a run of the series that is the id: p99, of its samples
 *   "night+"     the id of a night: page (a flag) and href
 * SQL has functions for what a person reads; sql_functions.c lists them. */
#ifndef TK_SITE_QUERY_H
#define TK_SITE_QUERY_H
#include "store/select.h"

struct tk_model;
struct tk_site;
struct tk_site_options;
struct tk_value;

#define TK_PAGE_ARGS_MAX 3
/* The queries of PAGE.sql, beside the templates. Each stands below a line "-- KEY:", the list that
 * it makes, "-- .:", members of the object itself, or "-- LIST/KEY:", the same for each object of
 * a list before it, whose id is then ?1. ?1, ?2, ?3: `args`. "-- pages:" is for pages.c, and
 * views*.sql have views for all pages. "-- KEY: of all pages" is run once, because there are
 * thousands: it has no parameters, selects the rows of all pages in their order, and its first
 * column, "page-", is ?1 of the page of the row. */
int tk_page_add_sql(struct tk_site *site, struct tk_value *o, const char *page,
        const struct tk_arg *args, struct tk_error *err);
/* Call it after the last page: fails where a row was of no page. */
int tk_page_end_queries(struct tk_site *site, struct tk_error *err);
/* One of them, which must be there. */
const char *tk_page_find_sql(const struct tk_site *site, const char *page, const char *key);

/* Defines the functions of SQL, which the model needs, too. */
int tk_page_add_functions(struct tk_store *store, struct tk_error *err);
/* Reads the queries, and makes what views*.sql say. */
int tk_page_load_queries(struct tk_site *site, struct tk_error *err);
void tk_page_free_queries(struct tk_site *site);
/* What the model knows and SQL does not, as tables page_machine, page_night, ... */
int tk_page_store_facts(
        const struct tk_model *m, const struct tk_site_options *options, struct tk_error *err);
int tk_page_store_tunings(const struct tk_model *m, struct tk_error *err);
/* Makes a temporary table with an id and these columns, and adds a row to it. */
int tk_page_make_table(
        struct tk_store *s, const char *columns, const char *name, struct tk_error *err);
int tk_page_insert(
        struct tk_store *s, const char *table, const struct tk_arg *row, struct tk_error *err);

#endif
