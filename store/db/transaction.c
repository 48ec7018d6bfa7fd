/* Transactions: they nest, and only the outermost commits. */
#include "store/db/internal.h"
#include <string.h>

int tk_db_check_writable(struct tk_store *s, struct tk_error *err)
{
	if (s->read_only)
		return tk_fail(err, TK_EIO, "%s: was opened for reading only", s->path);
	if (s->depth && s->doomed)
		return tk_fail(
		        err, s->doomed_status, "%s: the transaction has failed already", s->path);
	return 0;
}

/* Ends a transaction that could not be ended when it failed: a rollback needs memory too. */
static void end_left_over(struct tk_store *s)
{
	if (!s->depth && !s->read_depth && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

int tk_store_begin(struct tk_store *s, struct tk_error *err)
{
	int status = tk_db_check_writable(s, err);

	if (status)
		return status;
	end_left_over(s);
	if (s->depth == 0) {
		status = tk_store_run(s, "BEGIN IMMEDIATE", TK_NO_ARGS, err);
		if (status)
			return tk_error_add_context(err, "cannot begin to write");
		s->doomed = false;
	}
	s->depth++;
	return 0;
}

static void undo(struct tk_store *s)
{
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	tk_db_forget_uids(s);
}

int tk_store_begin_read(struct tk_store *s, struct tk_error *err)
{
	int status;

	end_left_over(s);
	status = s->depth || s->read_depth ? 0 : tk_store_run(s, "BEGIN", TK_NO_ARGS, err);
	if (!status && !s->depth)
		s->read_depth++;
	return status;
}

void tk_store_end_read(struct tk_store *s)
{
	if (s->read_depth && --s->read_depth == 0)
		tk_store_run(s, "COMMIT", TK_NO_ARGS, NULL);
}

int tk_store_commit(struct tk_store *s, struct tk_error *err)
{
	int status;

	if (s->depth == 0)
		return tk_fail(err, TK_EINTERNAL, "%s: there is no transaction to commit", s->path);
	if (s->depth > 1) {
		s->depth--;
		return 0;
	}
	status = tk_db_check_writable(s, err);
	if (!status)
		status = tk_store_run(s, "COMMIT", TK_NO_ARGS, err);
	s->depth = 0;
	s->doomed = false;
	if (status)
		undo(s);
	return status;
}

void tk_store_rollback(struct tk_store *s)
{
	if (s->depth == 0)
		return;
	if (--s->depth == 0) {
		undo(s);
		s->doomed = false;
	} else if (!s->doomed) {
		s->doomed = true;
		s->doomed_status = TK_ECANCELED;
	}
}

int tk_db_end_transaction(struct tk_store *s, int status, struct tk_error *err)
{
	if (!status)
		return tk_store_commit(s, err);
	tk_store_rollback(s);
	return status;
}
