/* What the columns of a table of CSV are: those that name a series are known, "-- identity:" of the
 * format lists them. All others are attributes, and reported unless the format knows them, so that
 * a column that a new version of a tool adds renames nothing. */
#include "base/base.h"
#include "store/import/import.h"

enum role { UNKNOWN, ATTRIBUTE, READ, IDENTITY };

struct column {
	char *heading;
	char *word, *usual; /* of the identity: as the format spells it, and what goes unsaid */
	enum role role;
	size_t rank, at; /* of the identity; in the file */
};

struct tk_import_columns {
	struct column *columns, **named; /* named: those of the identity, in its order */
	size_t count, named_count;
};

void tk_import_columns_free(struct tk_import_columns *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->count; i++) {
		free(c->columns[i].heading);
		free(c->columns[i].word);
		free(c->columns[i].usual);
	}
	free(c->columns);
	free(c->named);
	free(c);
}

static void set_identity(struct column *c, const char *word, size_t len, size_t rank)
{
	const char *equals = memchr(word, '=', len);

	if (c->role == IDENTITY)
		return;
	c->role = IDENTITY;
	c->rank = rank;
	c->word = tk_strndup(word, equals ? (size_t)(equals - word) : len);
	c->usual = equals ? tk_strndup(equals + 1, len - (size_t)(equals + 1 - word)) : NULL;
}

/* A list of the format or of --identity, whose entries are "heading" or "heading=usual value". */
static void find_in_list(
        struct column *c, const char *list, char separator, enum role role, size_t rank)
{
	const char ends[] = {separator, '\0'};

	for (size_t len; *list; list += len + (list[len] != '\0'), rank++) {
		len = strcspn(list, ends);
		AUTO_TEXT pattern = tk_strndup(list, strcspn(list, role == IDENTITY ? "=|," : "|"));

		if (!tk_import_heading_matches(c->heading, pattern))
			continue;
		if (role == IDENTITY)
			set_identity(c, list, len, rank);
		else if (c->role == UNKNOWN)
			c->role = role;
	}
}

static void find_in_format(
        struct column *c, const struct tk_import_format *format, const char *key, enum role role)
{
	char *list;

	for (size_t nth = 0; (list = tk_import_format_get(format, key, nth)); nth++) {
		find_in_list(c, list, '|', role, nth * 1000);
		free(list);
	}
}

static int rank_order(const void *a, const void *b)
{
	const struct column *x = *(struct column *const *)a, *y = *(struct column *const *)b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

struct tk_import_columns *tk_import_columns_new(
        struct tk_import_sink *s, char *const *headings, size_t count)
{
	struct tk_import_columns *c = tk_calloc(1, sizeof(*c));
	AUTO_TEXT identity = tk_import_format_get(s->format, "identity", 0);
	json_auto_t *unknown = json_array();

	c->columns = tk_calloc(count, sizeof(*c->columns));
	c->named = tk_calloc(count, sizeof(*c->named));
	for (; c->count < count; c->count++) {
		struct column *column = &c->columns[c->count];

		*column = (struct column){.heading = tk_strdup(headings[c->count]), .at = c->count};
		find_in_format(column, s->format, "identity", IDENTITY);
		if (s->request->identity)
			find_in_list(column, s->request->identity, ',', IDENTITY, SIZE_MAX / 2);
		find_in_format(column, s->format, "columns", READ);
		find_in_format(column, s->format, "attributes", ATTRIBUTE);
		if (column->role == IDENTITY)
			c->named[c->named_count++] = column;
		else if (column->role == UNKNOWN && *column->heading)
			json_array_append_new(unknown, json_string(column->heading));
	}
	tk_sort(c->named, c->named_count, sizeof(*c->named), rank_order);
	if (identity)
		tk_import_note_unknown(s, unknown);
	return c;
}

void tk_import_columns_add_name(
        const struct tk_import_columns *c, char *const *cells, struct tk_buf *out)
{
	for (size_t i = 0; i < c->named_count; i++) {
		const struct column *column = c->named[i];
		const char *cell = cells[column->at];

		if (*cell && (!column->usual || strcasecmp(cell, column->usual)))
			tk_buf_add_printf(out, "%s%s=%s", out->len ? " " : "", column->word, cell);
	}
}

bool tk_import_columns_is_attribute(const struct tk_import_columns *c, size_t at)
{
	return c->columns[at].role <= ATTRIBUTE && *c->columns[at].heading;
}
