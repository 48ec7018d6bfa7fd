/* The physical pages of a module's code. Private to worker/ and its tests. */
#ifndef TK_WORKER_MODULE_PAGES_H
#define TK_WORKER_MODULE_PAGES_H
#include <stdbool.h>
#include <stddef.h>

/* Moves code and constants of a loaded module, and of what was loaded with it, to private physical
 * pages in random order. Pages of a cached file are the same in every process: which of them share
 * a cache set or a TLB entry would be a property of the file, and two equal builds would differ in
 * every process. Virtual addresses do not change.
 *
 * `module` is the result of dlopen(). Pages that cannot be moved, because the system forbids it or
 * because they exceed 256 MiB, are left where they are. Returns the bytes moved. */
size_t tk_module_randomize_pages(void *module);

#endif
