/* The title of a problem: the short form that tables and pages print, and every command reads back.
 * A title says everything that differs from the defaults, so both directions are exact. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "core/problem_keys.h"

const char *const tk_problem_dists[] = {"normal", "uniform", "trig", "zeros", "outliers", NULL};

/* ---- writing ---- */

static void title_gemm(struct tk_buf *b, const struct tk_gemm *g)
{
	if (g->b != g->a)
		tk_buf_add_printf(b, "*%s", tk_dtype_name(g->b));
	if (g->c != g->a && !(g->a == TK_TF32 && g->c == TK_F32))
		tk_buf_add_printf(b, "/%s", tk_dtype_name(g->c));
	if (g->acc != (g->a == TK_F64 ? TK_F64 : TK_F32))
		tk_buf_add_printf(b, " acc %s", tk_dtype_name(g->acc));
	tk_buf_add_printf(b, " %lldx%lldx%lld %c%c", (long long)g->m, (long long)g->n,
	        (long long)g->k, g->ta ? 't' : 'n', g->tb ? 't' : 'n');
	if (g->batch != 1)
		tk_buf_add_printf(b, " x%lld", (long long)g->batch);
}

static void title_heads(struct tk_buf *b, int64_t batch, int64_t h, int64_t hkv)
{
	tk_buf_add_printf(b, " B%lld H%lld", (long long)batch, (long long)h);
	if (hkv != h)
		tk_buf_add_printf(b, "/%lld", (long long)hkv);
}

static void title_attention(struct tk_buf *b, const struct tk_problem_spec *p)
{
	const struct tk_attention *a = &p->attention;

	title_heads(b, a->b, a->h, a->hkv);
	tk_buf_add_printf(b, " S%lld", (long long)a->sq);
	if (a->skv != a->sq)
		tk_buf_add_printf(b, "x%lld", (long long)a->skv);
	tk_buf_add_printf(b, " D%lld", (long long)a->d);
	if (a->dv != a->d)
		tk_buf_add_printf(b, "/%lld", (long long)a->dv);
	tk_buf_add_str(b, a->causal ? " causal" : "");
	tk_buf_add_str(b, a->dir == TK_BWD ? " bwd" : "");
}

static void title_nsa(struct tk_buf *b, const struct tk_nsa *a)
{
	title_heads(b, a->b, a->h, a->hkv);
	tk_buf_add_printf(b, " S%lld D%lld %lldx%lld", (long long)a->s, (long long)a->d,
	        (long long)a->selected_blocks, (long long)a->block_size);
	if (a->window)
		tk_buf_add_printf(b, " window %lld", (long long)a->window);
	tk_buf_add_str(b, a->causal ? " causal" : "");
}

static void title_scale(struct tk_buf *b, double scale, bool quiet)
{
	char number[40];

	if (quiet)
		return;
	tk_problem_write_number(scale, number, sizeof number);
	tk_buf_add_printf(b, " scale %s", number);
}

void tk_problem_format_title(const struct tk_problem_spec *p, char *out, size_t size)
{
	struct tk_buf b = TK_BUF_INIT;

	tk_buf_add_printf(&b, "%s %s", tk_problem_op_name(p), tk_problem_dtype_name(p));
	switch (p->abi.op) {
	case TK_OP_GEMM:
		title_gemm(&b, &p->gemm);
		break;
	case TK_OP_ATTENTION:
		title_attention(&b, p);
		title_scale(&b, p->attention.scale,
		        p->attention.scale == 1.0 / sqrt((double)p->attention.d));
		break;
	case TK_OP_NSA:
		title_nsa(&b, &p->nsa);
		title_scale(&b, p->nsa.scale, p->nsa.scale == 1.0 / sqrt((double)p->nsa.d));
		break;
	case TK_OP_FMA:
		tk_buf_add_printf(&b, " %lld", (long long)p->ceiling.bytes);
		break;
	default:
		if (p->ceiling.cache)
			tk_buf_add_printf(&b, " l%u", p->ceiling.cache);
		tk_buf_add_printf(&b, " %lld B", (long long)p->ceiling.bytes);
		if (p->ceiling.passes > 1)
			tk_buf_add_printf(&b, " x%lld", (long long)p->ceiling.passes);
	}
	if (p->dist == TK_DIST_TEXT)
		tk_buf_add_printf(&b, " text:%s", p->dist_text);
	else if (p->dist != TK_DIST_NORMAL)
		tk_buf_add_printf(&b, " %s", tk_problem_dists[p->dist]);
	if (p->offset)
		tk_buf_add_printf(&b, " offset %lld", (long long)p->offset);
	if (p->pad)
		tk_buf_add_printf(&b, " pad %lld", (long long)p->pad);
	snprintf(out, size, "%s", tk_buf_cstr(&b));
	tk_buf_free(&b);
}

/* ---- reading ---- */

#define TITLE_MAX 256
#define WORDS_MAX 24

struct words {
	char text[TITLE_MAX];
	const char *at[WORDS_MAX];
	size_t count, next;
};

static bool split(const char *title, struct words *w)
{
	char *rest = w->text, *word;

	*w = (struct words){.count = 0};
	if (strlen(title) >= sizeof w->text)
		return false;
	strcpy(w->text, title);
	while ((word = strsep(&rest, " \t")) != NULL) {
		if (*word && w->count == WORDS_MAX)
			return false;
		if (*word)
			w->at[w->count++] = word;
	}
	return w->count >= 2;
}

/* The next word; "": there is none. */
static const char *take(struct words *w)
{
	return w->next < w->count ? w->at[w->next++] : "";
}

/* "B4", "H16/2", "S128x256", "4096x512x64": numbers after `lead`, separated by `separator`. The
 * number of keys that there are numbers for; 0: it is not such a word. */
static size_t add_numbers(const char *word, const char *lead, char separator,
        const char *const *keys, struct tk_buf *out)
{
	size_t n = 0, len = strlen(lead);
	struct tk_buf b = TK_BUF_INIT;
	const char *at = word + len;

	if (strncmp(word, lead, len) != 0)
		return 0;
	for (; keys[n] && isdigit((unsigned char)*at); n++) {
		const size_t digits = strspn(at, "0123456789");

		tk_buf_add_printf(&b, ",%s=%.*s", keys[n], (int)digits, at);
		at += digits;
		if (*at != separator || !keys[n + 1])
			break;
		at++;
	}
	n = *at || !b.len ? 0 : n + 1;
	if (n)
		tk_buf_add(out, b.data, b.len);
	tk_buf_free(&b);
	return n;
}

static bool add_named(
        struct words *w, const char *word, const char *name, const char *key, struct tk_buf *out)
{
	if (strcmp(word, name) != 0)
		return false;
	tk_buf_add_printf(out, ",%s=%s", key, take(w));
	return true;
}

/* What every op has: a distribution, "text:NAME", or "offset 4". */
static bool add_common(struct words *w, const char *word, struct tk_buf *out)
{
	if (strncmp(word, "text:", 5) == 0) {
		tk_buf_add_printf(out, ",dist=%s", word);
		return true;
	}
	if (add_named(w, word, "offset", "offset", out))
		return true;
	for (size_t i = 0; tk_problem_dists[i]; i++)
		if (strcmp(word, tk_problem_dists[i]) == 0) {
			tk_buf_add_printf(out, ",dist=%s", word);
			return true;
		}
	return false;
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

static bool read_gemm(struct words *w, struct tk_buf *out)
{
	static const char *const sizes[] = {"m", "n", "k", NULL}, *const batch[] = {"batch", NULL};
	const char *word;

	read_gemm_types(take(w), out);
	while (*(word = take(w)))
		if (strlen(word) == 2 && strspn(word, "nt") == 2)
			tk_buf_add_printf(out, ",ta=%c,tb=%c", word[0], word[1]);
		else if (add_numbers(word, "", 'x', sizes, out) != 3 &&
		         !add_numbers(word, "x", 0, batch, out) &&
		         !add_named(w, word, "acc", "acc", out) &&
		         !add_named(w, word, "pad", "pad", out) && !add_common(w, word, out))
			return false;
	return true;
}

static bool read_attention(struct words *w, bool is_nsa, struct tk_buf *out)
{
	static const char *const b[] = {"b", NULL}, *const h[] = {"h", "hkv", NULL},
	                         *const s[] = {"sq", "skv", NULL}, *const s_nsa[] = {"s", NULL},
	                         *const d[] = {"d", "dv", NULL}, *const d_nsa[] = {"d", NULL},
	                         *const blocks[] = {"selected_blocks", "block_size", NULL};
	const char *word;
	bool causal = false;

	tk_buf_add_printf(out, "dtype=%s", take(w));
	while (*(word = take(w)))
		if (strcmp(word, "causal") == 0)
			causal = true;
		else if (!is_nsa && strcmp(word, "bwd") == 0)
			tk_buf_add_str(out, ",dir=bwd");
		else if (!add_numbers(word, "B", 0, b, out) &&
		         !add_numbers(word, "H", '/', h, out) &&
		         !add_numbers(word, "S", 'x', is_nsa ? s_nsa : s, out) &&
		         !add_numbers(word, "D", '/', is_nsa ? d_nsa : d, out) &&
		         !(is_nsa && add_numbers(word, "", 'x', blocks, out) == 2) &&
		         !(is_nsa && add_named(w, word, "window", "window", out)) &&
		         !add_named(w, word, "scale", "scale", out) && !add_common(w, word, out))
			return false;
	tk_buf_add_printf(out, ",causal=%d", causal);
	return true;
}

static bool read_ceiling(struct words *w, const char *size_key, struct tk_buf *out)
{
	const char *const size[] = {size_key, NULL}, *const passes[] = {"passes", NULL};
	const char *word;

	tk_buf_add_printf(out, "dtype=%s", take(w));
	while (*(word = take(w)))
		if (word[0] == 'l' && isdigit((unsigned char)word[1]))
			tk_buf_add_printf(out, ",cache=%s", word);
		else if (strcmp(word, "B") != 0 && !add_numbers(word, "", 0, size, out) &&
		         !add_numbers(word, "x", 0, passes, out) && !add_common(w, word, out))
			return false;
	return true;
}

bool tk_problem_title_to_keys(const char *title, struct tk_buf *out)
{
	struct words w;

	if (!split(title, &w))
		return false;
	const char *op = take(&w);

	tk_buf_add_printf(out, "%s:", op);
	if (strcmp(op, "gemm") == 0)
		return read_gemm(&w, out);
	if (strcmp(op, "attention") == 0 || strcmp(op, "nsa") == 0)
		return read_attention(&w, *op == 'n', out);
	return read_ceiling(&w, strcmp(op, "fma") == 0 ? "count" : "bytes", out);
}
