/* Connections of threads that read at once: see readers.h. */
#include "store/readers.h"
#include "base/memory.h"
#include "store/db/internal.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define READERS_MAX 64

struct tk_store_readers {
	char *path; /* NULL: the history has no file */
	pthread_mutex_t lock;
	struct tk_store *idle[READERS_MAX];
	size_t idle_count;
};

struct tk_store_readers *tk_store_readers_new(const struct tk_store *s)
{
	struct tk_store_readers *r = tk_calloc(1, sizeof *r);

	if (!s->is_temporary)
		r->path = tk_strdup(s->path);
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

/* Pages are copied instead of mapped: each connection would map all of the file. */
static struct tk_store *open_reader(const char *path)
{
	struct tk_error unused = {0};
	struct tk_store *s = NULL;

	if (!path || tk_store_open(path, TK_STORE_READ, &s, &unused))
		return NULL;
	if (tk_db_exec(s, "PRAGMA mmap_size=0", &unused)) {
		tk_store_close(s);
		return NULL;
	}
	return s;
}

struct tk_store *tk_store_readers_take(struct tk_store_readers *r)
{
	struct tk_store *s = NULL;

	pthread_mutex_lock(&r->lock);
	if (r->idle_count)
		s = r->idle[--r->idle_count];
	pthread_mutex_unlock(&r->lock);
	return s ? s : open_reader(r->path);
}

void tk_store_readers_give(struct tk_store_readers *r, struct tk_store *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&r->lock);
	if (r->idle_count < READERS_MAX) {
		r->idle[r->idle_count++] = s;
		s = NULL;
	}
	pthread_mutex_unlock(&r->lock);
	tk_store_close(s);
}

void tk_store_readers_free(struct tk_store_readers *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->idle_count; i++)
		tk_store_close(r->idle[i]);
	pthread_mutex_destroy(&r->lock);
	free(r->path);
	free(r);
}
