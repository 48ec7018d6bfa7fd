#include "filled_rows.h"
#include "base/base.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AS_OF_S 1500000000

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && !strcmp(text + len - n, end);
}

/* Columns whose words the store reads, and checks in imports. */
static const char *fixed_text(const struct tk_db_table *t, const struct tk_db_column *c, int v)
{
	static const struct {
		const char *table, *column, *text[FILLED_ROWS];
	} fixed[] = {{"series", "metric", {"time", "throughput"}},
	        {"ab_pair", "first", {"base", "head"}}, {"series", "unit", {"ns", "ops"}},
	        {"ceiling", "unit", {"ns", "gb_per_s"}}, {"series", "mode", {"cold", "paced"}},
	        {"tuning", "mode", {"cold", "paced"}},
	        {"kernel_report", "mode", {"cold", "paced"}}};

	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		if (!strcmp(fixed[i].table, t->name) && !strcmp(fixed[i].column, c->name))
			return fixed[i].text[v];
	return NULL;
}

/* Quotes, separators, line ends, a backslash, and characters of two, three and four bytes. */
static char *make_text(const struct tk_db_table *t, const struct tk_db_column *c, int v)
{
	const char *fixed = fixed_text(t, c, v);
	struct tk_buf text = TK_BUF_INIT;

	if (fixed)
		tk_buf_add_str(&text, fixed);
	else
		tk_buf_add_printf(&text, "%s.%s %d: \"a\", 'b';\r\n\t\\ %s", t->name, c->name, v,
		        "\xc2\xb5 \xe2\x82\xac \xf0\x9f\x98\x80 ");
	return tk_buf_detach(&text, NULL);
}

static int64_t make_int(const struct tk_db_column *c, size_t i, int v)
{
	if (!strcmp(c->name, "as_of_s"))
		return AS_OF_S + v;
	if (ends_with(c->name, "_s"))
		return v && c->flags & TK_COL_NULLABLE ? c->none : AS_OF_S + 100 * (int64_t)i + v;
	if (c->flags & TK_COL_NULLABLE)
		return v ? c->none : (int64_t)i;
	return v ? INT64_MAX - (int64_t)i : (int64_t)i;
}

static double make_real(const struct tk_db_column *c, size_t i, int v)
{
	static const double values[] = {0.1, DBL_MAX, 5e-324, 1.0 / 3, 0x1p-1022, 1e22};

	if (v && c->flags & TK_COL_NULLABLE)
		return NAN;
	return values[(i + (size_t)v) % (sizeof values / sizeof *values)];
}

static void fill_column(
        struct filled_rows *f, enum tk_table_id table, const struct tk_db_column *c, int v)
{
	const struct tk_db_table *t = &tk_tables[table];
	const size_t i = (size_t)(c - t->columns) + 1;
	char *row = f->row[table][v];

	switch (c->kind) {
	case TK_COL_TEXT:
		FILLED_MEMBER(char *, row, c) = make_text(t, c, v);
		break;
	case TK_COL_WORD:
		FILLED_MEMBER(int, row, c) = v ? 0 : 1; /* the last ones may be derived */
		break;
	case TK_COL_INT:
		FILLED_MEMBER(int64_t, row, c) = make_int(c, i, v);
		break;
	case TK_COL_U32:
		FILLED_MEMBER(uint32_t, row, c) = v ? UINT32_MAX : (uint32_t)i;
		break;
	case TK_COL_REAL:
		FILLED_MEMBER(double, row, c) = make_real(c, i, v);
		break;
	case TK_COL_REF: /* what a run is of is never missing here */
		FILLED_MEMBER(int64_t, row, c) = v && c->flags & TK_COL_NULLABLE &&
		                                                 table != TK_TABLE_run &&
		                                                 table != TK_TABLE_measurement
		                                         ? 0
		                                         : f->id[c->parent][v];
		break;
	default:
		break;
	}
}

/* ---- drawn descriptions ---------------------------------------------------------------------- */

/* What may differ where two histories describe the same fact: not what identifies it, not a time
 * that points share with their run, and not words that the store defines. */
static bool is_description(const struct tk_db_table *t, const struct tk_db_column *c)
{
	return !(c->flags & TK_COL_KEY) && strcmp(c->name, "as_of_s") != 0 &&
	       !fixed_text(t, c, 0) && c->kind != TK_COL_REF && c->kind != TK_COL_BLOB;
}

static void draw_number(struct filled_rows *f, const struct tk_db_column *c, char *row)
{
	static const double reals[] = {-1e300, -1, 0, 5e-324, 0.1, 1, 1e300};
	const uint64_t drawn = tk_rng_below(&f->rng, 7);
	const bool is_missing = c->flags & TK_COL_NULLABLE && drawn == 0;

	if (c->kind == TK_COL_REAL)
		FILLED_MEMBER(double, row, c) = is_missing ? NAN : reals[drawn];
	else if (c->kind == TK_COL_U32)
		FILLED_MEMBER(uint32_t, row, c) = (uint32_t)drawn;
	else if (ends_with(c->name, "_s"))
		FILLED_MEMBER(int64_t, row, c) = is_missing ? c->none : AS_OF_S + (int64_t)drawn;
	else
		FILLED_MEMBER(int64_t, row, c) = is_missing ? c->none : (int64_t)drawn - 2;
}

static void draw_column(
        struct filled_rows *f, const struct tk_db_table *t, const struct tk_db_column *c, char *row)
{
	static const char *const texts[] = {"", "", "a", "b", "{}", "{\"a\":1}", "\xc2\xb5"};

	if (!is_description(t, c))
		return;
	if (c->kind == TK_COL_TEXT) {
		free(FILLED_MEMBER(char *, row, c));
		FILLED_MEMBER(char *, row, c) = strdup(texts[tk_rng_below(&f->rng, 7)]);
	} else if (c->kind == TK_COL_WORD) {
		FILLED_MEMBER(int, row, c) = (int)tk_rng_below(&f->rng, 2);
	} else if (c->kind == TK_COL_INT || c->kind == TK_COL_U32 || c->kind == TK_COL_REAL) {
		draw_number(f, c, row);
	}
}

/* ---- storing --------------------------------------------------------------------------------- */

static void put_sample(struct filled_rows *f, struct tk_store *s, int v)
{
	static const double samples[FILLED_ROWS][3] = {{0.1, 5e-324, DBL_MAX}, {3, 2, 1}};
	struct tk_sample_row *row = (struct tk_sample_row *)f->row[TK_TABLE_sample][v];
	struct tk_buf packed = TK_BUF_INIT;

	MUST(tk_zstd_compress(samples[v], sizeof samples[v], &packed, &err));
	row->data = (struct tk_bytes){packed.data, packed.len};
	MUST(tk_row_put(s, TK_TABLE_sample, row, NULL, NULL, &err));
	row->data = (struct tk_bytes){samples[v], sizeof samples[v]};
	tk_buf_free(&packed);
}

static void put_row(struct filled_rows *f, struct tk_store *s, enum tk_table_id table, int v)
{
	const struct tk_db_table *t = &tk_tables[table];
	char *row = f->row[table][v] = calloc(1, t->row_size);
	int64_t *id = t->has_id ? &f->id[table][v] : NULL;

	assert_non_null(row);
	for (size_t i = 0; i < t->column_count; i++)
		fill_column(f, table, &t->columns[i], v);
	for (size_t i = 0; i < t->column_count && f->is_drawn; i++)
		draw_column(f, t, &t->columns[i], row);
	if (table == TK_TABLE_sample)
		put_sample(f, s, v);
	else if (table == TK_TABLE_device) /* these make slugs */
		MUST(tk_store_put(s, TK_TABLE_device, (struct tk_device_row *)row, id, &err));
	else if (table == TK_TABLE_series)
		MUST(tk_store_put(s, TK_TABLE_series, (struct tk_series_row *)row, id, &err));
	else
		MUST(tk_row_put(s, table, row, id, NULL, &err));
}

static void put_all(struct filled_rows *f, struct tk_store *s)
{
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		for (int v = 0; v < FILLED_ROWS; v++)
			put_row(f, s, (enum tk_table_id)t, v);
}

void filled_rows_put(struct filled_rows *f, struct tk_store *s)
{
	memset(f, 0, sizeof *f);
	put_all(f, s);
}

void filled_rows_put_drawn(struct filled_rows *f, struct tk_store *s, uint64_t seed)
{
	memset(f, 0, sizeof *f);
	tk_rng_seed(&f->rng, seed);
	f->is_drawn = true;
	put_all(f, s);
}

void filled_rows_free(struct filled_rows *f)
{
	for (int t = 0; t < TK_TABLE_COUNT; t++)
		for (int v = 0; v < FILLED_ROWS; v++) {
			for (size_t i = 0; i < tk_tables[t].column_count; i++)
				if (tk_tables[t].columns[i].kind == TK_COL_TEXT)
					free(FILLED_MEMBER(
					        char *, f->row[t][v], &tk_tables[t].columns[i]));
			free(f->row[t][v]);
		}
}
