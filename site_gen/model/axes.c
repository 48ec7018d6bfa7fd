/* Reads the canonical text of a problem. */
#include "site_gen/model/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "store/store.h"

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

double tk_problem_text_number(const char *text, const char *key)
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
		double m = tk_problem_text_number(p->text, "m"),
		       n = tk_problem_text_number(p->text, "n"),
		       k = tk_problem_text_number(p->text, "k");
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
	double length = tk_problem_text_number(p->text, ops[i].length),
	       batch = tk_problem_text_number(p->text, "b");
	bool twin = tk_problem_text_number(p->text, ops[i].twin) == length;
	collect_rest(out, p->text,
	        (const char *const[]){ops[i].length, "b", twin ? ops[i].twin : ""}, 3);
	snprintf(out->row, sizeof out->row, "%s", whole(length, first));
	snprintf(out->column, sizeof out->column, "%.20s", whole(batch, first));
	snprintf(out->sweep, sizeof out->sweep, "%s", out->rest);
	out->row_order = out->x = length;
	out->column_order = batch;
	return length > 0;
}
