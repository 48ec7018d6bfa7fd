/* A list that only grows: who searches it needs no lock. See build_code.h. */
#include "decide/history/build_code.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/store.h"

struct build_kernels {
	int64_t build_id;
	struct tk_rows kernels;
	struct build_kernels *next;
};

struct tk_build_code {
	_Atomic(struct build_kernels *) first; /* complete when it is here */
	pthread_mutex_t reading;               /* of the thread that reads from the store */
};

struct tk_build_code *tk_build_code_new(void)
{
	struct tk_build_code *c = tk_calloc(1, sizeof *c);

	if (c && pthread_mutex_init(&c->reading, NULL) != 0) {
		free(c);
		return NULL;
	}
	return c;
}

void tk_build_code_clear(struct tk_build_code *c)
{
	struct build_kernels *next;

	for (struct build_kernels *b = atomic_exchange(&c->first, NULL); b; b = next) {
		next = b->next;
		tk_rows_free(&b->kernels);
		free(b);
	}
}

void tk_build_code_free(struct tk_build_code *c)
{
	if (!c)
		return;
	tk_build_code_clear(c);
	pthread_mutex_destroy(&c->reading);
	free(c);
}

static const struct tk_rows *find(const struct build_kernels *b, int64_t build_id)
{
	while (b && b->build_id != build_id)
		b = b->next;
	return b ? &b->kernels : NULL;
}

static int read_kernels(struct tk_build_code *c, struct tk_store *s, int64_t build_id,
        const struct tk_rows **out, struct tk_error *err)
{
	struct build_kernels *b = tk_calloc(1, sizeof *b);
	int status =
	        b ? tk_store_list(
	                    s, TK_TABLE_kernel, "build_id=?1", TK_ARGS(build_id), &b->kernels, err)
	          : tk_fail(err, TK_ENOMEM, "out of memory while reading the kernels of a build");

	if (status) {
		free(b);
		return status;
	}
	b->build_id = build_id;
	b->next = atomic_load(&c->first);
	atomic_store(&c->first, b);
	*out = &b->kernels;
	return TK_OK;
}

int tk_build_code_find(struct tk_build_code *c, struct tk_store *s, int64_t build_id,
        const struct tk_rows **out, struct tk_error *err)
{
	const struct tk_rows *known = find(atomic_load(&c->first), build_id);
	int status = TK_OK;

	if (!known) {
		pthread_mutex_lock(&c->reading);
		known = find(atomic_load(&c->first), build_id);
		if (!known)
			status = read_kernels(c, s, build_id, &known, err);
		pthread_mutex_unlock(&c->reading);
	}
	if (!status)
		*out = known;
	return status;
}
