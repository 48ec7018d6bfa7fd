/* The title of a problem: the short form that tables and pages print, and every command reads back.
 * A title says everything that differs from the defaults, so both directions are exact. */
#include <ctype.h>

#include "base/base.h"
#include "core/problem_internal.h"

static const struct tk_problem_op *find_op(const char *word)
{
	const struct tk_problem_op *op = tk_problem_ops;

	while (op->word && strcmp(op->word, word) != 0)
		op++;
	return op;
}

static size_t count_keys(const struct tk_title_word *w)
{
	size_t n = 0;

	while (n < 3 && w->keys[n])
		n++;
	return n;
}

/* ---- writing ---- */

static void write_gemm_types(struct tk_buf *b, const struct tk_gemm *g)
{
	if (g->b != g->a)
		tk_buf_add_printf(b, "*%s", tk_dtype_name(g->b));
	if (g->c != g->a && !(g->a == TK_TF32 && g->c == TK_F32))
		tk_buf_add_printf(b, "/%s", tk_dtype_name(g->c));
}

/* Values of the keys: the first one and those that the kind of word wants. */
static void write_numbers(struct tk_buf *b, const struct tk_problem_spec *p,
        const struct tk_problem_op *op, const struct tk_title_word *w)
{
	for (size_t i = 0; i < count_keys(w); i++) {
		const struct tk_problem_key *key = tk_problem_find_key(op, w->keys[i]);

		if (i && w->kind == TK_TITLE_NUMBERS && tk_problem_has_default(p, op, key))
			continue;
		if (i)
			tk_buf_add_char(b, w->separator);
		tk_problem_write_value(b, p, key);
	}
}

static void write_word(struct tk_buf *b, const struct tk_problem_spec *p,
        const struct tk_problem_op *op, const struct tk_title_word *w)
{
	const struct tk_problem_key *key = w->keys[0] ? tk_problem_find_key(op, w->keys[0]) : NULL;

	if (w->kind == TK_TITLE_FLAG ? !*(const int32_t *)((const char *)p + key->offset)
	                             : key && key->fallback && w->kind < TK_TITLE_FLAG &&
	                                       w->kind != TK_TITLE_ALL_NUMBERS &&
	                                       tk_problem_has_default(p, op, key))
		return;
	tk_buf_add_printf(b, " %s", w->lead ? w->lead : "");
	if (w->kind == TK_TITLE_NAMED)
		tk_buf_add_char(b, ' ');
	if (w->kind == TK_TITLE_TRANSPOSES)
		tk_buf_add_printf(b, "%c%c", p->gemm.ta ? 't' : 'n', p->gemm.tb ? 't' : 'n');
	else if (w->kind < TK_TITLE_FLAG)
		write_numbers(b, p, op, w);
}

void tk_problem_format_title(const struct tk_problem_spec *p, char *out, size_t size)
{
	const struct tk_problem_op *op = find_op(tk_problem_op_name(p));
	struct tk_buf b = TK_BUF_INIT;

	tk_buf_add_printf(&b, "%s %s", tk_problem_op_name(p), tk_problem_dtype_name(p));
	if (p->abi.op == TK_OP_GEMM)
		write_gemm_types(&b, &p->gemm);
	for (const struct tk_title_word *w = op->title; w && w->kind; w++)
		write_word(&b, p, op, w);
	snprintf(out, size, "%s", tk_buf_cstr(&b));
	tk_buf_free(&b);
}

/* ---- reading ---- */

#define TITLE_MAX 256

/* The next word of *rest, which is cut up; "": there is none. */
static const char *take(char **rest)
{
	char *word = NULL;

	while (*rest && !*(word = strsep(rest, " \t")))
		;
	return word ? word : "";
}

/* "B4", "H16/2", "S128x256", "4096x512x64": false if it is not such a word. */
static bool read_numbers(const char *word, const struct tk_title_word *w, struct tk_buf *out)
{
	const size_t most = count_keys(w), len = strlen(w->lead);
	const char *at = word + len;
	size_t n = 0;

	if (strncmp(word, w->lead, len) != 0)
		return false;
	for (bool more = true; more && n < most && isdigit((unsigned char)*at); n++) {
		at += strspn(at, "0123456789");
		more = w->separator && *at == w->separator;
		at += more;
	}
	if (!n || *at || !isdigit((unsigned char)at[-1]) ||
	        (w->kind == TK_TITLE_ALL_NUMBERS && n < most))
		return false;
	at = word + len;
	for (size_t i = 0; i < n; i++) {
		const size_t digits = strspn(at, "0123456789");

		tk_buf_add_printf(out, ",%s=%.*s", w->keys[i], (int)digits, at);
		at += digits + 1;
	}
	return true;
}

/* Whether the word is `w`, whose keys are added then. */
static bool read_word(const struct tk_problem_op *op, const struct tk_title_word *w,
        const char *word, char **rest, struct tk_buf *out)
{
	const struct tk_problem_key *key;
	struct tk_problem_spec scratch;
	bool is = false;

	switch (w->kind) {
	case TK_TITLE_NUMBERS:
	case TK_TITLE_ALL_NUMBERS:
		return read_numbers(word, w, out);
	case TK_TITLE_NAMED:
		if ((is = strcmp(word, w->lead) == 0))
			tk_buf_add_printf(out, ",%s=%s", w->keys[0], take(rest));
		break;
	case TK_TITLE_VALUE:
		key = tk_problem_find_key(op, w->keys[0]);
		is = (key->kind == TK_KEY_DIST && strncmp(word, "text:", 5) == 0) ||
		     !tk_problem_read_value(op, key, word, &scratch, NULL);
		if (is)
			tk_buf_add_printf(out, ",%s=%s", w->keys[0], word);
		break;
	case TK_TITLE_FLAG:
		if ((is = strcmp(word, w->lead) == 0))
			tk_buf_add_printf(out, ",%s=%s", w->keys[0], w->keys[1]);
		break;
	case TK_TITLE_TRANSPOSES:
		if ((is = strlen(word) == 2 && strspn(word, "nt") == 2))
			tk_buf_add_printf(out, ",ta=%c,tb=%c", word[0], word[1]);
		break;
	case TK_TITLE_UNIT:
		is = strcmp(word, w->lead) == 0;
		break;
	}
	return is;
}

/* "bf16", "bf16*e4m3", "e4m3/f32" */
static void read_gemm_types(const char *word, struct tk_buf *out)
{
	const char *star = strchr(word, '*'), *slash = strchr(word, '/');
	const size_t a_len = strcspn(word, "*/");
	const bool is_tf32 = a_len == 4 && strncmp(word, "tf32", 4) == 0;

	tk_buf_add_printf(out, "a=%.*s", (int)a_len, word);
	if (star)
		tk_buf_add_printf(out, ",b=%.*s", (int)strcspn(star + 1, "/"), star + 1);
	if (slash)
		tk_buf_add_printf(out, ",c=%s", slash + 1);
	else if (is_tf32)
		tk_buf_add_str(out, ",c=f32");
	else
		tk_buf_add_printf(out, ",c=%.*s", (int)a_len, word);
}

bool tk_problem_title_to_keys(const char *title, struct tk_buf *out)
{
	char text[TITLE_MAX], *rest = text;
	uint32_t seen = 0; /* words of the title */
	const struct tk_problem_op *op;
	const char *word;

	snprintf(text, sizeof text, "%s", title);
	word = take(&rest);
	tk_buf_add_printf(out, "%s:", word);
	op = find_op(word);
	word = take(&rest);
	if (!*word || strlen(title) >= sizeof text)
		return false;
	if (!op->word)
		return true; /* reading the keys reports it */
	if (op->id == TK_OP_GEMM)
		read_gemm_types(word, out);
	else
		tk_buf_add_printf(out, "dtype=%s", word);
	while (*(word = take(&rest))) {
		const struct tk_title_word *w = op->title;

		while (w->kind && !read_word(op, w, word, &rest, out))
			w++;
		if (!w->kind)
			return false;
		seen |= 1u << (w - op->title);
	}
	for (const struct tk_title_word *w = op->title; w->kind; w++)
		if (w->kind == TK_TITLE_FLAG && !(seen & 1u << (w - op->title)))
			tk_buf_add_printf(out, ",%s=%s", w->keys[0], w->keys[2]);
	return true;
}
