/* The lock of a history for a whole command (store/lock.h), and waiting for another process that is
 * writing to it. */
#include "store/lock.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/try.h"
#include "store/db/internal.h"

int tk_store_lock(const char *path, struct tk_lock **out, struct tk_error *err)
{
	AUTO_TEXT lock_path = tk_sprintf("%s.lock", path);

	return tk_lock_acquire(lock_path, out, err);
}

bool tk_store_is_locked(struct tk_store *s)
{
	AUTO_TEXT path = tk_sprintf("%s.lock", s->path);

	return tk_lock_is_held(path);
}

void tk_store_mark_stopped(struct tk_store *s, struct tk_rows *nights)
{
	bool at_work = tk_store_is_locked(s);

	for (size_t i = 0; i < nights->count; i++) {
		struct tk_night_row *night = (struct tk_night_row *)nights->rows + i;

		if (night->status != TK_NIGHT_RUNNING)
			continue;
		if (!at_work)
			night->status = TK_NIGHT_STOPPED;
		at_work = false;
	}
}

/* ---- waiting to write ------------------------------------------------------------------------ */

#define LEAST_S 10
#define REPORT_NS ((int64_t)5000000000)
#define SLEEP_MAX_MS 250

static int64_t sleep_ms(int attempt)
{
	return attempt < 8 ? (int64_t)1 << attempt : SLEEP_MAX_MS;
}

/* SQLite calls it with the number of attempts so far, and tries again if it returns 1. */
static int wait_for_lock(void *arg, int attempt)
{
	struct tk_store *s = arg;
	int64_t now = tk_clock_monotonic_ns();

	if (attempt == 0)
		s->lock_wait_start_ns = now;
	int64_t waited = now - s->lock_wait_start_ns;

	if (tk_cancel_is_requested() || (waited >= s->lock_least_ns && now >= s->lock_deadline_ns))
		return 0;
	int64_t pause = sleep_ms(attempt) * 1000000;

	if (waited < REPORT_NS && waited + pause >= REPORT_NS)
		tk_log(TK_LOG_WARN, "locked", NULL, "%s: waiting for another process to write",
		        s->path);
	tk_clock_sleep_ns(pause);
	return 1;
}

void tk_db_install_lock_wait(struct tk_store *s)
{
	tk_store_set_lock_wait(s, 0, LEAST_S);
	sqlite3_busy_handler(s->db, wait_for_lock, s);
}

void tk_store_set_lock_wait(struct tk_store *s, int64_t deadline_ns, double least_s)
{
	s->lock_deadline_ns = deadline_ns;
	s->lock_least_ns = (int64_t)(least_s * 1e9);
}
