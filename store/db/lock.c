/* See store/lock.h. */
#include "store/lock.h"
#include "base/buf.h"
#include "base/file.h"
#include "store/db/internal.h"

static void add_lock_path(struct tk_buf *out, const char *path)
{
	tk_buf_add_printf(out, "%s.lock", path);
}

int tk_store_lock(const char *path, struct tk_lock **out, struct tk_error *err)
{
	struct tk_buf lock_path = TK_BUF_INIT;

	add_lock_path(&lock_path, path);
	int status = tk_buf_status(&lock_path, err);

	if (!status)
		status = tk_lock_acquire(tk_buf_cstr(&lock_path), out, err);
	tk_buf_free(&lock_path);
	return status;
}

bool tk_store_is_locked(struct tk_store *s)
{
	struct tk_buf path = TK_BUF_INIT;
	bool is_held;

	add_lock_path(&path, s->path);
	is_held = tk_lock_is_held(tk_buf_cstr(&path));
	tk_buf_free(&path);
	return is_held;
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
