/* See kernel_report.h. */
#include "core/kernel_report.h"

#include <math.h>

#include "base/base.h"

#define NUMBER_MAX 1e15
#define NAME_SIZE 49
#define TINY_NS 0.05

/* Values of a stored result, which another program may have written. */
static double read_number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	double number = json_is_number(v) ? json_number_value(v) : NAN;
	return fabs(number) <= NUMBER_MAX ? number : NAN;
}

/* Values of a stored result, which another program may have written. */
static const char *read_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));
	return text ? text : "";
}

static const json_t *find_region(const json_t *kernel, const char *name)
{
	const json_t *regions = json_object_get(kernel, "regions");
	for (size_t i = 0; *name && i < json_array_size(regions); i++)
		if (!strcmp(read_text(json_array_get(regions, i), "name"), name))
			return json_array_get(regions, i);
	return NULL;
}

static const char *format_change(
        const json_t *region, const char *key, char out[TK_FORMAT_SIZE + 1])
{
	char size[TK_FORMAT_SIZE];
	double ns = read_number(json_object_get(region, key), "change_ns");
	snprintf(out, TK_FORMAT_SIZE + 1, "%s%s", ns < 0 ? "-" : "+",
	        tk_format_value(fabs(ns), "ns", size));
	return out;
}

void tk_kernel_change_read(const json_t *kernel, struct tk_kernel_change *out)
{
	const json_t *change = json_object_get(kernel, "change");
	const char *cause = read_text(kernel, "cause");
	const json_t *region = find_region(kernel, cause);
	char name[NAME_SIZE], own[TK_FORMAT_SIZE + 1], exposed[TK_FORMAT_SIZE + 1];
	*out = (struct tk_kernel_change){.base_ns = read_number(change, "base_ns"),
	        .head_ns = read_number(change, "head_ns")};
	tk_text_copy_line(out->kernel, sizeof out->kernel, read_text(kernel, "name"));
	double share = read_number(change, "change_ns") / out->base_ns;
	if (!json_is_true(json_object_get(change, "changed")) || !isfinite(share))
		return;
	out->share = share;
	if (!region)
		return;
	tk_text_copy_line(name, sizeof name, cause);
	format_change(region, "change", own);
	if (fabs(read_number(json_object_get(region, "exposed_change"), "change_ns")) < TINY_NS)
		snprintf(out->cause, sizeof out->cause, "%s %s, none of it exposed", name, own);
	else
		snprintf(out->cause, sizeof out->cause, "%s %s, of which %s are exposed", name, own,
		        format_change(region, "exposed_change", exposed));
}

const char *tk_kernel_change_format(
        const struct tk_kernel_change *c, char out[TK_KERNEL_CHANGE_SIZE])
{
	char a[TK_FORMAT_SIZE], b[TK_FORMAT_SIZE];
	if (c->share == 0)
		snprintf(out, TK_KERNEL_CHANGE_SIZE, "%s: no change of its time (%s against %s)",
		        c->kernel, tk_format_value(c->head_ns, "ns", a),
		        tk_format_value(c->base_ns, "ns", b));
	else
		snprintf(out, TK_KERNEL_CHANGE_SIZE, "%s: %s %s%s%s", c->kernel,
		        tk_format_percent(fabs(c->share), a), c->share > 0 ? "slower" : "faster",
		        *c->cause ? "; " : "", c->cause);
	return out;
}

const char *tk_kernel_report_summarize(const char *result, char out[TK_KERNEL_CHANGE_SIZE])
{
	json_t *root = json_loads(result, 0, NULL);
	const json_t *kernels = json_object_get(root, "kernels");
	double largest = -1;
	out[0] = '\0';
	for (size_t i = 0; i < json_array_size(kernels); i++) {
		struct tk_kernel_change c;
		tk_kernel_change_read(json_array_get(kernels, i), &c);
		double change_ns = fabs(c.share) * c.base_ns;
		if (!(change_ns > largest))
			continue;
		largest = change_ns;
		tk_kernel_change_format(&c, out);
	}
	json_decref(root);
	return out;
}
