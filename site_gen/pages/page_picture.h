/* The picture of a page that a link to it shows: its title, its description and its first chart. */
#ifndef TK_SITE_PAGE_PICTURE_H
#define TK_SITE_PAGE_PICTURE_H
#include <stddef.h>

struct tk_error;
struct tk_site;

/* A page begins: without a chart yet. */
void tk_page_picture_begin(struct tk_site *site);
/* Keeps site->markup, if it is the first chart of the page or the labels of that. */
void tk_page_picture_add_drawing(struct tk_site *site);
void tk_page_picture_add_key(struct tk_site *site, size_t look, const char *label);
/* Writes the picture beside the page, if that has a chart, and sets `picture`, its address; else
 * that of the overview. */
int tk_page_picture_put(struct tk_site *site, const char *path, struct tk_error *err);

#endif
