/* Logic-less templates, a strict subset of Mustache:
 *
 *   {{name}}                  the text, escaped for HTML; a flag is "true" or ""
 *   {{{name_markup}}}         markup of the generator, from a member whose name ends in _markup
 *   {{#name}}..{{/name}}      once for a set flag, a non-empty text or an object (its members are
 *                             then in scope); once for each item of a list; else not at all
 *   {{#name?}}..{{/name?}}    once where the section would be shown at all: the frame of a list
 *   {{^name}}..{{/name}}      where the section would not be shown
 *   {{>name}}                 another template of the set
 *   {{! comment }}  {{.}} the item itself  {{a.b}} a member of a member
 *
 * Names are looked up in the innermost object first. A name without a value is an error, so that
 * tests find misspelt names. {{{x}}} accepts markup only, so that `grep '{{{'` finds every place
 * that is not escaped. A section tag, partial or comment alone on its line removes the line.
 * Messages are "FILE:LINE:COLUMN: what". */
#ifndef TK_SITE_TEMPLATE_H
#define TK_SITE_TEMPLATE_H
#include <stddef.h>

struct tk_buf;
struct tk_error;
struct tk_value;
struct tk_templates;

#define TK_TEMPLATE_BYTES_MAX ((size_t)1 << 20) /* of one template */
#define TK_TEMPLATE_DEPTH_MAX 32 /* of sections in one template, and of partials in partials */
#define TK_TEMPLATE_STEPS_MAX 20000000 /* tags of one page */

struct tk_templates *tk_templates_new(void); /* NULL: out of memory */
void tk_templates_free(struct tk_templates *t);

/* Parses a text (copied); TK_EDATA with the position. `name` is used by {{>name}} and in errors as
 * "name.html". */
int tk_templates_add(struct tk_templates *t, const char *name, const char *text, size_t len,
        struct tk_error *err);

/* Adds every *.html of a folder. */
int tk_templates_load(struct tk_templates *t, const char *dir, struct tk_error *err);

/* Appends the page to out. */
int tk_templates_render(const struct tk_templates *t, const char *name, const struct tk_value *data,
        struct tk_buf *out, struct tk_error *err);

#endif
