/* Splits the problems of a kernel into sweeps. */
#include "site_gen/model/sweeps.h"

#include <math.h>

#include "base/base.h"
#include "store/store.h"

struct entry {
	const struct tk_axes *axes;
	size_t index;
	double fixed; /* the batch, the tokens or the length that make a line of it */
	double place; /* along the line */
};

static int compare_numbers(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_by_sweep(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int d = strcmp(x->axes->sweep, y->axes->sweep);
	if (!d)
		d = compare_numbers(x->fixed, y->fixed);
	if (!d)
		d = compare_numbers(x->place, y->place);
	return d ? d : (x->index > y->index) - (x->index < y->index);
}

static int compare_by_length(const void *a, const void *b)
{
	const struct tk_sweep *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->members[0] != y->members[0])
		return x->members[0] < y->members[0] ? -1 : 1;
	return compare_numbers(x->length, y->length); /* lines over the batch come later */
}

static bool has_repeated_size(const struct entry *entries, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (entries[i].place == entries[i - 1].place)
			return true;
	return false;
}

/* Adds `sweep` with entries[0..count), which are sorted by size; nothing if the sizes are too few
 * or repeated. out->at has room for it. */
static void add_sweep(
        const struct entry *entries, size_t count, struct tk_sweep sweep, struct tk_sweeps *out)
{
	if (count < TK_SWEEP_SIZES_MIN || has_repeated_size(entries, count))
		return;
	sweep.members = tk_malloc(count * sizeof *sweep.members);
	for (size_t i = 0; i < count; i++)
		sweep.members[i] = entries[i].index;
	sweep.count = count;
	out->at[out->count++] = sweep;
}

/* Whether a sweep of the same problems is there already. */
static bool is_known(const struct tk_sweeps *s, const struct tk_sweep *sweep)
{
	for (size_t i = 0; i < s->count; i++)
		if (&s->at[i] != sweep && s->at[i].count == sweep->count &&
		        !memcmp(s->at[i].members, sweep->members,
		                sweep->count * sizeof *sweep->members))
			return true;
	return false;
}

enum kind { OVER_ALL, TOKENS, BATCH, LENGTH };

static void place_entries(struct entry *entries, size_t count, enum kind kind)
{
	for (size_t i = 0; i < count; i++) {
		const struct tk_axes *at = entries[i].axes;
		entries[i].place = kind == LENGTH ? at->column_order : at->x;
		entries[i].fixed = kind == TOKENS   ? at->column_order * at->x
		                   : kind == BATCH  ? at->column_order
		                   : kind == LENGTH ? at->x
		                                    : 0;
	}
	tk_sort(entries, count, sizeof *entries, compare_by_sweep);
}

/* A line for each value of what is constant along lines of this kind. */
static void split_by(struct entry *entries, size_t count, enum kind kind, struct tk_sweeps *out)
{
	place_entries(entries, count, kind);
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && entries[end].fixed == entries[first].fixed;
		        end++)
			;
		size_t before = out->count;
		double fixed = entries[first].fixed;
		struct tk_sweep sweep = {.tokens = kind == TOKENS ? fixed : 0,
		        .batch = kind == BATCH ? fixed : 0,
		        .length = kind == LENGTH ? fixed : 0};
		add_sweep(entries + first, end - first, sweep, out);
		if (out->count > before && is_known(out, &out->at[before]))
			free(out->at[--out->count].members);
	}
}

/* Problems that differ in size alone: one line, or a line for each batch, each number of tokens and
 * each length. */
static void split(struct entry *entries, size_t count, bool over_batch, struct tk_sweeps *out)
{
	place_entries(entries, count, OVER_ALL);
	if (!has_repeated_size(entries, count)) {
		add_sweep(entries, count, (struct tk_sweep){0}, out);
		return;
	}
	split_by(entries, count, TOKENS, out);
	split_by(entries, count, BATCH, out);
	if (over_batch)
		split_by(entries, count, LENGTH, out);
}

double tk_sweep_place(const struct tk_sweep *sweep, const struct tk_axes *axes)
{
	return sweep->length > 0 ? axes->column_order : axes->x;
}

void tk_sweeps_find(const struct tk_axes *axes, size_t count, bool over_batch, size_t max,
        struct tk_sweeps *out)
{
	struct entry *entries = tk_malloc((count + 1) * sizeof *entries);
	size_t used = 0;
	/* a problem is on at most three lines, and a line has at least as many problems */
	*out = (struct tk_sweeps){.at = tk_calloc(count + 2, sizeof *out->at)};
	for (size_t i = 0; i < count; i++)
		if (axes[i].x > 0)
			entries[used++] = (struct entry){.axes = &axes[i], .index = i};
	if (used)
		tk_sort(entries, used, sizeof *entries, compare_by_sweep);
	for (size_t first = 0, end; first < used; first = end) {
		for (end = first + 1;
		        end < used && !strcmp(entries[end].axes->sweep, entries[first].axes->sweep);
		        end++)
			;
		split(entries + first, end - first, over_batch, out);
	}
	free(entries);
	tk_sort(out->at, out->count, sizeof *out->at, compare_by_length);
	while (out->count > max)
		free(out->at[--out->count].members);
}

void tk_sweeps_free(struct tk_sweeps *sweeps)
{
	for (size_t i = 0; i < sweeps->count; i++)
		free(sweeps->at[i].members);
	free(sweeps->at);
	*sweeps = (struct tk_sweeps){0};
}

/* ---- titles ---- */

/* The value of a key; "" where it is missing. */
static void read_key(const char *keys, const char *key, char value[64])
{
	size_t len = strlen(key);
	*value = 0;
	for (const char *p = keys; *p; p += strcspn(p, " "), p += *p == ' ')
		if (!strncmp(p, key, len) && p[len] == '=')
			snprintf(value, 64, "%.*s", (int)strcspn(p + len + 1, " "), p + len + 1);
}

/* Appends "name value" or the like, after a comma. */
static void add_part(char out[TK_SWEEP_TITLE_SIZE], const char *format, const char *value)
{
	size_t len = strlen(out);
	if (!*value)
		return;
	len += (size_t)snprintf(out + len, TK_SWEEP_TITLE_SIZE - len, "%s", len ? ", " : "");
	if (len < TK_SWEEP_TITLE_SIZE)
		snprintf(out + len, TK_SWEEP_TITLE_SIZE - len, format, value);
}

static void add_types(char out[TK_SWEEP_TITLE_SIZE], const char *keys)
{
	char a[64], b[64], c[64], types[140] = "", layout[130];
	read_key(keys, "a", a);
	read_key(keys, "b", b);
	read_key(keys, "c", c);
	if (strcmp(a, b))
		snprintf(types, sizeof types, "%s × %s", a, b);
	else
		snprintf(types, sizeof types, "%s", a);
	add_part(out, "%s", types);
	if (strcmp(a, c))
		add_part(out, "result %s", c);
	read_key(keys, "ta", a);
	read_key(keys, "tb", b);
	snprintf(layout, sizeof layout, "%s%s", a, b);
	add_part(out, "%s", layout);
}

/* Keys with a word of their own, in the order of a title; "%s" is the value. */
static const struct {
	const char *key, *value, *format; /* value NULL: any */
} words[] = {{"dir", "fwd", "Forward"}, {"dir", "bwd", "Backward"}, {"causal", "1", "causal"},
        {"causal", "0", "full"}, {"d", NULL, "head dimension %s"}, {"dtype", NULL, "%s"},
        {"h", NULL, "%s heads"}, {"hkv", NULL, "%s key-value heads"}, {"window", NULL, "window %s"},
        {"selected_blocks", NULL, "%s blocks"}, {"block_size", NULL, "blocks of %s"}};

static bool has_word(const char *key, size_t len)
{
	static const char *const others[] = {"a", "b", "c", "acc", "ta", "tb"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i].key) == len && !strncmp(words[i].key, key, len))
			return true;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strlen(others[i]) == len && !strncmp(others[i], key, len))
			return true;
	return false;
}

const char *tk_sweep_format_title(const char *keys, char out[TK_SWEEP_TITLE_SIZE])
{
	char value[64], heads[64], other[64];
	*out = 0;
	read_key(keys, "h", heads);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		read_key(keys, words[i].key, value);
		bool wanted = *value && (!words[i].value || !strcmp(words[i].value, value));
		/* plain attention has as many key-value heads as heads; no window is usual */
		if (!strcmp(words[i].key, "hkv") || !strcmp(words[i].key, "window"))
			wanted = wanted && strcmp(value, heads) && strcmp(value, "0");
		if (wanted)
			add_part(out, words[i].format, value);
	}
	add_types(out, keys);
	for (const char *p = keys; *p; p += strcspn(p, " "), p += *p == ' ') {
		size_t len = strcspn(p, "= ");
		if (p[len] != '=' || has_word(p, len))
			continue;
		snprintf(other, sizeof other, "%.*s", (int)strcspn(p, " "), p);
		add_part(out, "%s", other);
	}
	return out;
}

/* ---- axes ---- */

static const struct {
	const char *op;
	struct tk_axes_names names;
	const char *length, *twin; /* twin: a key that is left out if it equals the length */
} ops[] = {
        {"attention", {"Sequence", "Batch", "Sequence length"}, "sq", "skv"},
        {"nsa", {"Sequence", "Batch", "Sequence length"}, "s", ""},
        {"gemm", {"n × k", "m", "m"}, "", ""},
};

static size_t op_index(const char *op)
{
	size_t i = 0;
	while (i < sizeof ops / sizeof *ops && strcmp(ops[i].op, op))
		i++;
	return i;
}

const struct tk_axes_names *tk_axes_names(const char *op)
{
	size_t i = op_index(op);
	return i < sizeof ops / sizeof *ops ? &ops[i].names : NULL;
}

/* The number of a key of "op:key=value,..."; 0: none. */
static double read_number(const char *text, const char *key)
{
	size_t len = strlen(key);
	for (const char *p = strchr(text, ':'); p && len; p = strchr(p + 1, ','))
		if (!strncmp(p + 1, key, len) && p[1 + len] == '=')
			return strtod(p + 2 + len, NULL);
	return 0;
}

int tk_axes_compare_rest(const char *a, const char *b)
{
	int d = (strstr(a, "dir=bwd") != NULL) - (strstr(b, "dir=bwd") != NULL);
	return d ? d : strverscmp(a, b);
}

static bool is_key(const char *pair, size_t pair_len, const char *key)
{
	size_t len = strlen(key);
	return len && pair_len > len && pair[len] == '=' && !strncmp(pair, key, len);
}

/* All pairs of key and value but those of the axes. */
static void collect_rest(
        struct tk_axes *out, const char *text, const char *const *axes, size_t count)
{
	size_t used = 0;
	for (const char *p = strchr(text, ':'); p; p = strchr(p + 1, ',')) {
		size_t len = strcspn(p + 1, ",");
		bool is_axis = false;
		for (size_t i = 0; i < count; i++)
			is_axis = is_axis || is_key(p + 1, len, axes[i]);
		if (is_axis || used + len + 2 > sizeof out->rest)
			continue;
		if (used)
			out->rest[used++] = ' ';
		memcpy(out->rest + used, p + 1, len);
		used += len;
	}
	out->rest[used] = 0;
}

/* As "%.0f" writes it. */
static const char *whole(double v, char text[TK_FORMAT_SIZE])
{
	if (v >= 0 && v < 1e15 && v == floor(v))
		text[tk_format_int(text, (int64_t)v)] = 0;
	else
		snprintf(text, TK_FORMAT_SIZE, "%.0f", v);
	return text;
}

bool tk_axes_from_problem(const struct tk_problem_row *p, struct tk_axes *out)
{
	size_t i = op_index(p->op);
	char first[TK_FORMAT_SIZE], second[TK_FORMAT_SIZE];
	*out->row = *out->column = *out->rest = *out->sweep = 0;
	out->row_order = out->column_order = out->x = 0;
	if (i == sizeof ops / sizeof *ops)
		return false;
	if (!*ops[i].length) {
		double m = read_number(p->text, "m"), n = read_number(p->text, "n"),
		       k = read_number(p->text, "k");
		collect_rest(out, p->text, (const char *const[]){"m", "n", "k"}, 3);
		snprintf(out->row, sizeof out->row, "%.20s × %.20s", whole(n, first),
		        whole(k, second));
		snprintf(out->column, sizeof out->column, "%.20s", whole(m, first));
		out->row_order = n * 1e7 + k;
		out->column_order = m;
		out->x = m;
		if (m == n && n == k)
			snprintf(out->sweep, sizeof out->sweep, "m = n = k %s", out->rest);
		else
			snprintf(out->sweep, sizeof out->sweep, "n=%.15s k=%.15s %s",
			        whole(n, first), second, out->rest);
		return m > 0;
	}
	double length = read_number(p->text, ops[i].length), batch = read_number(p->text, "b");
	bool twin = read_number(p->text, ops[i].twin) == length;
	collect_rest(out, p->text,
	        (const char *const[]){ops[i].length, "b", twin ? ops[i].twin : ""}, 3);
	snprintf(out->row, sizeof out->row, "%s", whole(length, first));
	snprintf(out->column, sizeof out->column, "%.20s", whole(batch, first));
	snprintf(out->sweep, sizeof out->sweep, "%s", out->rest);
	out->row_order = out->x = length;
	out->column_order = batch;
	return length > 0;
}
