/* Where in memory the code of a module lies. */
#ifndef TK_WORKER_PLACEMENT_H
#define TK_WORKER_PLACEMENT_H
#include <stdbool.h>
#include <stddef.h>

/* Puts code and constants of a loaded module, and of what was loaded with it, on physical pages of
 * this process's own, drawn anew. The pages of a file are the same ones in every process for as
 * long as the file is cached: which of them fall into the same sets of a cache, and how many
 * entries of a TLB they take, would be a property of the copy of a build, and two equal builds
 * would differ in every pair of processes. Addresses stay.
 *
 * `module` is what dlopen returned. What cannot be moved (a system that forbids it, more than
 * PLACEMENT_MOST_BYTES) stays where it is. Returns how many bytes were moved. */
size_t tk_module_randomize_pages(void *module);

#endif
