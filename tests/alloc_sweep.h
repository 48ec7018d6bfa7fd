/* Allocations that fail on purpose: a call is repeated while its first, second, third, ...
 * allocation fails, until it needs no more of them. Link with tk_alloc_sweep() of CMake, which
 * replaces malloc, calloc, realloc, strdup, strndup and asprintf of the project's own code, not of
 * libraries. */
#ifndef TEST_ALLOC_SWEEP_H
#define TEST_ALLOC_SWEEP_H
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct alloc_sweep {
	const char *name; /* for messages */
	void *arg;
	/* What is tested. Frees what it got, and checks it where it returns TK_OK: a result that
	 * lacks something must not be reported as one. */
	int (*call)(void *arg, struct tk_error *err);
	void (*before)(void *arg); /* each call, with working allocations; may be NULL */
	/* After each call, with working allocations; may be NULL. */
	void (*after)(void *arg, int status);
	bool slow;        /* fewer of its allocations fail in turn */
	bool may_succeed; /* the call can do without some of its allocations */
	/* Also allowed, of a library that does not say why it failed; 0: none. */
	int other_status;
};

/* Twice, with one failing allocation and with all from the n-th on. Fails the test where the
 * status is neither TK_ENOMEM with a message nor allowed, and where memory leaked. Returns the
 * number of allocations that were made to fail. */
size_t alloc_sweep(const struct alloc_sweep *sweep);

/* Within a call: the allocations of a part that is not under test work. */
void alloc_sweep_pause(bool pause);

bool alloc_sweep_fails(void); /* for other functions that allocate: counts an allocation */

/* Also the allocations of SQLite, before its first use; of Jansson. */
void alloc_sweep_add_sqlite(void);
void alloc_sweep_add_jansson(void);

#endif
