/* A problem's text, both ways: what people write -> struct, struct -> the canonical text. */
#include <ctype.h>
#include <locale.h>
#include <math.h>

#include "core/problem_internal.h"

#define WORD_MAX 64 /* maximum length of a value */
#define KEYS_MAX 16
#define TEXT_PREFIX "text:"

/* Without the blanks around it. */
static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	for (n = strlen(s); n && strchr(" \t", s[n - 1]);)
		n--;
	s[n] = '\0';
	return s;
}

/* ---- values ---- */

static const char *const flags[] = {"0", "1", NULL};
static const char *const transposes[] = {"n", "t", NULL};
static const char *const directions[] = {"fwd", "bwd", NULL};
static const char *const caches[] = {"", "l1", "l2", "l3", NULL};
static const char *const dists[] = {"normal", "uniform", "trig", "zeros", "outliers", NULL};

/* The words of a kind, by value, and what a message expects. */
static const struct {
	const char *const *words;
	const char *expected;
} kinds[] = {
        [TK_KEY_DTYPE] = {NULL, "f64, f32, tf32, f16, bf16, e4m3 or e5m2"},
        [TK_KEY_SCALE] = {NULL, "a number over 0, or 0 for d^-1/2"},
        [TK_KEY_FLAG] = {flags, "yes or no"},
        [TK_KEY_TRANSPOSE] = {transposes, "n or t"},
        [TK_KEY_DIRECTION] = {directions, "fwd or bwd"},
        [TK_KEY_CACHE] = {caches, "l1, l2 or l3"},
        [TK_KEY_DIST] = {dists, "normal, uniform, trig, zeros, outliers or text:NAME"},
};

static bool read_size(const struct tk_problem_key *key, const char *value, int64_t *out)
{
	int64_t v = 0;

	for (const char *c = value; *c; c++) {
		if (!isdigit((unsigned char)*c))
			return false;
		v = v <= key->max ? v * 10 + (*c - '0') : v;
	}
	*out = v;
	return *value && v >= key->min && v <= key->max;
}

static bool read_dtype(const char *value, uint32_t *out)
{
	return !tk_dtype_parse(value, out) && *out != TK_I32 && *out != TK_I64;
}

/* Numbers are written with a point whatever the user's locale is. */
static bool read_scale(const char *value, double *out)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char *end;

	*out = strtod_l(value, &end, c);
	freelocale(c);
	return *value && strspn(value, "0123456789.eE+-") == strlen(value) && !*end &&
	       isfinite(*out) && *out >= 0;
}

static bool read_word(const char *const *words, const char *value, int32_t *out)
{
	for (int32_t i = 0; words[i]; i++)
		if (*value && strcmp(words[i], value) == 0) {
			*out = i;
			return true;
		}
	return false;
}

bool tk_text_name_is_valid(const char *name, bool has_hash)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
	const char *hash = name + len + 1;

	if (len == 0 ||
	        strlen(name) >= TK_TEXT_NAME_SIZE - (has_hash ? 0 : TK_TEXT_HASH_DIGITS + 1))
		return false;
	return has_hash ? name[len] == '-' && strlen(hash) == TK_TEXT_HASH_DIGITS &&
	                          strspn(hash, "0123456789abcdef") == TK_TEXT_HASH_DIGITS
	                : name[len] == '\0';
}

/* "text:NAME": only where inputs are rows of a matrix. */
static int read_text_dist(const struct tk_problem_op *op, const char *value,
        struct tk_problem_spec *p, const char **expected, struct tk_error *err)
{
	const char *name = value + strlen(TEXT_PREFIX);

	if (op->id != TK_OP_GEMM && op->id != TK_OP_ATTENTION && op->id != TK_OP_NSA)
		return tk_fail(err, TK_EDATA,
		        "%s: dist=text:NAME is for gemm, attention and nsa alone", op->word);
	if (tk_text_name_is_valid(name, true)) {
		p->dist = TK_DIST_TEXT;
		snprintf(p->dist_text, sizeof p->dist_text, "%s", name);
	} else {
		*expected = "text:NAME-HASH as `tracker inputs list` prints it, such as "
		            "text:declaration-1a2b3c4d";
	}
	return TK_OK;
}

int tk_problem_read_value(const struct tk_problem_op *op, const struct tk_problem_key *key,
        const char *value, struct tk_problem_spec *p, struct tk_error *err)
{
	void *at = (char *)p + key->offset;
	char range[80], shown[TK_TEXT_EXCERPT_SIZE];
	const char *expected = kinds[key->kind].expected;
	bool flag;

	if (key->kind == TK_KEY_SIZE) {
		snprintf(range, sizeof range, "a whole number from %lld to %lld",
		        (long long)key->min, (long long)key->max);
		expected = range;
	}
	if (key->kind == TK_KEY_DIST && strncmp(value, TEXT_PREFIX, strlen(TEXT_PREFIX)) == 0) {
		expected = NULL;
		TRY(read_text_dist(op, value, p, &expected, err));
		if (!expected)
			return TK_OK;
	} else if (key->kind == TK_KEY_SIZE    ? read_size(key, value, at)
	           : key->kind == TK_KEY_DTYPE ? read_dtype(value, at)
	           : key->kind == TK_KEY_SCALE ? read_scale(value, at)
	                                       : read_word(kinds[key->kind].words, value, at)) {
		return TK_OK;
	} else if (key->kind == TK_KEY_FLAG && !tk_units_parse_bool(value, &flag, NULL)) {
		*(int32_t *)at = flag;
		return TK_OK;
	}
	return tk_fail(err, TK_EDATA, "%s: %s is \"%s\", expected %s", op->word, key->name,
	        tk_text_format_excerpt(value, shown), expected);
}

/* The shortest text that reads back as the same number. */
static void write_number(double v, char *out, size_t size)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0),
	         before = c ? uselocale(c) : (locale_t)0;

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(out, size, "%.*g", digits, v);
		if (strtod(out, NULL) == v)
			break;
	}
	if (c) {
		uselocale(before);
		freelocale(c);
	}
}

void tk_problem_write_value(
        struct tk_buf *b, const struct tk_problem_spec *p, const struct tk_problem_key *k)
{
	const void *at = (const char *)p + k->offset;
	char number[40];

	if (k->kind == TK_KEY_SIZE) {
		tk_buf_add_int(b, *(const int64_t *)at);
	} else if (k->kind == TK_KEY_DTYPE) {
		tk_buf_add_str(b, tk_dtype_name(*(const uint32_t *)at));
	} else if (k->kind == TK_KEY_SCALE) {
		write_number(*(const double *)at, number, sizeof number);
		tk_buf_add_str(b, number);
	} else if (k->kind == TK_KEY_DIST && p->dist == TK_DIST_TEXT) {
		tk_buf_add_printf(b, TEXT_PREFIX "%s", p->dist_text);
	} else {
		tk_buf_add_str(b, kinds[k->kind].words[*(const int32_t *)at]);
	}
}

/* ---- keys ---- */

static int unknown_name(
        struct tk_error *err, const char *what, const char *name, const char *const *names)
{
	char shown[TK_TEXT_EXCERPT_SIZE], hint[TK_SUGGEST_HINT_SIZE];

	return tk_fail(err, TK_EDATA, "unknown %s \"%s\"%s", what,
	        tk_text_format_excerpt(name, shown), tk_suggest_hint(name, names, NULL, hint));
}

static int find_op(const char *name, const struct tk_problem_op **out, struct tk_error *err)
{
	const char *names[16] = {NULL};
	int n = 0;

	for (const struct tk_problem_op *op = tk_problem_ops; op->word; op++) {
		names[n++] = op->word;
		if (strcmp(op->word, name) == 0) {
			*out = op;
			return TK_OK;
		}
	}
	return unknown_name(err, "op", name, names);
}

const struct tk_problem_key *tk_problem_find_key(const struct tk_problem_op *op, const char *name)
{
	const struct tk_problem_key *k = op->keys;

	while (k->name && strcmp(k->name, name) != 0)
		k++;
	return k->name ? k : NULL;
}

static int find_key(const struct tk_problem_op *op, const char *name,
        const struct tk_problem_key **out, struct tk_error *err)
{
	const char *names[KEYS_MAX + 1] = {NULL};

	*out = tk_problem_find_key(op, name);
	if (*out)
		return TK_OK;
	for (int n = 0; op->keys[n].name; n++)
		names[n] = op->keys[n].name;
	unknown_name(err, "key", name, names);
	tk_error_add_context(err, "%s", op->word);
	return TK_EDATA;
}

int tk_problem_check_key(const char *op, const char *key, const char *value, struct tk_error *err)
{
	struct tk_problem_spec scratch = {0};
	const struct tk_problem_op *found = NULL;
	const struct tk_problem_key *k;
	TRY(find_op(op, &found, err));
	TRY(find_key(found, key, &k, err));
	return value ? tk_problem_read_value(found, k, value, &scratch, err) : TK_OK;
}

/* One "key=value", which is cut up. `seen` has a bit for every key that was there. */
static int read_pair(struct tk_problem_spec *p, const struct tk_problem_op *op, char *pair,
        uint32_t *seen, struct tk_error *err)
{
	const struct tk_problem_key *k;
	char *value = pair, shown[TK_TEXT_EXCERPT_SIZE], *key = strsep(&value, "=");

	if (!value)
		return tk_fail(err, TK_EDATA, "%s: \"%s\" has no value, expected key=value",
		        op->word, tk_text_format_excerpt(trim(key), shown));
	TRY(find_key(op, trim(key), &k, err));
	if (*seen & 1u << (k - op->keys))
		return tk_fail(err, TK_EDATA, "%s: %s is there twice, expected every key once",
		        op->word, k->name);
	value = trim(value);
	if (strlen(value) >= WORD_MAX)
		return tk_fail(err, TK_EDATA,
		        "%s: the value of %s is too long, expected at most %d characters", op->word,
		        k->name, WORD_MAX - 1);
	*seen |= 1u << (k - op->keys);
	return tk_problem_read_value(op, k, value, p, err);
}

static int check_required(const struct tk_problem_op *op, uint32_t seen, struct tk_error *err)
{
	const char *missing = NULL;
	AUTO(tk_buf) list = TK_BUF_INIT;

	for (const struct tk_problem_key *k = op->keys; k->name; k++) {
		if (k->fallback)
			continue;
		tk_buf_add_printf(&list, "%s%s", list.len ? ", " : "", k->name);
		if (!missing && !(seen & 1u << (k - op->keys)))
			missing = k->name;
	}
	return missing ? tk_fail(err, TK_EDATA, "%s: %s is missing, expected at least %s", op->word,
	                         missing, tk_buf_cstr(&list))
	               : TK_OK;
}

/* Sets the key's default where it does not depend on others. */
static void set_fallback(
        struct tk_problem_spec *p, const struct tk_problem_op *op, const struct tk_problem_key *k)
{
	if (k->fallback && *k->fallback)
		tk_problem_read_value(op, k, k->fallback, p, NULL);
}

bool tk_problem_has_default(const struct tk_problem_spec *p, const struct tk_problem_op *op,
        const struct tk_problem_key *key)
{
	const size_t size = key->kind == TK_KEY_SIZE || key->kind == TK_KEY_SCALE ? 8 : 4;
	struct tk_problem_spec q = *p;

	memset((char *)&q + key->offset, 0, size);
	set_fallback(&q, op, key);
	op->derive(&q);
	return memcmp((const char *)&q + key->offset, (const char *)p + key->offset, size) == 0;
}

/* ---- whole problems ---- */

static int write_text(
        struct tk_problem_spec *p, const struct tk_problem_op *op, struct tk_error *err)
{
	AUTO(tk_buf) b = TK_BUF_INIT;

	tk_buf_add_printf(&b, "%s:", op->word);
	for (const struct tk_problem_key *k = op->keys, *first = NULL; k->name; k++) {
		if (k->quiet && tk_problem_has_default(p, op, k))
			continue;
		tk_buf_add_printf(&b, "%s%s=", first ? "," : "", k->name);
		tk_problem_write_value(&b, p, k);
		first = k;
	}
	if (b.len >= sizeof p->text)
		return tk_fail(err, TK_EDATA,
		        "%s: the canonical text has %zu bytes, expected fewer than %zu", op->word,
		        b.len, sizeof p->text);
	memcpy(p->text, tk_buf_cstr(&b), b.len + 1);
	return TK_OK;
}

/* Sets the pointers and sizes of the border's structs; needed again after every copy. */
static void link_parts(struct tk_problem_spec *p, uint32_t op)
{
	p->abi = (struct tk_problem){.size = sizeof p->abi,
	        .op = op,
	        .text = p->text,
	        .offset_bytes = (uint32_t)p->offset,
	        .row_padding = p->pad};
	p->gemm.size = sizeof p->gemm;
	p->attention.size = sizeof p->attention;
	p->nsa.size = sizeof p->nsa;
	p->ceiling.size = sizeof p->ceiling;
	switch (op) {
	case TK_OP_GEMM:
		p->abi.gemm = &p->gemm;
		break;
	case TK_OP_ATTENTION:
		p->abi.attention = &p->attention;
		break;
	case TK_OP_NSA:
		p->abi.nsa = &p->nsa;
		break;
	default:
		p->abi.ceiling = &p->ceiling;
		break;
	}
}

static int parse_title(struct tk_problem_spec *out, const char *title, struct tk_error *err)
{
	AUTO(tk_buf) keys = TK_BUF_INIT;
	char shown[TK_TEXT_EXCERPT_SIZE];

	if (!tk_problem_title_to_keys(title, &keys))
		return tk_fail(err, TK_EDATA,
		        "\"%s\" is not a problem, expected op:key=value,... or a title such as "
		        "\"gemm bf16 512x512x512 nn\"",
		        tk_text_format_excerpt(title, shown));
	return tk_problem_parse(out, tk_buf_cstr(&keys), err);
}

/* Whole elements, as of a slice: no library takes addresses between them. */
static int check_offset(const struct tk_problem_spec *p, const struct tk_tensor *tensors,
        uint32_t count, struct tk_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		int64_t element = (int64_t)tk_dtype_bytes(tensors[i].dtype);

		if (p->offset % element != 0)
			return tk_fail(err, TK_EDATA,
			        "%s: offset is %lld, expected a multiple of the %lld bytes of an "
			        "element of %s",
			        tk_problem_op_name(p), (long long)p->offset, (long long)element,
			        tensors[i].name);
	}
	return TK_OK;
}

int tk_problem_parse(struct tk_problem_spec *out, const char *text, struct tk_error *err)
{
	AUTO_TEXT copy = tk_strdup(text);
	char *rest = copy, *name = trim(strsep(&rest, ":"));
	const struct tk_problem_op *op = NULL;
	struct tk_tensor tensors[TK_T_MAX];
	struct tk_problem_spec p = {0};
	uint32_t count, seen = 0;

	/* A title may have "text:NAME" in it. */
	if (!rest || strpbrk(name, " \t"))
		return parse_title(out, text, err);
	TRY(find_op(name, &op, err));
	for (const struct tk_problem_key *k = op->keys; k->name; k++)
		set_fallback(&p, op, k);
	link_parts(&p, op->id);
	for (char *pair; (pair = strsep(&rest, ","));)
		TRY(read_pair(&p, op, pair, &seen, err));
	TRY(check_required(op, seen, err));
	op->derive(&p);
	if (op->check)
		TRY(op->check(&p, err));
	TRY(tk_problem_list_tensors(&p, tensors, &count, err));
	TRY(check_offset(&p, tensors, count, err));
	TRY(write_text(&p, op, err));
	*out = p;
	link_parts(out, op->id);
	return TK_OK;
}

/* ---- words ---- */

const char *tk_problem_op_name(const struct tk_problem_spec *p)
{
	for (const struct tk_problem_op *op = tk_problem_ops; op->word; op++)
		if (op->id == p->abi.op)
			return op->word;
	return "unknown";
}

const char *tk_problem_dtype_name(const struct tk_problem_spec *p)
{
	uint32_t dtype = p->abi.op == TK_OP_GEMM        ? p->gemm.a
	                 : p->abi.op == TK_OP_ATTENTION ? p->attention.dtype
	                 : p->abi.op == TK_OP_NSA       ? p->nsa.dtype
	                                                : p->ceiling.dtype;
	const char *word = tk_dtype_name(dtype);

	return word ? word : "unknown";
}
