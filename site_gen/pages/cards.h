/* cards/: the devices of one model next to each other. */
#ifndef TK_SITE_PAGES_CARDS_H
#define TK_SITE_PAGES_CARDS_H
#include <stddef.h>

struct tk_cards;
struct tk_error;
struct tk_site;
struct tk_value;

/* cards: of each model its name, address, devices and comparable devices. */
void tk_cards_set_list(struct tk_value *page, const struct tk_cards *cards);
int tk_cards_write(struct tk_site *site, const struct tk_cards *cards, struct tk_error *err);

#endif
