/* Stores the verdicts of a night while the next one is computed: see night_writer.h. */
#include "detect/night_writer.h"

#include "store/store.h"

int tk_night_writer_begin(struct tk_night_writer *w, struct tk_store *s, struct tk_error *err)
{
	const int status = w->store ? TK_OK : tk_store_begin(s, err);

	if (!status)
		w->store = s;
	return status;
}

void tk_night_writer_set(struct tk_night_writer *w, struct tk_verdict_rows *verdicts)
{
	w->verdicts = *verdicts;
	w->is_pending = true;
	*verdicts = (struct tk_verdict_rows){0};
}

static void *store_verdicts(void *arg)
{
	struct tk_night_writer *w = arg;

	w->status = tk_verdict_rows_store(&w->verdicts, w->store, &w->error);
	return NULL;
}

void tk_night_writer_start(struct tk_night_writer *w)
{
	if (w && w->is_pending && !w->is_running)
		w->is_running = pthread_create(&w->thread, NULL, store_verdicts, w) == 0;
}

/* Waits for the thread, or does its work. */
static int store_pending(struct tk_night_writer *w, struct tk_error *err)
{
	if (w->is_running)
		pthread_join(w->thread, NULL);
	else
		store_verdicts(w);
	w->is_running = w->is_pending = false;
	tk_verdict_rows_free(&w->verdicts);
	if (w->status)
		*err = w->error;
	return w->status;
}

int tk_night_writer_finish(struct tk_night_writer *w, struct tk_error *err)
{
	struct tk_store *s = w ? w->store : NULL;
	int status;

	if (!w || !w->is_pending)
		return TK_OK;
	status = tk_night_writer_end(w, err);
	return status ? status : tk_night_writer_begin(w, s, err);
}

int tk_night_writer_end(struct tk_night_writer *w, struct tk_error *err)
{
	int status = w->is_pending ? store_pending(w, err) : TK_OK;

	if (status) {
		tk_night_writer_abandon(w);
		return status;
	}
	if (w->store)
		status = tk_store_commit(w->store, err);
	w->store = NULL;
	return status;
}

void tk_night_writer_abandon(struct tk_night_writer *w)
{
	if (w->is_running)
		pthread_join(w->thread, NULL);
	w->is_running = w->is_pending = false;
	tk_verdict_rows_free(&w->verdicts);
	if (w->store)
		tk_store_rollback(w->store);
	w->store = NULL;
}
