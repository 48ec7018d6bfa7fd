/* What every file of the program may use: errors, memory, texts, numbers and times for people,
 * files, hashes, JSON, the log. Programs, sandboxes, options and formats of files have a header
 * each. */
#ifndef TK_BASE_H
#define TK_BASE_H
#include <jansson.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stat;

/* ---- errors ---------------------------------------------------------------------------------- */

/* Errors: a status for the program, a sentence for the user.
 *
 * The first function that knows the cause writes the message (tk_fail), callers may prepend context
 * (tk_error_add_context), only runner/cli prints it, once. Every function of the project that can
 * fail returns an int status (0 or a negative TK_E...) and takes `struct tk_error *err` last; err
 * may be NULL. */
enum tk_status {
	TK_OK = 0,
	TK_EUSAGE = -1,  /* the command line is wrong */
	TK_ECONFIG = -2, /* a file that the user wrote is wrong */
	TK_EIO = -3,     /* the system refused: open, read, write, spawn */
	TK_ENOMEM = -4,
	TK_ENOTFOUND = -5,
	TK_EDATA = -6, /* external data is malformed: wire, result, bundle, import */
	TK_ETIMEOUT = -7,
	TK_ECRASH = -8, /* a child process died */
	TK_ENOSPC = -9, /* disk full: stop, nothing half-written */
	TK_EUNSUPPORTED = -10,
	TK_EBUSY = -11,    /* another process holds the lock */
	TK_EVERSION = -12, /* made by a newer tracker */
	TK_EINTERNAL = -13,
	TK_ECANCELED = -14, /* the user asked to stop (SIGINT, SIGTERM) */
};

struct tk_error {
	int status;
	char message[2048]; /* a sentence without its full stop; no newline at its end */
};

/* Writes status and message; an over-long message is cut between two characters. Returns status, so
 * that `return tk_fail(...)` reads well. */
int tk_fail(struct tk_error *err, int status, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* As tk_fail with ": strerror(errno)" appended; ENOSPC and EDQUOT become TK_ENOSPC, ENOENT
 * TK_ENOTFOUND, ENOMEM TK_ENOMEM, the rest TK_EIO. */
int tk_fail_errno(struct tk_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "fmt: " in front of the message that is there. Returns err->status (TK_EINTERNAL where err
 * is NULL or holds no error). */
int tk_error_add_context(struct tk_error *err, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/* Clang's analyser sees one file at a time: this states that tk_fail never returns 0. */
#ifdef __clang_analyzer__
#define tk_fail(err, status, ...) (tk_fail(err, status, __VA_ARGS__), (status))
#define tk_fail_errno(...) (tk_fail_errno(__VA_ARGS__), TK_EIO)
#endif

/* One lower-case word for a status: "config", "timeout", ... Never NULL. */
const char *tk_status_name(int status);

/* ---- status ladders and clean-up as statements ----------------------------------------------- */

/* Status ladders and clean-up as statements.
 *
 *   TRY(f(..., err));           returns the status of a call that failed
 *   AUTO(tk_buf) b = {0};       struct tk_buf b, tk_buf_free(&b) at the end of the scope
 *   AUTO_PTR(tk_hash) h = ...;  struct tk_hash *h, tk_hash_free(h) at the end of the scope
 *   AUTO_TEXT name = ...;       char *name, freed at the end of the scope */
#define TRY(call) \
	do { \
		int try_status_ = (call); \
		if (try_status_) \
			return try_status_; \
	} while (0)

#define AUTO(type) __attribute__((cleanup(type##_free))) struct type

/* Needs TK_AUTO_PTR(type) once, in the header that declares type##_free(struct type *). */
#define AUTO_PTR(type) __attribute__((cleanup(type##_free_at))) struct type *
#define TK_AUTO_PTR(type) \
	static inline void type##_free_at(struct type **at) \
	{ \
		type##_free(*at); \
	}

static inline void tk_text_free_at(char **at)
{
	free(*at);
}
#define AUTO_TEXT __attribute__((cleanup(tk_text_free_at))) char *

/* ---- memory ---------------------------------------------------------------------------------- */

/* Memory of the program. None of these returns NULL: out of memory ends the process, with a message
 * and exit code 4. What was stored stays (the history is written in transactions), the death of a
 * worker is a row, and `tracker nightly --resume` goes on. */
/* A size of 0 gives a pointer that can be freed. The caller frees all of them with free(). */
void *tk_malloc(size_t size) __attribute__((malloc, returns_nonnull));
void *tk_calloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *tk_realloc(void *p, size_t size) __attribute__((returns_nonnull));
void *tk_reallocarray(void *p, size_t count, size_t size) __attribute__((returns_nonnull));
char *tk_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *tk_strndup(const char *text, size_t len) __attribute__((malloc, returns_nonnull));
char *tk_sprintf(const char *fmt, ...)
        __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));
char *tk_vsprintf(const char *fmt, va_list args)
        __attribute__((malloc, returns_nonnull, format(printf, 1, 0)));

/* The text, or `otherwise` where it is NULL or empty. */
static inline const char *tk_text_or(const char *text, const char *otherwise)
{
	return text && *text ? text : otherwise;
}

static inline bool tk_has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* p, or the end of the process where p is NULL: for allocations of libraries. */
void *tk_check_memory(void *p) __attribute__((returns_nonnull));

/* ---- buffers --------------------------------------------------------------------------------- */

/* A growing byte buffer that knows its own limit.
 *
 * Additions never fail at the call. Where `max` is set, reaching it is remembered, later additions
 * do nothing, and tk_buf_status() reports it at the end. `data` is always NUL-terminated when
 * len > 0 or after tk_buf_cstr(). */
struct tk_buf {
	char *data;
	size_t len, cap;
	size_t max; /* 0: TK_BUF_MAX_DEFAULT, which counts as out of memory */
	int status; /* 0, or TK_EDATA where `max` was reached or a format is malformed */
};

#define TK_BUF_MAX_DEFAULT ((size_t)1 << 30)
#define TK_BUF_INIT \
	{ \
		0 \
	}

void tk_buf_add(struct tk_buf *b, const void *data, size_t len);
static inline void tk_buf_add_str(struct tk_buf *b, const char *s)
{
	tk_buf_add(b, s, strlen(s)); /* inline: the compiler knows a literal's length */
}
/* Reserves `more` bytes and a NUL at the end, for loops that write many small pieces. Returns where
 * to write them; NULL if there is no memory. tk_buf_commit sets the new length. */
char *tk_buf_reserve(struct tk_buf *b, size_t more);
void tk_buf_commit(struct tk_buf *b, size_t len);
static inline void tk_buf_add_char(struct tk_buf *b, char c)
{
	if (!b->status && b->len + 1 < b->cap && (!b->max || b->len < b->max)) {
		b->data[b->len++] = c;
		b->data[b->len] = '\0';
	} else {
		tk_buf_add(b, &c, 1);
	}
}
void tk_buf_add_printf(struct tk_buf *b, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
void tk_buf_add_utf8(struct tk_buf *b, const char *s,
        size_t len);                 /* malformed UTF-8 becomes U+FFFD: the output is valid */
void tk_buf_clear(struct tk_buf *b); /* len = 0, keeps the memory and forgets a failure */
const char *tk_buf_cstr(
        const struct tk_buf *b); /* "" where empty or failed; lives until the next change */
char *tk_buf_detach(struct tk_buf *b,
        struct tk_error *err); /* caller frees; NULL if b had failed; b is empty afterwards */
int tk_buf_status(const struct tk_buf *b, struct tk_error *err);
void tk_buf_free(struct tk_buf *b);

/* ---- text ------------------------------------------------------------------------------------ */

/* Untrusted text (commit subjects, authors, file names, build logs, messages of tools): is it
 * UTF-8, and which of its characters must not reach a terminal, a table or a log? */
/* Bytes of the well-formed UTF-8 sequence at s (RFC 3629: no overlong forms, no surrogates, at most
 * U+10FFFF), of which `left` bytes may be read (SIZE_MAX: a NUL ends them); 0: the bytes are not
 * well-formed. `code`: its character; may be NULL. */
size_t tk_utf8_decode(const char *s, size_t left, uint32_t *code);

/* Whether the whole string is well-formed. */
bool tk_utf8_is_valid(const char *s);

/* Characters of a well-formed string; of one without wide or combining ones, its columns. */
size_t tk_utf8_count(const char *s);

/* The length in bytes of the character at s: 1 where it is not UTF-8, 0 at the end. *unprintable: a
 * C0 or C1 control character, DEL, a mark of direction, line or paragraph, or not UTF-8 (an 8-bit
 * terminal takes the byte 0x9b for an escape). */
size_t tk_text_next_char(const char *s, bool *unprintable);

/* Replaces each byte of an unprintable character by `instead`, in place. Characters of `keep` stay:
 * "\n\t", "". */
void tk_text_sanitize(char *text, const char *keep, char instead);
/* Writes text with unprintable bytes as '?'. */
void tk_text_write_sanitized(FILE *out, const char *text, const char *keep);

/* Copies as one line of valid UTF-8: unprintable characters become spaces, invalid bytes become
 * U+FFFD, text that does not fit ends in "...". */
void tk_text_copy_line(char *out, size_t size, const char *text);

/* The beginning of a text as a message quotes it: one printable line. Returns out. */
#define TK_TEXT_EXCERPT_SIZE 64
const char *tk_text_format_excerpt(const char *text, char out[TK_TEXT_EXCERPT_SIZE]);

/* ---- suggestions ----------------------------------------------------------------------------- */

/* "did you mean ...?": the nearest of some known names by Damerau-Levenshtein distance. */
/* NULL if none is near (distance over 2 and over a third of the length). `names` is
 * NULL-terminated. */
const char *tk_suggest_name(const char *name, const char *const *names);

/* The end of a message about an unknown name: `; did you mean "NEAR"?`, or, where none is near,
 * `otherwise`, or where that is NULL, `; expected one of A, B, C`. Returns `out`. */
#define TK_SUGGEST_HINT_SIZE 640
const char *tk_suggest_hint(const char *name, const char *const *names, const char *otherwise,
        char out[TK_SUGGEST_HINT_SIZE]);

/* "A, B or C", for a message about a word of a short list. Returns `out`. */
const char *tk_suggest_list(const char *const *names, char out[TK_SUGGEST_HINT_SIZE]);

/* ---- time ------------------------------------------------------------------------------------ */

/* Time: the monotonic clock, the calendar, and the notation that users write for both.
 *
 * TRACKER_NOW=<ISO time or seconds> pins the calendar for tests and reproducible sites. */
int64_t tk_clock_monotonic_ns(void);
int64_t tk_clock_now_s(void); /* seconds since the epoch, UTC */
void tk_clock_sleep_ns(int64_t ns);

#define TK_TIME_ISO_SIZE 32
const char *tk_time_format_iso(
        int64_t t_s, char out[TK_TIME_ISO_SIZE]); /* 2026-11-21T09:42:00Z; returns out */
const char *tk_time_format_day(
        int64_t t_s, char out[TK_TIME_ISO_SIZE]); /* 2026-11-21; returns out */
int tk_time_parse(const char *text, int64_t *t_s,
        struct tk_error *err); /* 2026-11-21, 2026-11-21T09:42[:00][Z|+hh:mm], @seconds */

/* ---- numbers with units as people write them ------------------------------------------------- */

/* Numbers with units as people write them: one reader and one writer for tracker.yml and for
 * options.
 *
 * A blank may stand between number and unit. There are no signs and no exponents, and the decimal
 * point is "." in every locale. */
enum tk_quantity {
	TK_QUANTITY_COUNT,    /* a whole number */
	TK_QUANTITY_DURATION, /* seconds: 200ns 50us 1.5ms 30s 15m 2h 7d 2w; no unit: seconds */
	/* 2% and 0.02 are both 0.02; a number without % is a fraction below 1 */
	TK_QUANTITY_FRACTION,
	TK_QUANTITY_TIME, /* seconds, the unit is required: 500ns 10us 1ms 1s, or 0 */
	TK_QUANTITY_SIZE, /* bytes: 512MiB 4GiB 100GB; no unit: bytes; at most 2^53 */
};

/* A value from min to max (INFINITY: no limit). TK_EDATA with *value unchanged if the text is not
 * such a value; the message quotes the text and says what was expected. `err` may be NULL. */
int tk_units_parse(enum tk_quantity unit, const char *text, double min, double max, double *value,
        struct tk_error *err);

/* A duration of any length, in whole seconds, rounded up. */
int tk_units_parse_seconds(const char *text, int64_t *seconds, struct tk_error *err);

/* yes no true false on off */
int tk_units_parse_bool(const char *text, bool *value, struct tk_error *err);

/* The value with its largest unit, as tk_units_parse() reads it: "1.5h", "2%", "64MiB". A whole
 * number is read as the same one, others to six digits. Returns out. */
#define TK_UNITS_TEXT_SIZE 32
const char *tk_units_format(enum tk_quantity unit, double value, char out[TK_UNITS_TEXT_SIZE]);

/* ---- numbers as people read them ------------------------------------------------------------- */

/* Values as people read them, on the terminal, in Markdown and on pages: four significant digits
 * and the unit that suits. Every function returns `out`. templates/assets/format.js has the same
 * rules; tests hold both against one table of cases. */
#define TK_FORMAT_SIZE 48

/* The unit in which a value reads well: {1e3, "µs"} for 41200 ns. Units: ns, gflop_per_s, gb_per_s,
 * J, bytes, ratio (without a unit); others stay as they are. */
struct tk_format_scale {
	double divisor;
	const char *unit;
};
struct tk_format_scale tk_format_choose_scale(double value, const char *unit);

const char *tk_format_value(
        double value, const char *unit, char out[TK_FORMAT_SIZE]); /* "41.20 µs"; "–" for NAN */
const char *tk_format_scaled(double value, struct tk_format_scale scale,
        char out[TK_FORMAT_SIZE]); /* "41.20", without the unit */
const char *tk_format_change(
        double ratio, char out[TK_FORMAT_SIZE]); /* 0.031: "+3.1 %"; 2.5: "3.5×" */
/* Two changes in one notation: both as factors where one is at least 2×. */
void tk_format_change_pair(
        double a, double b, char out_a[TK_FORMAT_SIZE], char out_b[TK_FORMAT_SIZE]);
/* The interval of a change, in the notation of the change: "1.9× to 2.5×", "+2.9 to +4.1 %". */
const char *tk_format_change_range(double change, double lo, double hi, char out[TK_FORMAT_SIZE]);
/* "+3.0 % (+2.9 to +3.1 %)": a change with its interval; "" for NAN. */
#define TK_FORMAT_ESTIMATE_SIZE (2 * TK_FORMAT_SIZE + 8)
const char *tk_format_estimate(
        double change, double lo, double hi, char out[TK_FORMAT_ESTIMATE_SIZE]);
const char *tk_format_half_width(
        double value, double lo, double hi, char out[TK_FORMAT_SIZE]); /* "±0.4 %" */
const char *tk_format_percent(double ratio, char out[TK_FORMAT_SIZE]); /* 0.62: "62 %" */
/* In percent, for texts with one decimal digit: what they round to zero is 0, without a sign. */
double tk_percent_tenths(double ratio);
const char *tk_format_count(int64_t n, char out[TK_FORMAT_SIZE]);    /* "12,345" */
const char *tk_format_minute(int64_t t_s, char out[TK_FORMAT_SIZE]); /* "2026-11-21 09:42" */
const char *tk_format_digits(
        double v, int digits, char out[TK_FORMAT_SIZE]); /* like "%.*g", faster */

/* "35 us", "4.2 s", "3 min 20 s", "2 h 5 min", "5 d 1 h"; "?" for NAN. */
const char *tk_duration_format(double seconds, char *out, size_t size);

#define TK_FORMAT_INT 24
/* Decimal, at most TK_FORMAT_INT characters, without a NUL; returns their number. */
size_t tk_format_int(char *out, int64_t v);
void tk_buf_add_int(
        struct tk_buf *b, int64_t v); /* decimal; printf is too slow for a million integers */
void tk_buf_add_ints(struct tk_buf *b, const int64_t *v, size_t count); /* separated by commas */

/* ---- files ----------------------------------------------------------------------------------- */

/* Files, folders and paths. Names are plain C strings; every allocated result is the caller's to
 * free. */
/* Replaces what `out` had. Larger than max_bytes (0: only the limit of `out`) is TK_EDATA. */
int tk_file_read(const char *path, size_t max_bytes, struct tk_buf *out, struct tk_error *err);
/* Writes a temporary sibling, fsyncs, renames: readers see the old or the new content, never half
 * of it. */
int tk_file_write(const char *path, const void *data, size_t len, struct tk_error *err);
/* As tk_file_write without the fsync: for what can be made again (pages of a site, cached files).
 */
int tk_file_write_nosync(const char *path, const void *data, size_t len, struct tk_error *err);
/* Writes all of it; false with errno. */
bool tk_file_write_fd(int fd, const void *data, size_t len);
/* Opens a regular file of a folder that others can write to, for reading: no link is followed and
 * no FIFO waited for. `dir_fd` as for openat. Returns the descriptor; TK_EDATA: not a regular file.
 */
int tk_file_open_regular(int dir_fd, const char *name, struct tk_error *err);
bool tk_file_exists(const char *path);
bool tk_dir_exists(const char *path);
int tk_dir_create(
        const char *path, struct tk_error *err); /* with parents; an existing folder is fine */
int tk_dir_remove(const char *path,
        struct tk_error *err); /* the whole tree, never following links; absent is fine */
/* Visits everything below dir, not dir itself: sorted by name in each folder, a folder before its
 * content, links not followed. `relative` is the path below dir. A visit that returns non-zero ends
 * the walk with that status. */
int tk_dir_walk(const char *dir,
        int (*visit)(void *arg, const char *relative, const struct stat *st, struct tk_error *err),
        void *arg, struct tk_error *err);
int64_t tk_dir_size(const char *path); /* bytes of regular files below; 0 where absent */
/* What everything below takes on the disk; what cannot be read is left out. A file that others link
 * to counts by its share. For trees that a hostile program is writing to. */
uint64_t tk_dir_disk_bytes(const char *path);
/* Names in a folder without . and .., sorted; *names and each name are freed with tk_names_free. */
int tk_dir_list(const char *path, char ***names, size_t *count, struct tk_error *err);
/* The same of an open folder, which stays open. */
int tk_dir_list_fd(int fd, char ***names, size_t *count, struct tk_error *err);
void tk_names_free(char **names, size_t count);
void tk_names_sort(const char **names, size_t count);
int tk_dir_create_temp(const char *parent, const char *prefix, char **path, struct tk_error *err);

char *tk_path_join(const char *a, const char *b); /* b alone where b is absolute */
char *tk_path_join3(const char *a, const char *b, const char *c);
char *tk_path_make_absolute(const char *path); /* need not exist; no . or .. left */
/* A name that is safe as one path component and readable: [A-Za-z0-9._-], never empty, "." or "..",
 * at most 80 bytes; if something was replaced or cut, a short hash of the original follows, so that
 * different names stay different. */
char *tk_path_make_slug(const char *name);
char *tk_path_cache_dir(
        const char *sub); /* $TRACKER_CACHE, else $XDG_CACHE_HOME/tracker, else ~/.cache/tracker */
/* A path of a user's file as an absolute one: "~/x" in the home folder, "x" in `root`. */
char *tk_path_resolve(const char *root, const char *text);
/* The suites, templates and adapters that come with the tracker: $TRACKER_DATADIR, else the
 * installed ones, else the source tree. Static. */
const char *tk_path_data_dir(void);

/* An advisory lock for one process at a time; TK_EBUSY names the holder's pid. The lock ends with
 * the process. */
struct tk_lock;
int tk_lock_acquire(const char *path, struct tk_lock **out, struct tk_error *err);
/* Waits for it: TK_EBUSY at the deadline, TK_ECANCELED if the user stopped the program. */
int tk_lock_wait(const char *path, double deadline_s, struct tk_lock **out, struct tk_error *err);
bool tk_lock_is_held(const char *path); /* by a running process; does not take it */
void tk_lock_release(struct tk_lock *lock);
static inline void tk_lock_free_at(struct tk_lock **at) /* AUTO_PTR(tk_lock) */
{
	tk_lock_release(*at);
}

/* ---- hashes ---------------------------------------------------------------------------------- */

/* SHA-256 (libcrypto): content addresses, uids, seeds. */
struct tk_hash;

#define TK_HASH_HEX_SIZE 65

struct tk_hash *tk_hash_new(void); /* NULL: out of memory */
void tk_hash_add(struct tk_hash *h, const void *data, size_t len);
/* Adds length and bytes, so that ("ab","c") and ("a","bc") differ; NULL counts as a string of its
 * own. */
void tk_hash_add_str(struct tk_hash *h, const char *s);
void tk_hash_add_i64(struct tk_hash *h, int64_t v);
int tk_hash_add_file(struct tk_hash *h, const char *path, struct tk_error *err);
/* Adds every regular file and link below dir: relative path, executable bit, content or target, in
 * sorted order. */
int tk_hash_add_tree(struct tk_hash *h, const char *dir, struct tk_error *err);
void tk_hash_finish(struct tk_hash *h, char hex[TK_HASH_HEX_SIZE]); /* also frees h */
void tk_hash_bytes(const void *data, size_t len, char hex[TK_HASH_HEX_SIZE]);
/* Of the content of a file. */
int tk_hash_file(const char *path, char hex[TK_HASH_HEX_SIZE], struct tk_error *err);

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Values of JSON that may be missing. */
/* null: not finite. */
json_t *tk_json_number(double x);
/* null: "". A text that is not UTF-8 becomes "?". */
json_t *tk_json_text(const char *s);
/* What of it is not UTF-8 is replaced. */
json_t *tk_json_valid_text(const char *s);

/* ---- log ------------------------------------------------------------------------------------- */

/* The log: human lines on stderr, the same events as JSON lines in --log=FILE.
 *
 * The level and the two sinks are the only global mutable state of the program. Results never go
 * here (stdout is results). */
enum tk_log_level { TK_LOG_ERROR, TK_LOG_WARN, TK_LOG_INFO, TK_LOG_DEBUG };

void tk_log_set_level(enum tk_log_level level); /* what reaches stderr; the file gets everything */
int tk_log_open(const char *jsonl_path,
        struct tk_error *err); /* appends; each line {"time","level","event","message",fields...} */
void tk_log_close(void);

/* `event` is a stable word for programs ("build_failed"); `fields` (a JSON object, may be NULL) is
 * stolen. */
void tk_log(enum tk_log_level level, const char *event, json_t *fields, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
/* For the log file only: events that stderr shows in another form. */
void tk_log_record(enum tk_log_level level, const char *event, json_t *fields, const char *message);

/* Called before and after a line is written to stderr, so that a live progress line can step aside;
 * NULL to remove. */
void tk_log_set_hooks(void (*before)(void *), void (*after)(void *), void *arg);

/* ---- random numbers -------------------------------------------------------------------------- */

/* Seeded, portable random numbers (splitmix64 and xoshiro256**, Blackman and Vigna 2018): orders,
 * fake times, tests. */
struct tk_rng {
	uint64_t s[4];
};

uint64_t tk_splitmix64(uint64_t x); /* a stateless mixer: one 64-bit value per input */
void tk_rng_seed(struct tk_rng *r, uint64_t seed);
uint64_t tk_rng_next(struct tk_rng *r);
double tk_rng_uniform(struct tk_rng *r);             /* [0, 1) */
double tk_rng_normal(struct tk_rng *r);              /* mean 0, variance 1 */
uint64_t tk_rng_below(struct tk_rng *r, uint64_t n); /* [0, n), without modulo bias; n > 0 */
void tk_rng_shuffle(struct tk_rng *r, void *items, size_t n, size_t item_size);

/* ---- versions -------------------------------------------------------------------------------- */

/* Versions of Python packages (PEP 440): reading and ordering. */
#define TK_VERSION_PARTS_MAX 8

enum tk_version_pre { TK_VERSION_ALPHA, TK_VERSION_BETA, TK_VERSION_CANDIDATE, TK_VERSION_FINAL };

struct tk_version {
	int64_t epoch;
	int64_t release[TK_VERSION_PARTS_MAX]; /* missing parts are 0 */
	enum tk_version_pre pre;
	int64_t pre_number;
	int64_t post, dev; /* -1: none */
	char local[64];    /* after "+"; "": none */
};

/* All spellings that PEP 440 allows: "v1.0-beta.2" is 1.0b2. */
bool tk_version_parse(const char *text, struct tk_version *out);
/* As strcmp. 1.0 and 1.0.0 are equal. */
int tk_version_compare(const struct tk_version *a, const struct tk_version *b);
/* A pre-release or a development release. */
bool tk_version_is_pre(const struct tk_version *v);

/* ---- the state of an object ------------------------------------------------------------------ */

/* The state of an object as a row of numbers. One function per object visits all its fields; the
 * same function writes the row or reads it back, so that the two cannot disagree. */
struct tk_serializer {
	double *at;
	size_t count, cap;
	size_t next;  /* index of the number to read */
	bool reading; /* false: the visited fields are appended */
	bool failed;  /* not a row of this object; the remaining fields keep their values */
};

void tk_serialize_double(struct tk_serializer *n, double *field);
void tk_serialize_size(
        struct tk_serializer *n, size_t *field, size_t most);   /* reading fails above `most` */
void tk_serialize_int(struct tk_serializer *n, int64_t *field); /* -2^53 to 2^53 */
void tk_serialize_bool(struct tk_serializer *n, bool *field);
void tk_serializer_free(struct tk_serializer *n);

/* ---- compression and archives ---------------------------------------------------------------- */

/* zstd for blobs, .tar.zst for folders (libarchive). Unpacking never leaves the target folder:
 * absolute names, "..", links that point outside and device nodes are refused before anything is
 * written. */
int tk_zstd_compress(const void *data, size_t len, struct tk_buf *out, struct tk_error *err);
int tk_zstd_decompress(
        const void *data, size_t len, size_t max_bytes, struct tk_buf *out, struct tk_error *err);
/* The content of dir, or of these folders in it (NULL: all, otherwise NULL ends them), sorted, no
 * owners, mtime 0. */
int tk_archive_write(
        const char *archive_path, const char *dir, const char *const *names, struct tk_error *err);
int tk_archive_extract(
        const char *archive_path, const char *dir, size_t max_bytes, struct tk_error *err);

/* ---- signatures ------------------------------------------------------------------------------ */

/* SSH signatures of files that leave the machine: `ssh-keygen -Y` writes PATH.sig beside the file,
 * for the namespace TK_SIGNATURE_NAMESPACE. */
#define TK_SIGNATURE_NAMESPACE "tracker"

/* Writes PATH.sig, and replaces one that is there. key: a file with a private key, or with a public
 * one whose private key the SSH agent has; NULL: does nothing. */
int tk_signature_write(const char *key, const char *path, struct tk_error *err);

/* TK_OK if PATH.sig belongs to the content of the file and its key is in `allowed_signers`, a file
 * as ssh-keygen(1) describes it, and logs who signed. NULL: accepts every file. TK_EDATA: the
 * signature is missing, malformed, of another key or of other content. The file must not change
 * between this and its use. */
int tk_signature_verify(const char *allowed_signers, const char *path, struct tk_error *err);

/* ---- parallel loops -------------------------------------------------------------------------- */

/* qsort(), which a list of none may not be given to: its elements are nowhere. */
static inline void tk_sort(
        void *list, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count)
		qsort(list, count, size, compare);
}

/* The first i of [0, count) for which `is_before` does not hold; it holds for none after that. */
#define TK_FIND_FIRST(count, i, is_before) \
	({ \
		size_t from_ = 0, to_ = (count); \
		for (size_t i; i = from_ + (to_ - from_) / 2, from_ < to_;) \
			(is_before) ? (from_ = i + 1) : (to_ = i); \
		from_; \
	})

/* A parallel loop for work that is independent: filling inputs and verifying outputs, judging
 * thousands of series. Never runs while something is timed.
 *
 * Calls fn(arg, first, count) on parts of [0, n), each of at least `grain` iterations, from one
 * thread per core that this process may use (at most 32); returns when all are done. Threads take
 * the next part when they have finished one, so that parts may take different times. The parts must
 * be independent of each other: which thread takes one, and when, is not defined. */
void tk_parallel_for(
        int64_t n, int64_t grain, void (*fn)(void *arg, int64_t first, int64_t count), void *arg);

#endif
