/* See rotation.h. */
#include "nightly/plan/rotation.h"
#include "base/error.h"
#include "core/night.h"
#include "nightly/night.h"
#include "nightly/plan/share.h"
#include "store/store.h"
#include "suite/rotation.h"

/* Nights of this machine that completed before. One that was killed, or of one upstream alone, does
 * not use up a turn. Of a split night, which part counts does not matter, as long as it is the same
 * in all parts: the other parts of this night may have been merged already. */
static int count_nights(struct tk_night *n, uint64_t *out, struct tk_error *err)
{
	struct tk_rows nights = {0};
	struct tk_night_tally count = {0};
	int status = tk_store_list(n->store, TK_TABLE_night, NULL, TK_NO_ARGS, &nights, err);
	for (size_t i = 0; !status && i < nights.count; i++) {
		const struct tk_night_row *row = TK_ROWS_AT(&nights, struct tk_night_row, i);
		bool has_ended =
		        row->status == TK_NIGHT_COMPLETE || row->status == TK_NIGHT_INCOMPLETE;
		if (row->machine_id == n->machine_id && row->id != n->night_id &&
		        row->kind == TK_NIGHT_NIGHTLY && has_ended)
			tk_night_tally_add(&count, tk_night_read_coverage(row->summary));
	}
	tk_rows_free(&nights);
	if (!status)
		*out = n->options->part ? count.whole + count.of_part[n->options->part]
		                        : tk_night_tally_total(&count);
	return status;
}

static bool has_device(const struct tk_night *n, int64_t device_id)
{
	for (size_t d = 0; d < n->device_count; d++)
		if (n->devices[d].device_id == device_id)
			return true;
	return false;
}

static const struct tk_plan_problem *find_problem(
        const struct tk_plan_problem *problems, size_t count, int64_t id)
{
	for (size_t i = 0; i < count; i++)
		if (problems[i].id == id)
			return &problems[i];
	return NULL;
}

static int update_series(struct tk_night *n, const struct tk_plan_problem *problems, size_t count,
        struct tk_error *err)
{
	struct tk_rows series = {0};
	int status = tk_store_list(n->store, TK_TABLE_series, NULL, TK_NO_ARGS, &series, err);
	for (size_t i = 0; !status && i < series.count; i++) {
		struct tk_series_row row = *TK_ROWS_AT(&series, struct tk_series_row, i);
		const struct tk_plan_problem *p = find_problem(problems, count, row.problem_id);
		int64_t id;
		if (!p || row.role != TK_ROLE_SUITE || !has_device(n, row.device_id) ||
		        row.rotate_nights == p->rotate_nights)
			continue;
		row.rotate_nights = p->rotate_nights;
		status = tk_store_put(n->store, TK_TABLE_series, &row, &id, err);
	}
	tk_rows_free(&series);
	return status;
}

int tk_plan_rotate(
        struct tk_night *n, struct tk_plan_problem *problems, size_t *count, struct tk_error *err)
{
	uint64_t number = 0;
	size_t kept = 0;
	int status = update_series(n, problems, *count, err);
	if (!status)
		status = count_nights(n, &number, err);
	if (status)
		return status;
	for (size_t i = 0; i < *count; i++)
		if (tk_rotation_is_due(problems[i].rotation_key, problems[i].rotate_nights, number))
			problems[kept++] = problems[i];
	*count = kept;
	return TK_OK;
}
