/* Read-only connections to a history for threads that read it at once; they see what has been
 * committed. */
#ifndef TK_STORE_READERS_H
#define TK_STORE_READERS_H

struct tk_store;

struct tk_store_readers;
struct tk_store_readers *tk_store_readers_new(const struct tk_store *s);
void tk_store_readers_free(struct tk_store_readers *r);
/* One that no other thread uses; NULL: none can be opened. */
struct tk_store *tk_store_readers_take(struct tk_store_readers *r);
void tk_store_readers_give(struct tk_store_readers *r, struct tk_store *s);

#endif
