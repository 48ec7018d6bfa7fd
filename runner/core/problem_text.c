/* A problem's text, both ways: what people write -> struct, struct -> the canonical text and a
 * title. */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/try.h"
#include "core/problem_internal.h"

#define WORD_MAX 64 /* maximum length of a key or value */
#define KEYS_MAX 16
#define TEXT_PREFIX "text:"

/* What a user wrote, fit for a message: printable, at most 40 characters. */
struct shown {
	char text[48];
};

static struct shown shown(const char *s, size_t len)
{
	struct shown out = {""};
	size_t n = len < 40 ? len : 40;

	for (size_t i = 0; i < n; i++)
		out.text[i] = isprint((unsigned char)s[i]) && s[i] != '`' ? s[i] : '?';
	if (len > n)
		memcpy(out.text + n, "...", 4);
	return out;
}

/* A piece of the text between separators, without the blanks around it. */
struct span {
	const char *at;
	size_t len;
};

static struct span trimmed(const char *at, size_t len)
{
	while (len && (*at == ' ' || *at == '\t'))
		at++, len--;
	while (len && (at[len - 1] == ' ' || at[len - 1] == '\t'))
		len--;
	return (struct span){at, len};
}

static bool span_copy(struct span s, char out[WORD_MAX])
{
	if (s.len >= WORD_MAX || memchr(s.at, '\0', s.len))
		return false;
	memcpy(out, s.at, s.len);
	out[s.len] = '\0';
	return true;
}

static const char *const dists[] = {"normal", "uniform", "trig", "zeros", "outliers", NULL};

/* ---- values ---- */

struct reading {
	const struct tk_problem_op *op;
	const struct tk_problem_key *key;
	struct tk_problem_spec *spec;
	struct tk_error *err;
};

static int bad_value(const struct reading *r, const char *value, const char *expected)
{
	return tk_fail(r->err, TK_EDATA, "%s: %s is \"%s\", expected %s", r->op->word, r->key->name,
	        shown(value, strlen(value)).text, expected);
}

static int read_size(const struct reading *r, const char *value, int64_t *out)
{
	char expected[80];
	int64_t v = 0;
	bool fits = true;

	snprintf(expected, sizeof expected, "a whole number from %lld to %lld",
	        (long long)r->key->min, (long long)r->key->max);
	for (const char *c = value; *c; c++) {
		if (!isdigit((unsigned char)*c))
			return bad_value(r, value, expected);
		fits = fits && v <= r->key->max;
		v = fits ? v * 10 + (*c - '0') : v;
	}
	if (!*value || !fits || v < r->key->min || v > r->key->max)
		return bad_value(r, value, expected);
	*out = v;
	return TK_OK;
}

static int read_dtype(const struct reading *r, const char *value, uint32_t *out)
{
	uint32_t t;

	if (tk_dtype_parse(value, &t) || t == TK_I32 || t == TK_I64)
		return bad_value(r, value, "f64, f32, tf32, f16, bf16, e4m3 or e5m2");
	*out = t;
	return TK_OK;
}

/* One of two words: 0 or 1. */
static int read_choice(
        const struct reading *r, const char *value, const char *zero, const char *one, int32_t *out)
{
	char expected[32];

	snprintf(expected, sizeof expected, "%s or %s", zero, one);
	if (strcmp(value, zero) != 0 && strcmp(value, one) != 0)
		return bad_value(r, value, expected);
	*out = strcmp(value, one) == 0;
	return TK_OK;
}

/* 0 or 1 in canonical text; suites and people write words too. */
static int read_flag(const struct reading *r, const char *value, int32_t *out)
{
	static const char *const words[][3] = {{"0", "no", "false"}, {"1", "yes", "true"}};

	for (int flag = 0; flag < 2; flag++)
		for (size_t i = 0; i < 3; i++)
			if (strcmp(value, words[flag][i]) == 0) {
				*out = flag;
				return TK_OK;
			}
	return bad_value(r, value, "yes or no");
}

/* Numbers are written with a point whatever the user's locale is. */
static double number_of(const char *text, char **end)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double v = c ? strtod_l(text, end, c) : strtod(text, end);

	if (c)
		freelocale(c);
	return v;
}

static int read_scale(const struct reading *r, const char *value, double *out)
{
	char *end = NULL;
	double v = *value && strspn(value, "0123456789.eE+-") == strlen(value)
	                   ? number_of(value, &end)
	                   : NAN;

	if (!end || *end || !isfinite(v) || v < 0)
		return bad_value(r, value, "a number over 0, or 0 for d^-1/2");
	*out = v;
	return TK_OK;
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
static int read_text_dist(const struct reading *r, const char *value)
{
	const char *name = value + strlen(TEXT_PREFIX);

	if (r->op->id != TK_OP_GEMM && r->op->id != TK_OP_ATTENTION && r->op->id != TK_OP_NSA)
		return tk_fail(r->err, TK_EDATA,
		        "%s: dist=text:NAME is for gemm, attention and nsa alone", r->op->word);
	if (!tk_text_name_is_valid(name, true))
		return bad_value(r, value,
		        "text:NAME-HASH as `tracker inputs list` prints it, such as "
		        "text:declaration-1a2b3c4d");
	r->spec->dist = TK_DIST_TEXT;
	snprintf(r->spec->dist_text, sizeof r->spec->dist_text, "%s", name);
	return TK_OK;
}

static int read_dist(const struct reading *r, const char *value, enum tk_dist *out)
{
	if (strncmp(value, TEXT_PREFIX, strlen(TEXT_PREFIX)) == 0)
		return read_text_dist(r, value);
	for (int i = 0; dists[i]; i++)
		if (strcmp(dists[i], value) == 0) {
			*out = (enum tk_dist)i;
			return TK_OK;
		}
	return bad_value(r, value, "normal, uniform, trig, zeros, outliers or text:NAME");
}

static int read_cache(const struct reading *r, const char *value, uint32_t *out)
{
	if (value[0] != 'l' || value[1] < '1' || value[1] > '3' || value[2])
		return bad_value(r, value, "l1, l2 or l3");
	*out = (uint32_t)(value[1] - '0');
	return TK_OK;
}

int tk_problem_read_value(const struct tk_problem_op *op, const struct tk_problem_key *key,
        const char *value, struct tk_problem_spec *p, struct tk_error *err)
{
	const struct reading reading = {op, key, p, err}, *r = &reading;
	void *at = (char *)p + key->offset;

	switch (key->kind) {
	case TK_KEY_SIZE:
		return read_size(r, value, at);
	case TK_KEY_DTYPE:
		return read_dtype(r, value, at);
	case TK_KEY_FLAG:
		return read_flag(r, value, at);
	case TK_KEY_TRANSPOSE:
		return read_choice(r, value, "n", "t", at);
	case TK_KEY_DIRECTION:
		return read_choice(r, value, "fwd", "bwd", at);
	case TK_KEY_SCALE:
		return read_scale(r, value, at);
	case TK_KEY_CACHE:
		return read_cache(r, value, at);
	case TK_KEY_DIST:
		return read_dist(r, value, at);
	}
	return TK_EINTERNAL;
}

/* ---- reading ---- */

static const char *list_names(const char *const *names, char out[256])
{
	size_t len = 0;

	for (int i = 0; names[i] && len < 256; i++)
		len += (size_t)snprintf(out + len, 256 - len, "%s%s", i ? ", " : "", names[i]);
	return out;
}

static int unknown_name(
        struct tk_error *err, const char *what, struct span got, const char *const *names)
{
	char word[WORD_MAX], list[256];
	const char *near = span_copy(got, word) ? tk_suggest_name(word, names) : NULL;

	return tk_fail(err, TK_EDATA,
	        near ? "unknown %s \"%s\", did you mean \"%s\"?"
	             : "unknown %s \"%s\", expected one of %s",
	        what, shown(got.at, got.len).text, near ? near : list_names(names, list));
}

static int find_op(struct span name, const struct tk_problem_op **out, struct tk_error *err)
{
	const char *names[16];
	int n = 0;

	for (const struct tk_problem_op *op = tk_problem_ops; op->word; op++) {
		if (strlen(op->word) == name.len && memcmp(op->word, name.at, name.len) == 0) {
			*out = op;
			return TK_OK;
		}
		names[n++] = op->word;
	}
	names[n] = NULL;
	return unknown_name(err, "op", name, names);
}

static int unknown_key(const struct tk_problem_op *op, struct span name, struct tk_error *err)
{
	const char *names[KEYS_MAX + 1];
	int n = 0;

	for (const struct tk_problem_key *k = op->keys; k->name; k++)
		names[n++] = k->name;
	names[n] = NULL;
	unknown_name(err, "key", name, names);
	tk_error_add_context(err, "%s", op->word);
	return TK_EDATA;
}

static const struct tk_problem_key *find_key(const struct tk_problem_op *op, struct span name)
{
	const struct tk_problem_key *k = op->keys;

	while (k->name && (strlen(k->name) != name.len || memcmp(k->name, name.at, name.len) != 0))
		k++;
	return k->name ? k : NULL;
}

const struct tk_problem_key *tk_problem_find_key(const struct tk_problem_op *op, const char *name)
{
	return find_key(op, (struct span){name, strlen(name)});
}

/* One "key=value". `seen` has a bit for every key that was there. */
static int read_pair(struct tk_problem_spec *p, const struct tk_problem_op *op, struct span pair,
        uint32_t *seen, struct tk_error *err)
{
	const char *eq = memchr(pair.at, '=', pair.len);
	const struct tk_problem_key *k;
	char value[WORD_MAX];
	struct span key, rest;

	if (!eq)
		return tk_fail(err, TK_EDATA, "%s: \"%s\" has no value, expected key=value",
		        op->word, shown(pair.at, pair.len).text);
	key = trimmed(pair.at, (size_t)(eq - pair.at));
	rest = trimmed(eq + 1, pair.len - (size_t)(eq + 1 - pair.at));
	k = find_key(op, key);
	if (!k)
		return unknown_key(op, key, err);
	if (*seen & 1u << (k - op->keys))
		return tk_fail(err, TK_EDATA, "%s: %s is there twice, expected every key once",
		        op->word, k->name);
	if (!span_copy(rest, value))
		return tk_fail(err, TK_EDATA,
		        "%s: the value of %s is too long, expected at most %d characters", op->word,
		        k->name, WORD_MAX - 1);
	*seen |= 1u << (k - op->keys);
	return tk_problem_read_value(op, k, value, p, err);
}

int tk_problem_check_key(const char *op, const char *key, const char *value, struct tk_error *err)
{
	struct tk_problem_spec scratch = {0};
	const struct tk_problem_op *found = NULL;
	const struct tk_problem_key *k;
	TRY(find_op((struct span){op, strlen(op)}, &found, err));
	k = tk_problem_find_key(found, key);
	if (!k)
		return unknown_key(found, (struct span){key, strlen(key)}, err);
	return value ? tk_problem_read_value(found, k, value, &scratch, err) : TK_OK;
}

static int check_required(const struct tk_problem_op *op, uint32_t seen, struct tk_error *err)
{
	const char *names[KEYS_MAX + 1], *missing = NULL;
	char list[256];
	int n = 0;

	for (const struct tk_problem_key *k = op->keys; k->name; k++) {
		if (k->fallback)
			continue;
		if (!missing && !(seen & 1u << (k - op->keys)))
			missing = k->name;
		names[n++] = k->name;
	}
	names[n] = NULL;
	return missing ? tk_fail(err, TK_EDATA, "%s: %s is missing, expected at least %s", op->word,
	                         missing, list_names(names, list))
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

static int read_pairs(struct tk_problem_spec *p, const struct tk_problem_op *op, const char *text,
        struct tk_error *err)
{
	uint32_t seen = 0;
	int status = TK_OK;

	while (!status) {
		const char *comma = strchr(text, ',');
		size_t len = comma ? (size_t)(comma - text) : strlen(text);

		status = read_pair(p, op, trimmed(text, len), &seen, err);
		if (!comma)
			break;
		text = comma + 1;
	}
	return status ? status : check_required(op, seen, err);
}

/* ---- writing ---- */

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

	switch (k->kind) {
	case TK_KEY_SIZE:
		tk_buf_add_printf(b, "%lld", (long long)*(const int64_t *)at);
		break;
	case TK_KEY_DTYPE:
		tk_buf_add_str(b, tk_dtype_name(*(const uint32_t *)at));
		break;
	case TK_KEY_FLAG:
		tk_buf_add_str(b, *(const int32_t *)at ? "1" : "0");
		break;
	case TK_KEY_TRANSPOSE:
		tk_buf_add_str(b, *(const int32_t *)at ? "t" : "n");
		break;
	case TK_KEY_DIRECTION:
		tk_buf_add_str(b, *(const int32_t *)at ? "bwd" : "fwd");
		break;
	case TK_KEY_CACHE:
		tk_buf_add_printf(b, "l%u", *(const uint32_t *)at);
		break;
	case TK_KEY_DIST:
		if (p->dist == TK_DIST_TEXT)
			tk_buf_add_printf(b, TEXT_PREFIX "%s", p->dist_text);
		else
			tk_buf_add_str(b, dists[p->dist]);
		break;
	case TK_KEY_SCALE:
		write_number(*(const double *)at, number, sizeof number);
		tk_buf_add_str(b, number);
		break;
	}
}

static int write_text(
        struct tk_problem_spec *p, const struct tk_problem_op *op, struct tk_error *err)
{
	AUTO(tk_buf) b = TK_BUF_INIT;
	int status;

	tk_buf_add_printf(&b, "%s:", op->word);
	for (const struct tk_problem_key *k = op->keys, *first = NULL; k->name; k++) {
		if (k->quiet && tk_problem_has_default(p, op, k))
			continue;
		tk_buf_add_printf(&b, "%s%s=", first ? "," : "", k->name);
		tk_problem_write_value(&b, p, k);
		first = k;
	}
	status = tk_buf_status(&b, err);
	if (!status && b.len >= sizeof p->text)
		status = tk_fail(err, TK_EDATA,
		        "%s: the canonical text has %zu bytes, expected fewer than %zu", op->word,
		        b.len, sizeof p->text);
	if (!status)
		memcpy(p->text, tk_buf_cstr(&b), b.len + 1);
	return status;
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
	TRY(tk_problem_title_to_keys(title, &keys)
	                ? tk_buf_status(&keys, err)
	                : tk_fail(err, TK_EDATA,
	                          "\"%s\" is not a problem, expected op:key=value,... or a "
	                          "title such as \"gemm bf16 512x512x512 nn\"",
	                          shown(title, strlen(title)).text));
	return tk_problem_parse(out, tk_buf_cstr(&keys), err);
}

/* The colon after the op. NULL: there is none, as in a title, which may have "text:NAME" in it. */
static const char *find_colon(const char *text)
{
	const char *colon = strchr(text, ':');
	struct span op = trimmed(text, colon ? (size_t)(colon - text) : 0);

	return op.len && (memchr(op.at, ' ', op.len) || memchr(op.at, '\t', op.len)) ? NULL : colon;
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
	const char *colon = find_colon(text);
	const struct tk_problem_op *op = NULL;
	struct tk_tensor tensors[TK_T_MAX];
	struct tk_problem_spec p = {0};
	uint32_t count;
	int status;

	if (!colon)
		return parse_title(out, text, err);
	TRY(find_op(trimmed(text, (size_t)(colon - text)), &op, err));
	for (const struct tk_problem_key *k = op->keys; k->name; k++)
		set_fallback(&p, op, k);
	link_parts(&p, op->id);
	TRY(read_pairs(&p, op, colon + 1, err));
	op->derive(&p);
	status = op->check ? op->check(&p, err) : TK_OK;
	if (!status)
		status = tk_problem_list_tensors(&p, tensors, &count, err);
	if (!status)
		status = check_offset(&p, tensors, count, err);
	if (!status)
		status = write_text(&p, op, err);
	if (status)
		return status;
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
