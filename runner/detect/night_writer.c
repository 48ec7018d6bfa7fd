/* Stores the verdicts of a night while the next one is computed: see night_writer.h. */
#include "detect/night_writer.h"

#include "store/store.h"

static bool is_pending(const struct tk_night_writer *w)
{
	return w->verdicts.night_id;
}

int tk_night_writer_begin(struct tk_night_writer *w, struct tk_store *s, struct tk_error *err)
{
	const int status = w->is_open ? TK_OK : tk_store_begin(s, err);

	w->store = s;
	w->is_open = !status;
	return status;
}

void tk_night_writer_set(struct tk_night_writer *w, struct tk_verdict_rows *verdicts)
{
	w->verdicts = *verdicts;
	*verdicts = (struct tk_verdict_rows){0};
}

static void *end_transaction(void *arg)
{
	struct tk_night_writer *w = arg;

	w->status = tk_verdict_rows_store(&w->verdicts, w->store, &w->error);
	if (!w->status) {
		w->is_open = false;
		w->status = tk_store_commit(w->store, &w->error);
	}
	return NULL;
}

void tk_night_writer_start(struct tk_night_writer *w)
{
	if (w && is_pending(w) && !w->is_running)
		w->is_running = pthread_create(&w->thread, NULL, end_transaction, w) == 0;
}

static void wait_for_thread(struct tk_night_writer *w)
{
	if (w->is_running)
		pthread_join(w->thread, NULL);
	w->is_running = false;
}

/* Waits for the thread, or does its work. */
static int end_pending(struct tk_night_writer *w, struct tk_error *err)
{
	if (w->is_running)
		wait_for_thread(w);
	else
		end_transaction(w);
	tk_verdict_rows_free(&w->verdicts);
	return w->status ? tk_fail(err, w->status, "%s", w->error.message) : TK_OK;
}

int tk_night_writer_finish(struct tk_night_writer *w, struct tk_error *err)
{
	int status;

	if (!w || !is_pending(w))
		return TK_OK;
	status = tk_night_writer_end(w, err);
	return status ? status : tk_night_writer_begin(w, w->store, err);
}

int tk_night_writer_end(struct tk_night_writer *w, struct tk_error *err)
{
	int status = is_pending(w) ? end_pending(w, err) : TK_OK;

	if (status) {
		tk_night_writer_abandon(w);
		return status;
	}
	if (w->is_open)
		status = tk_store_commit(w->store, err);
	w->is_open = false;
	return status;
}

void tk_night_writer_abandon(struct tk_night_writer *w)
{
	wait_for_thread(w);
	tk_verdict_rows_free(&w->verdicts);
	if (w->is_open)
		tk_store_rollback(w->store);
	w->is_open = false;
}
