/* Opening and closing a history. */
#include "base/buf.h"
#include "base/memory.h"
#include "store/db/internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int look_at_path(const char *path, enum tk_store_mode mode, struct tk_error *err)
{
	struct stat st;

	if (stat(path, &st) == 0) {
		if (S_ISREG(st.st_mode))
			return 0;
		return tk_fail(err, TK_EDATA, "%s: is not a file", path);
	}
	if (errno != ENOENT)
		return tk_fail_errno(err, "%s", path);
	if (mode == TK_STORE_CREATE)
		return 0;
	return tk_fail(err, TK_ENOTFOUND,
	        "%s: there is no history yet (`tracker nightly` makes one)", path);
}

static int connect_plain(struct tk_store *s, enum tk_store_mode mode, struct tk_error *err)
{
	int flags = mode == TK_STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	int rc = sqlite3_open_v2(s->path, &s->db,
	        flags | SQLITE_OPEN_NOMUTEX | (mode == TK_STORE_CREATE ? SQLITE_OPEN_CREATE : 0),
	        NULL);

	if (rc != SQLITE_OK)
		return tk_db_fail(s, rc, err, "cannot open");
	sqlite3_extended_result_codes(s->db, 1);
	tk_db_install_lock_wait(s);
	return 0;
}

/* A history on a read-only medium (no -shm file beside it) can only be opened as immutable. */
static int connect_immutable(struct tk_store *s, struct tk_error *err)
{
	struct tk_buf uri = TK_BUF_INIT;
	int rc, status;

	sqlite3_close(s->db);
	s->db = NULL;
	tk_buf_add_str(&uri, "file:");
	for (const unsigned char *p = (const unsigned char *)s->path; *p; p++)
		tk_buf_add_printf(
		        &uri, strchr("?#%", *p) || *p < 0x21 || *p > 0x7e ? "%%%02X" : "%c", *p);
	tk_buf_add_str(&uri, "?immutable=1");
	status = tk_buf_status(&uri, err);
	if (!status) {
		rc = sqlite3_open_v2(uri.data, &s->db,
		        SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
		if (rc != SQLITE_OK)
			status = tk_db_fail(s, rc, err, "cannot open");
		else
			sqlite3_extended_result_codes(s->db, 1);
	}
	tk_buf_free(&uri);
	return status;
}

/* Whether reading fails because the folder cannot be written. A write-ahead log with content would
 * be ignored: then the failure is final. */
static bool needs_immutable(struct tk_store *s)
{
	int rc = sqlite3_exec(s->db, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL) & 0xff;
	struct tk_buf wal = TK_BUF_INIT;
	struct stat st;
	bool pending;

	if (rc != SQLITE_CANTOPEN && rc != SQLITE_READONLY)
		return false;
	tk_buf_add_printf(&wal, "%s-wal", s->path);
	pending = tk_buf_status(&wal, NULL) || (stat(wal.data, &st) == 0 && st.st_size > 0);
	tk_buf_free(&wal);
	return !pending;
}

static int set_up(struct tk_store *s, enum tk_store_mode mode, struct tk_error *err)
{
	int64_t version;
	int status;

	s->uid_generation = 1;
	/* A history has neither triggers nor views: those of a file that somebody sent must not
	 * run. */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	status = tk_checksum_register(s, err);
	if (!status)
		status = tk_db_read_version(s, &version, err);
	if (!status && mode == TK_STORE_READ && version < TK_STORE_SCHEMA)
		return tk_fail(err, TK_EVERSION,
		        version ? "%s: written by an older tracker (history version %d, this one "
		                  "reads %d): "
		                  "`tracker db migrate` brings it up to date"
		                : "%s: is empty (history version %d of %d): `tracker nightly` "
		                  "fills it",
		        s->path, (int)version, TK_STORE_SCHEMA);
	/* Thousands of series are thousands of pages. A reader maps them instead of copying each,
	 * up to a limit on memory. Pages beyond it are hardly read twice, so the cache for them is
	 * small. */
	if (!status)
		status = tk_db_exec(s,
		        s->read_only ? "PRAGMA cache_size=-4096; PRAGMA mmap_size=134217728; "
		                       "PRAGMA temp_store=MEMORY;"
		                     : "PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY;",
		        err);
	if (!status && mode != TK_STORE_READ)
		status = tk_db_exec(s, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;", err);
	if (!status && version < TK_STORE_SCHEMA)
		status = tk_db_migrate(s, version, tk_migrations, TK_STORE_SCHEMA, err);
	if (!status)
		status = tk_db_exec(s, "PRAGMA foreign_keys=ON", err);
	return status;
}

int tk_store_open(
        const char *path, enum tk_store_mode mode, struct tk_store **out, struct tk_error *err)
{
	struct tk_store *s = tk_calloc(1, sizeof(*s));
	int status = look_at_path(path, mode, err);

	if (!s)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	if (status)
		goto out;
	/* ":memory:" is a file name like any other. */
	if (asprintf(&s->path, "%s%s", path[0] == ':' ? "./" : "", path) < 0) {
		s->path = NULL;
		status = tk_fail(err, TK_ENOMEM, "out of memory");
		goto out;
	}
	s->read_only = mode == TK_STORE_READ;
	status = connect_plain(s, mode, err);
	if (!status && s->read_only && needs_immutable(s))
		status = connect_immutable(s, err);
	if (!status)
		status = set_up(s, mode, err);
out:
	if (status) {
		tk_store_close(s);
		return status;
	}
	*out = s;
	return 0;
}

int tk_db_open_temporary(struct tk_store **out, struct tk_error *err)
{
	struct tk_store *s = tk_calloc(1, sizeof(*s));
	int status = 0, code;

	if (!s || !(s->path = tk_strdup("the temporary history"))) {
		free(s);
		return tk_fail(err, TK_ENOMEM, "out of memory");
	}
	s->is_temporary = s->is_trusted = true;
	code = sqlite3_open_v2(
	        "", &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
	if (code != SQLITE_OK)
		status = tk_db_fail(s, code, err, "cannot open");
	if (!status)
		status = set_up(s, TK_STORE_CREATE, err);
	/* It need not survive a crash. */
	if (!status)
		status = tk_db_exec(s, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY", err);
	if (status) {
		tk_store_close(s);
		return status;
	}
	*out = s;
	return 0;
}

void tk_store_close(struct tk_store *s)
{
	if (!s)
		return;
	tk_store_close(s->scratch);
	tk_db_finalize_statements(s);
	tk_db_free_uids(s);
	free(s->queries);
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

const char *tk_store_path(const struct tk_store *s)
{
	return s->path;
}
