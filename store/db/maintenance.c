/* Keeping a history healthy: copy, shrink. */
#include "base/base.h"
#include "store/db/internal.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

int tk_store_remove_pending(const char *path, struct tk_error *err)
{
	static const char *const ends[] = {"-wal", "-shm", "-journal"};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		AUTO_TEXT name = tk_sprintf("%s%s", path, ends[i]);

		if (unlink(name) && errno != ENOENT)
			return tk_fail_errno(err, "%s", name);
	}
	return 0;
}

/* ---- copy ------------------------------------------------------------------------------------ */

static int copy_pages(struct tk_store *s, const char *to, struct tk_error *err)
{
	sqlite3 *db = NULL;
	sqlite3_backup *backup = NULL;
	int status = 0,
	    rc = sqlite3_open_v2(to, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	if (rc == SQLITE_OK)
		backup = sqlite3_backup_init(db, "main", s->db, "main");
	if (backup) {
		sqlite3_backup_step(backup, -1);
		rc = sqlite3_backup_finish(backup);
	} else if (rc == SQLITE_OK) {
		rc = sqlite3_errcode(db);
	}
	if (rc != SQLITE_OK) {
		struct tk_store other = {.db = db, .path = (char *)to};

		status = tk_db_fail(&other, rc, err, "cannot write the backup");
	}
	sqlite3_close(db);
	return status;
}

static int copy_file(struct tk_store *s, const char *to, struct tk_error *err)
{
	AUTO_TEXT temporary = tk_sprintf("%s.%ld.part", to, (long)getpid());

	unlink(temporary);
	int status = copy_pages(s, temporary, err);

	if (!status && rename(temporary, to) != 0)
		status = tk_fail_errno(err, "cannot rename %s to %s", temporary, to);
	if (status)
		unlink(temporary);
	return status;
}

int tk_store_backup(struct tk_store *s, const char *to, struct tk_error *err)
{
	struct stat here, there;

	if (stat(s->path, &here) == 0 && stat(to, &there) == 0) {
		if (here.st_dev == there.st_dev && here.st_ino == there.st_ino)
			return tk_fail(err, TK_EUSAGE, "%s: is the history itself", to);
		if (!S_ISREG(there.st_mode))
			return tk_fail(err, TK_EUSAGE, "%s: is not a file", to);
	}
	return copy_file(s, to, err);
}

/* ---- shrink ---------------------------------------------------------------------------------- */

int tk_store_drop_samples(struct tk_store *s, int64_t before_s, struct tk_error *err)
{
	TRY(tk_db_check_writable(s, err));
	return tk_store_run(s,
	        "DELETE FROM sample WHERE run_id IN (SELECT id FROM run WHERE "
	        "started_s<?1)",
	        TK_ARGS(before_s), err);
}

int tk_store_vacuum(struct tk_store *s, int64_t drop_samples_before_s, struct tk_error *err)
{
	TRY(tk_store_drop_samples(s, drop_samples_before_s, err));
	TRY(tk_db_exec(s, "VACUUM", err));
	TRY(tk_db_exec(s, "PRAGMA wal_checkpoint(TRUNCATE)", err));
	return tk_db_exec(s, "PRAGMA optimize", err);
}
