/* Analyses stored nights again: after an import, after a merge, after the thresholds changed. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "decide/night.h"

#define DAY_S INT64_C(86400)

struct replay {
	struct tk_store *store;
	struct tk_detect_options options;
	const struct tk_detect_replay *what;
	struct tk_rows machines, nights;
	const struct tk_night_row **chosen; /* oldest first */
	size_t count;
};

static int by_time(const void *a, const void *b)
{
	const struct tk_night_row *x = *(const struct tk_night_row *const *)a,
	                          *y = *(const struct tk_night_row *const *)b;

	if (x->as_of_s != y->as_of_s)
		return x->as_of_s < y->as_of_s ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static bool is_analysed(const struct tk_night_row *n)
{
	return n->kind != TK_NIGHT_RUN && n->status != TK_NIGHT_RUNNING;
}

/* Chooses the nights of one machine. False: none. */
static bool choose(struct replay *p, int64_t machine_id)
{
	int64_t since_s = p->what->since_s, newest_s = INT64_MIN;
	size_t before = p->count;

	for (size_t i = 0; i < p->nights.count; i++) {
		const struct tk_night_row *n = TK_ROWS_AT(&p->nights, struct tk_night_row, i);

		if (n->machine_id == machine_id && is_analysed(n) && n->as_of_s > newest_s)
			newest_s = n->as_of_s;
	}
	if (newest_s == INT64_MIN)
		return false;
	if (!since_s)
		since_s = newest_s - p->what->days * DAY_S;
	for (size_t i = 0; i < p->nights.count; i++) {
		const struct tk_night_row *n = TK_ROWS_AT(&p->nights, struct tk_night_row, i);

		if (n->machine_id == machine_id && is_analysed(n) && n->as_of_s >= since_s)
			p->chosen[p->count++] = n;
	}
	return p->count > before;
}

static int read_nights(struct replay *p, struct tk_detect_replay_counts *out, struct tk_error *err)
{
	int status = tk_store_list(p->store, TK_TABLE_machine, NULL, TK_NO_ARGS, &p->machines, err);

	if (!status)
		status = tk_store_list(p->store, TK_TABLE_night, NULL, TK_NO_ARGS, &p->nights, err);
	if (status)
		return status;
	p->chosen = tk_calloc(p->nights.count + 1, sizeof(*p->chosen));
	for (size_t i = 0; i < p->machines.count; i++)
		out->machines += choose(p, TK_ROWS_AT(&p->machines, struct tk_machine_row, i)->id);
	out->nights = p->count;
	if (p->count)
		qsort(p->chosen, p->count, sizeof(*p->chosen), by_time);
	return TK_OK;
}

/* Resets the monitor of all devices: the first of these nights rebuilds it from the nights
 * before. */
static int reset_monitors(struct replay *p, struct tk_error *err)
{
	struct tk_rows devices = {0};
	int status = tk_store_list(p->store, TK_TABLE_device, NULL, TK_NO_ARGS, &devices, err);

	if (!status)
		status = tk_store_begin(p->store, err);
	if (status)
		return status;
	for (size_t i = 0; !status && i < devices.count; i++)
		status = tk_store_reset_monitor(p->store,
		        TK_ROWS_AT(&devices, struct tk_device_row, i)->id, INT64_MIN, err);
	tk_rows_free(&devices);
	if (!status)
		return tk_store_commit(p->store, err);
	tk_store_rollback(p->store);
	return status;
}

/* Without them, after a replay that was interrupted, the next night rebuilds its monitors. */
static int store_monitors(
        struct replay *p, const struct tk_replay_memory *memory, struct tk_error *err)
{
	int status = tk_store_begin(p->store, err);

	if (status)
		return status;
	status = tk_kept_monitors_store(&memory->monitors, p->store, err);
	if (!status)
		return tk_store_commit(p->store, err);
	tk_store_rollback(p->store);
	return status;
}

static int run_nights(struct replay *p, struct tk_detect_replay_counts *out, struct tk_error *err)
{
	struct tk_replay_memory memory = {.reader = tk_point_reader_new()};
	int status = memory.reader
	                     ? tk_catalog_load(p->store, &memory.catalog, err)
	                     : tk_fail(err, TK_ENOMEM, "out of memory while reading the history");

	for (size_t i = 0; !status && i < p->count; i++) {
		struct tk_diff_report report = {0};

		p->options.now_s = p->chosen[i]->as_of_s;
		status = tk_detect_replay_night(
		        p->store, p->chosen[i]->id, &p->options, &memory, &report, err);
		for (size_t k = 0; k < TK_VERDICT_STATUS_COUNT; k++)
			out->by_status[k] += report.by_status[k];
		tk_diff_report_free(&report);
		if (p->what->progress)
			p->what->progress(p->what->context, i + 1, p->count);
	}
	if (!status)
		status = store_monitors(p, &memory, err);
	tk_kept_monitors_free(&memory.monitors);
	tk_point_reader_free(memory.reader);
	tk_catalog_free(&memory.catalog);
	return status;
}

static int find_change_points(
        struct replay *p, struct tk_detect_replay_counts *out, struct tk_error *err)
{
	struct tk_catalog catalog;
	int status = tk_catalog_load(p->store, &catalog, err);

	if (!status) {
		status = tk_store_begin(p->store, err);
		if (status)
			tk_catalog_free(&catalog);
	}
	if (status)
		return status;
	status = tk_detect_all_change_points(p->store, &catalog, p->options.min_effect, err);
	out->series = catalog.series.rows.count;
	tk_catalog_free(&catalog);
	if (!status)
		return tk_store_commit(p->store, err);
	tk_store_rollback(p->store);
	return status;
}

int tk_detect_replay(struct tk_store *s, const struct tk_detect_options *options,
        const struct tk_detect_replay *what, struct tk_detect_replay_counts *out,
        struct tk_error *err)
{
	struct replay p = {.store = s, .options = *options, .what = what};
	struct tk_kept_threads threads;
	int status;

	*out = (struct tk_detect_replay_counts){0};
	tk_parallel_keep_threads(&threads);
	status = read_nights(&p, out, err);
	if (!status)
		status = reset_monitors(&p, err);
	if (!status)
		status = run_nights(&p, out, err);
	if (!status)
		status = find_change_points(&p, out, err);
	tk_parallel_end_threads(&threads);
	free(p.chosen);
	tk_rows_free(&p.machines);
	tk_rows_free(&p.nights);
	return status;
}
