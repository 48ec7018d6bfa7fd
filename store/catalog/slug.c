/* Slugs: names of series that people can read, type and put into a URL. They contain the slug of
 * the device. A slug depends on the content of a history alone: it is the root, made of the names,
 * and of rows with the same root all but the one with the smallest uid have the start of their uid
 * behind it. */
#include "core/vocabulary.h"
#include "store/db/internal.h"
#include <strings.h>

#define SLUG_MAX 120
#define TAIL_LEN 6 /* hex digits of the uid where a slug was cut or is taken */

/* Lower case; every run of characters other than [a-z0-9_] becomes one '-', none at the ends. '.'
 * only separates parts. */
static void add_part(struct tk_buf *b, const char *text)
{
	size_t start;

	if (b->len)
		tk_buf_add_char(b, '.');
	start = b->len;
	for (const char *p = text; *p; p++) {
		char c = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;

		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')
			tk_buf_add_char(b, c);
		else if (b->len > start && b->data[b->len - 1] != '-')
			tk_buf_add_char(b, '-');
	}
	if (b->len > start && b->data[b->len - 1] == '-')
		b->data[--b->len] = '\0';
	if (b->len == start)
		tk_buf_add_char(b, 'x');
}

/* ---- SQL functions --------------------------------------------------------------------------- */

static const char *text_of(sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);

	return text ? text : "";
}

static void return_text(sqlite3_context *context, struct tk_buf *b)
{
	sqlite3_result_text(context, tk_buf_cstr(b), (int)b->len, SQLITE_TRANSIENT);
}

/* slug_is_valid(slug): whether the tracker could have made it. Slugs become file names. */
static void slug_is_valid(sqlite3_context *context, int count, sqlite3_value **v)
{
	const char *slug = text_of(v[0]);
	size_t len = strlen(slug);

	sqlite3_result_int(
	        context, len && len <= SLUG_MAX && slug[0] != '.' && slug[0] != '-' &&
	                         slug[len - 1] != '.' &&
	                         strspn(slug, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len &&
	                         !strstr(slug, ".."));
}

/* series_root(machine, device, upstream, backend, title, config, mode, metric) */
static void series_root(sqlite3_context *context, int count, sqlite3_value **v)
{
	const char *upstream = text_of(v[2]), *backend = text_of(v[3]), *config = text_of(v[5]);
	AUTO(tk_buf) b = {0};

	add_part(&b, text_of(v[0]));
	add_part(&b, text_of(v[1]));
	add_part(&b, upstream);
	if (strcasecmp(upstream, backend))
		add_part(&b, backend);
	add_part(&b, text_of(v[4]));
	if (*config && strcmp(config, "default"))
		add_part(&b, config);
	add_part(&b, text_of(v[6]));
	if (tk_metric_from_name(text_of(v[7])) != TK_METRIC_TIME)
		add_part(&b, text_of(v[7]));
	return_text(context, &b);
}

/* device_root(slug, uid): without the start of the uid, if that is behind it. */
static void device_root(sqlite3_context *context, int count, sqlite3_value **v)
{
	AUTO(tk_buf) b = {0};

	add_part(&b, text_of(v[0]));
	if (b.len > TAIL_LEN + 1 && b.data[b.len - TAIL_LEN - 1] == '-' &&
	        !strncmp(b.data + b.len - TAIL_LEN, text_of(v[1]), TAIL_LEN))
		b.len -= TAIL_LEN + 1;
	return_text(context, &b);
}

/* make_slug(root, uid, rank): rank 1 is that of the row which may have the root itself. */
static void make_slug(sqlite3_context *context, int count, sqlite3_value **v)
{
	AUTO(tk_buf) b = {0};

	tk_buf_add_str(&b, text_of(v[0]));
	if (b.len > SLUG_MAX || sqlite3_value_int(v[2]) > 1) {
		if (b.len > SLUG_MAX - TAIL_LEN - 1)
			b.len = SLUG_MAX - TAIL_LEN - 1;
		while (b.len && strchr(".-", b.data[b.len - 1]))
			b.len--;
		tk_buf_add_printf(&b, "-%.*s", TAIL_LEN, text_of(v[1]));
	}
	return_text(context, &b);
}

int tk_slug_register(struct tk_store *s, struct tk_error *err)
{
	static const struct {
		const char *name;
		int count;
		void (*run)(sqlite3_context *context, int count, sqlite3_value **values);
	} functions[] = {{"series_root", 8, series_root}, {"device_root", 2, device_root},
	        {"make_slug", 3, make_slug}, {"slug_is_valid", 1, slug_is_valid}};

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		int code = sqlite3_create_function_v2(s->db, functions[i].name, functions[i].count,
		        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
		        functions[i].run, NULL, NULL, NULL);

		if (code != SQLITE_OK)
			return tk_db_fail(s, code, err, "cannot register %s", functions[i].name);
	}
	return 0;
}

/* ---- making slugs ---------------------------------------------------------------------------- */

#define DEVICE_ROOTS \
	"SELECT id, uid, machine_id AS owner, device_root(slug, uid) AS root FROM device"
#define SERIES_ROOTS \
	"SELECT id, uid, 0 AS owner, series_root(machine, device, upstream, backend," \
	" iif(title='', problem, title), config, mode, metric) AS root FROM series_v"
#define UPDATE_SLUGS(table, roots) \
	"UPDATE " table " SET slug=n.slug FROM (SELECT id, make_slug(root, uid," \
	" row_number() OVER (PARTITION BY owner, root ORDER BY uid)) AS slug FROM (" roots \
	")) n WHERE n.id=" table ".id AND n.slug<>" table ".slug"

int tk_slug_update_all(struct tk_store *s, struct tk_error *err)
{
	TRY(tk_store_run(s, UPDATE_SLUGS("device", DEVICE_ROOTS), TK_NO_ARGS, err));
	return tk_store_run(s, UPDATE_SLUGS("series", SERIES_ROOTS), TK_NO_ARGS, err);
}

int tk_slug_set_device(struct tk_store *s, int64_t id, struct tk_error *err)
{
	int64_t is_taken;

	TRY(tk_store_run(
	        s, "UPDATE device SET slug=device_root(slug, uid) WHERE id=?1", TK_ARGS(id), err));
	TRY(tk_store_select_int(s,
	        "SELECT EXISTS(SELECT 1 FROM device o JOIN device d"
	        " ON o.machine_id=d.machine_id AND o.slug=d.slug AND o.id<>d.id WHERE d.id=?1)",
	        TK_ARGS(id), 0, &is_taken, err));
	return is_taken ? tk_slug_update_all(s, err) : 0;
}

int tk_slug_set_series(struct tk_store *s, int64_t id, struct tk_error *err)
{
	int64_t is_taken;

	TRY(tk_store_run(s,
	        "UPDATE series SET slug=(SELECT make_slug(root, uid, 1) FROM (" SERIES_ROOTS
	        " WHERE id=?1)) WHERE id=?1",
	        TK_ARGS(id), err));
	TRY(tk_store_select_int(s,
	        "SELECT EXISTS(SELECT 1 FROM series o JOIN series n ON o.slug=n.slug AND o.id<>n.id"
	        " WHERE n.id=?1)",
	        TK_ARGS(id), 0, &is_taken, err));
	return is_taken ? tk_slug_update_all(s, err) : 0;
}

/* ---- names of machines ----------------------------------------------------------------------- */

static int rename_machine(
        struct tk_store *s, const char *old_name, const char *new_name, struct tk_error *err)
{
	int64_t id, taken;

	TRY(tk_store_select_int(
	        s, "SELECT id FROM machine WHERE name=?1", TK_ARGS(old_name), 0, &id, err));
	TRY(tk_store_select_int(
	        s, "SELECT id FROM machine WHERE name=?1", TK_ARGS(new_name), 0, &taken, err));
	if (!id)
		return tk_fail(err, TK_ENOTFOUND, "unknown machine \"%s\"", old_name);
	if (!*new_name)
		return tk_fail(err, TK_EUSAGE, "the new name is empty");
	if (taken)
		return tk_fail(err, TK_EUSAGE, "there is a machine \"%s\" already", new_name);
	TRY(tk_store_run(s,
	        "UPDATE machine SET name=?2, renamed_s=max(?3, renamed_s+1) WHERE id=?1",
	        TK_ARGS(id, new_name, tk_clock_now_s()), err));
	/* A title names the machine, or the series, which begins with its name. */
	TRY(tk_store_run(s,
	        "UPDATE alert SET title=replace(replace(title, ' on '||?2||': ', ' on '||?3||': '),"
	        " iif(kind='missing-data', ?2, ' on '||?2||': '),"
	        " iif(kind='missing-data', ?3, ' on '||?3||': '))"
	        " WHERE uid IN (SELECT uid FROM alert_v WHERE machine_id=?1)",
	        TK_ARGS(id, old_name, new_name), err));
	return tk_slug_update_all(s, err);
}

int tk_store_rename_machine(
        struct tk_store *s, const char *old_name, const char *new_name, struct tk_error *err)
{
	TRY(tk_store_begin(s, err));
	return tk_store_end(s, rename_machine(s, old_name, new_name, err), err);
}
