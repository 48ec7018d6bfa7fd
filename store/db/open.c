/* Opening and closing a history: its version, its schema, its views. Its lock, and waiting for
 * another process that is writing to it. Connections of threads that read it at once. */
#include "base/process.h"
#include "store/db/internal.h"
#include "store/store.h"
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>

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

void tk_store_set_lock_wait(struct tk_store *s, int64_t deadline_ns, double least_s)
{
	s->lock_deadline_ns = deadline_ns;
	s->lock_least_ns = (int64_t)(least_s * 1e9);
}

/* ---- open ------------------------------------------------------------------------------------ */

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
	tk_store_set_lock_wait(s, 0, LEAST_S);
	sqlite3_busy_handler(s->db, wait_for_lock, s);
	return 0;
}

/* A history on a read-only medium (no -shm file beside it) can only be opened as immutable. */
static int connect_immutable(struct tk_store *s, struct tk_error *err)
{
	AUTO(tk_buf) uri = {0};

	sqlite3_close(s->db);
	s->db = NULL;
	tk_buf_add_str(&uri, "file:");
	for (const unsigned char *p = (const unsigned char *)s->path; *p; p++)
		tk_buf_add_printf(
		        &uri, strchr("?#%", *p) || *p < 0x21 || *p > 0x7e ? "%%%02X" : "%c", *p);
	tk_buf_add_str(&uri, "?immutable=1");
	int rc = sqlite3_open_v2(uri.data, &s->db,
	        SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);

	if (rc != SQLITE_OK)
		return tk_db_fail(s, rc, err, "cannot open");
	sqlite3_extended_result_codes(s->db, 1);
	return 0;
}

/* Whether reading fails because the folder cannot be written. A write-ahead log with content would
 * be ignored: then the failure is final. */
static bool needs_immutable(struct tk_store *s)
{
	int rc = sqlite3_exec(s->db, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL) & 0xff;
	struct stat st;

	if (rc != SQLITE_CANTOPEN && rc != SQLITE_READONLY)
		return false;
	AUTO_TEXT wal = tk_sprintf("%s-wal", s->path);

	return stat(wal, &st) || !st.st_size;
}

/* ---- the schema ------------------------------------------------------------------------------ */

/* "tkhi" in the header of the file: `file` and the tracker recognise a history by it. */
#define APPLICATION_ID 0x746b6869

/* The statements from one version to the next: [0] from 1 to 2. */
static const char *const migrations[TK_STORE_SCHEMA] = {NULL};

/* *version 0: an empty file. Refuses files that are not a history, and newer histories. */
static int read_version(struct tk_store *s, int64_t *version, struct tk_error *err)
{
	int64_t application, tables;

	TRY(tk_store_select_int(s, "PRAGMA application_id", TK_NO_ARGS, 0, &application, err));
	TRY(tk_store_select_int(s, "PRAGMA user_version", TK_NO_ARGS, 0, version, err));
	TRY(tk_store_select_int(
	        s, "SELECT count(*) FROM sqlite_schema", TK_NO_ARGS, 0, &tables, err));
	if (application != APPLICATION_ID && (application || *version || tables))
		return tk_fail(err, TK_EDATA,
		        "%s: is an SQLite database, but not a history of tracker", s->path);
	if (application == APPLICATION_ID && (*version < 1 || tables == 0))
		return tk_fail(
		        err, TK_EDATA, "%s: is damaged: a history without a version", s->path);
	if (*version > TK_STORE_SCHEMA)
		return tk_fail(err, TK_EVERSION,
		        "%s: written by a newer tracker (history version %lld, this one knows up "
		        "to %d): update the tracker",
		        s->path, (long long)*version, TK_STORE_SCHEMA);
	return 0;
}

static int run_migrations(struct tk_store *s, struct tk_error *err)
{
	char sql[96];
	int64_t version;

	TRY(tk_store_select_int(s, "PRAGMA user_version", TK_NO_ARGS, 0, &version, err));
	if (version == 0) /* another process may have been faster */
		TRY(tk_db_exec(s, (const char *)tk_schema_sql, err));
	for (int64_t v = version; v && v < TK_STORE_SCHEMA; v++)
		TRY(tk_db_exec(s, migrations[v - 1], err));
	snprintf(sql, sizeof(sql), "PRAGMA application_id=%d; PRAGMA user_version=%d;",
	        APPLICATION_ID, TK_STORE_SCHEMA);
	return tk_db_exec(s, sql, err);
}

/* In one transaction: nobody sees a part of a schema. */
static int migrate(struct tk_store *s, struct tk_error *err)
{
	TRY(tk_store_begin(s, err));
	return tk_store_end(s, run_migrations(s, err), err);
}

static int set_up(struct tk_store *s, enum tk_store_mode mode, struct tk_error *err)
{
	int64_t version;

	/* A file has neither triggers nor views: those of a file that somebody sent must not run.
	 * The tracker's own views are temporary, which this allows. */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	TRY(tk_checksum_register(s, err));
	TRY(tk_digest_register(s, err));
	TRY(tk_slug_register(s, err));
	TRY(tk_verdict_reason_register(s, err));
	TRY(read_version(s, &version, err));
	if (mode == TK_STORE_READ && version < TK_STORE_SCHEMA)
		return tk_fail(err, TK_EVERSION,
		        version ? "%s: written by an older tracker (history version %d, this one "
		                  "reads %d): `tracker db migrate` brings it up to date"
		                : "%s: is empty (history version %d of %d): `tracker nightly` "
		                  "fills it",
		        s->path, (int)version, TK_STORE_SCHEMA);
	/* Thousands of series are thousands of pages. A reader maps them instead of copying each,
	 * up to a limit on memory. Pages beyond it are hardly read twice, so the cache for them is
	 * small. */
	TRY(tk_db_exec(s,
	        s->read_only ? "PRAGMA cache_size=-4096; PRAGMA mmap_size=134217728; "
	                       "PRAGMA temp_store=MEMORY;"
	                     : "PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY;",
	        err));
	if (mode != TK_STORE_READ)
		TRY(tk_db_exec(s, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;", err));
	if (version < TK_STORE_SCHEMA)
		TRY(migrate(s, err));
	TRY(tk_db_exec(s, (const char *)tk_views_sql, err));
	TRY(tk_db_exec(s, "PRAGMA foreign_keys=ON", err));
	return s->is_temporary || mode == TK_STORE_READ ? 0 : tk_digest_watch(s, err);
}

int tk_store_open(
        const char *path, enum tk_store_mode mode, struct tk_store **out, struct tk_error *err)
{
	TRY(look_at_path(path, mode, err));
	struct tk_store *s = tk_calloc(1, sizeof(*s));

	/* ":memory:" is a file name like any other. */
	s->path = tk_sprintf("%s%s", path[0] == ':' ? "./" : "", path);
	s->read_only = mode == TK_STORE_READ;
	int status = connect_plain(s, mode, err);

	if (!status && s->read_only && needs_immutable(s))
		status = connect_immutable(s, err);
	if (!status)
		status = set_up(s, mode, err);
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

	s->path = tk_strdup("the temporary history");
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
	free(s->queries);
	free(s->touched);
	tk_rows_free(&s->kept);
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

const char *tk_store_path(const struct tk_store *s)
{
	return s->path;
}

/* ---- the lock of a whole command ------------------------------------------------------------- */

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

/* ---- connections of threads ------------------------------------------------------------------ */

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
