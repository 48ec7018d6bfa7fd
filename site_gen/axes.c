/* Reading the canonical text of a problem. */
#include "site_gen/axes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"

static const struct {
	const char *op;
	struct tk_axes_names names;
	const char *length, *twin; /* twin: is left out where it is as long */
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

/* The number of a key of "op:key=value,..."; 0: not there. */
static double number_of(const char *text, const char *key)
{
	size_t len = strlen(key);
	for (const char *p = strchr(text, ':'); p && len; p = strchr(p + 1, ','))
		if (!strncmp(p + 1, key, len) && p[1 + len] == '=')
			return strtod(p + 2 + len, NULL);
	return 0;
}

static bool is_key(const char *pair, size_t pair_len, const char *key)
{
	size_t len = strlen(key);
	return len && pair_len > len && pair[len] == '=' && !strncmp(pair, key, len);
}

/* All pairs but those of the axes. */
static void collect_rest(struct tk_axes *out, const char *text, const char *const *axes, size_t count)
{
	size_t used = 0;
	for (const char *p = strchr(text, ':'); p; p = strchr(p + 1, ',')) {
		size_t len = strcspn(p + 1, ",");
		bool is_axis = false;
		for (size_t i = 0; i < count; i++)
			is_axis = is_axis || is_key(p + 1, len, axes[i]);
		if (is_axis || used + len + 2 > sizeof out->rest)
			continue;
		used += (size_t)snprintf(
		        out->rest + used, sizeof out->rest - used, "%s%.*s", used ? " " : "", (int)len, p + 1);
	}
}

bool tk_axes_of(const struct tk_problem_row *p, struct tk_axes *out)
{
	size_t i = op_index(p->op);
	*out = (struct tk_axes){0};
	if (i == sizeof ops / sizeof *ops)
		return false;
	if (!*ops[i].length) {
		double m = number_of(p->text, "m"), n = number_of(p->text, "n"), k = number_of(p->text, "k");
		collect_rest(out, p->text, (const char *const[]){"m", "n", "k"}, 3);
		snprintf(out->row, sizeof out->row, "%.0f × %.0f", n, k);
		snprintf(out->column, sizeof out->column, "%.0f", m);
		out->row_order = n * 1e7 + k;
		out->column_order = m;
		out->x = m;
		if (m == n && n == k)
			snprintf(out->sweep, sizeof out->sweep, "m = n = k %s", out->rest);
		else
			snprintf(out->sweep, sizeof out->sweep, "n=%.0f k=%.0f %s", n, k, out->rest);
		return m > 0;
	}
	double length = number_of(p->text, ops[i].length), batch = number_of(p->text, "b");
	bool twin = number_of(p->text, ops[i].twin) == length;
	collect_rest(out, p->text, (const char *const[]){ops[i].length, "b", twin ? ops[i].twin : ""}, 3);
	snprintf(out->row, sizeof out->row, "%.0f", length);
	snprintf(out->column, sizeof out->column, "%.0f", batch);
	snprintf(out->sweep, sizeof out->sweep, "%s", out->rest);
	out->row_order = out->x = length;
	out->column_order = batch;
	return length > 0;
}
