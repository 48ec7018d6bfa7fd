/* Names of kernels and lists of instructions, taken apart: see code_facts.h. */
#include "store/query/code_facts.h"

#include "core/verdict.h"

#include <inttypes.h>

const struct tk_code_fact tk_code_facts[TK_CODE_FACT_COUNT] = {
        {"registers", "Registers", "registers", "", offsetof(struct tk_kernel_row, registers)},
        {"spill_bytes", "Spilled bytes", "spills", " bytes",
                offsetof(struct tk_kernel_row, spill_bytes)},
        {"shared_bytes", "Shared bytes", "shared memory", " bytes",
                offsetof(struct tk_kernel_row, shared_bytes)},
        {"threads", "Threads per block", "threads per block", "",
                offsetof(struct tk_kernel_row, threads)},
        {"occupancy_percent", "Maximum occupancy, %", "maximum occupancy", " %",
                offsetof(struct tk_kernel_row, occupancy_percent)},
};

int64_t tk_code_fact_value(const struct tk_code_fact *fact, const struct tk_kernel_row *k)
{
	return *(const int64_t *)((const char *)k + fact->offset);
}

/* The rest of `s` after `prefix`; NULL if it does not begin with it. */
static const char *after_prefix(const char *s, const char *prefix)
{
	const size_t n = strlen(prefix);

	return strncmp(s, prefix, n) ? NULL : s + n;
}

/* "sm_90 NAME", of a package "sm_90 ENTRY PROBLEM CONFIGURATION"; two equal names get a "#2". */
static bool is_used(const struct tk_kernel_row *k, const struct tk_kernel_use *use)
{
	const char *rest = strchr(k->name, ' ');
	bool is_gpu = after_prefix(k->name, "sm_") || after_prefix(k->name, "gfx");

	if (strcmp(k->backend, use->backend) || !is_gpu || !rest)
		return false;
	rest = strchr(rest + 1, ' ');
	if (!rest)
		return true;
	rest = after_prefix(rest + 1, use->problem);
	rest = rest && *rest == ' ' ? after_prefix(rest + 1, use->config) : NULL;
	return rest && (!*rest || *rest == '#');
}

const struct tk_kernel_row *tk_kernel_rows_next(
        const struct tk_rows *kernels, const struct tk_kernel_use *use, size_t *i)
{
	while (*i < kernels->count) {
		const struct tk_kernel_row *k = TK_ROWS_AT(kernels, struct tk_kernel_row, (*i)++);

		if (is_used(k, use))
			return k;
	}
	return NULL;
}

/* ---- changes ---- */

struct list {
	char *out;
	size_t length;
};

static void add_change(struct list *l, const char *name, size_t name_len, int64_t before,
        int64_t after, const char *unit)
{
	const size_t left = TK_CODE_CHANGE_SIZE - l->length;

	if (before == after)
		return;
	const int n = snprintf(l->out + l->length, left, "%s%.*s %" PRId64 " -> %" PRId64 "%s",
	        l->length ? ", " : "", (int)name_len, name, before, after, unit);
	if (n > 0 && (size_t)n < left)
		l->length += (size_t)n;
	l->out[l->length] = '\0';
}

/* How often an instruction is in "total=816 LDL=143". */
static int64_t count_of(const char *list, const char *name, size_t length)
{
	for (const char *at = list; *at; at += strcspn(at, " "), at += strspn(at, " "))
		if (!strncmp(at, name, length) && at[length] == '=')
			return strtoll(at + length + 1, NULL, 10);
	return 0;
}

/* `list`: whose names are taken. With `gone`, those that `after` no longer has. */
static void add_instructions(
        struct list *l, const char *list, const char *before, const char *after, bool gone)
{
	for (const char *at = list; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
		const size_t length = strcspn(at, "= ");
		const int64_t now = count_of(after, at, length);
		const bool total = length == 5 && !memcmp(at, "total", 5);

		if (!gone || !now)
			add_change(l, total ? "instructions" : at, total ? 12 : length,
			        count_of(before, at, length), now, "");
	}
}

const char *tk_kernel_row_format_change(const struct tk_kernel_row *before,
        const struct tk_kernel_row *after, char out[TK_CODE_CHANGE_SIZE])
{
	struct list l = {out, 0};

	out[0] = '\0';
	for (size_t i = 0; i < TK_CODE_FACT_COUNT; i++) {
		const struct tk_code_fact *f = &tk_code_facts[i];
		const int64_t was = tk_code_fact_value(f, before),
		              is = tk_code_fact_value(f, after);

		if (was >= 0 && is >= 0)
			add_change(&l, f->name, strlen(f->name), was, is, f->unit);
	}
	if (*before->instructions && *after->instructions) {
		add_instructions(
		        &l, before->instructions, before->instructions, after->instructions, true);
		add_instructions(
		        &l, after->instructions, before->instructions, after->instructions, false);
	}
	return out;
}

/* ---- of an alert ---- */

int tk_store_find_code_change(struct tk_store *s, const struct tk_alert_row *alert,
        char out[TK_CODE_CHANGE_SIZE], struct tk_error *err)
{
	const int64_t night_id =
	        alert->verdict_night_id ? alert->verdict_night_id : alert->night_id;
	struct tk_rows rows = {0};
	int status = tk_store_find_verdict(s, night_id, alert->series_id, &rows, err);

	out[0] = '\0';
	for (size_t i = 0; !status && i < rows.count; i++) {
		const struct tk_fact *fact;
		struct tk_verdict v;

		tk_verdict_init(&v);
		tk_verdict_facts_read(TK_ROWS_AT(&rows, struct tk_verdict_row, i)->facts, &v);
		fact = tk_verdict_find_fact(&v, TK_FACT_CODE_CHANGE);
		snprintf(out, TK_CODE_CHANGE_SIZE, "%s", fact ? tk_fact_text(&v, fact) : "");
	}
	tk_rows_free(&rows);
	return status;
}
