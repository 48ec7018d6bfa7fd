/* Renames: a series of another tool that ended, and one that began in the next night of the machine
 * with a name and a level alike, are perhaps one. Both rows say so; `tracker series rename` joins
 * them. */
#include <math.h>

#include "decide/internal.h"

#define LEVEL_RATIO_MAX 1.35  /* between the two levels */
#define NAME_LIKENESS_MIN 0.5 /* Dice's coefficient of the pairs of characters */
#define ONLY_LIKENESS_MIN 0.3 /* where one series alone ended */
#define PAIRS_MAX 4000000     /* that are compared */
#define LEVEL_POINTS 5

/* Which pairs of neighbouring characters a name has, by a hash. */
struct bigrams {
	uint64_t bits[8];
};

struct ended {
	int64_t series_id;
	const char *metric, *unit, *title;
	double value;
};
static const struct tk_db_column ended_columns[] = {TK_MEMBER(struct ended, series_id),
        TK_MEMBER(struct ended, metric), TK_MEMBER(struct ended, unit),
        TK_MEMBER(struct ended, title), TK_MEMBER(struct ended, value)};
static const struct tk_row_type ended_type = TK_ROW_TYPE(struct ended, ended_columns);

/* The series of a device that ended in the night before one, and for each the best new one. */
struct place {
	int64_t device_id, upstream_id, first_s;
	struct tk_rows ended;
	struct bigrams *names;
	double *best;
	size_t *best_case;
};

static void place_free(struct place *p)
{
	tk_rows_free(&p->ended);
	free(p->names);
	free(p->best);
	free(p->best_case);
	*p = (struct place){0};
}

static struct bigrams find_bigrams(const char *name)
{
	struct bigrams b = {{0}};

	for (; name[0] && name[1]; name++) {
		const unsigned at = ((unsigned char)name[0] * 31u + (unsigned char)name[1]) % 512;

		b.bits[at / 64] |= UINT64_C(1) << (at % 64);
	}
	return b;
}

static double likeness(const struct bigrams *a, const struct bigrams *b)
{
	int common = 0, all = 0;

	for (size_t i = 0; i < 8; i++) {
		common += __builtin_popcountll(a->bits[i] & b->bits[i]);
		all += __builtin_popcountll(a->bits[i]) + __builtin_popcountll(b->bits[i]);
	}
	return all ? 2.0 * common / all : 0;
}

static bool has_begun(const struct tk_series_case *k)
{
	return k->count && !k->window->before && !strcmp(k->series->mode, "imported");
}

/* The middle one of the first points, by size. */
static double first_level(const struct tk_series_case *k)
{
	const size_t n = k->count < LEVEL_POINTS ? k->count : LEVEL_POINTS;
	double values[LEVEL_POINTS];

	for (size_t i = 0; i < n; i++) {
		size_t at = i;

		for (; at && values[at - 1] > k->points[i].value; at--)
			values[at] = values[at - 1];
		values[at] = k->points[i].value;
	}
	return values[n / 2];
}

/* ---- what ended ------------------------------------------------------------------------------ */

static int load_place(
        struct tk_store *s, const struct tk_series_case *k, struct place *p, struct tk_error *err)
{
	int64_t before_s;

	place_free(p);
	*p = (struct place){.device_id = k->series->device_id,
	        .upstream_id = k->series->upstream_id,
	        .first_s = k->points[0].as_of_s};
	TRY(tk_store_select_int(s,
	        "SELECT ifnull(max(as_of_s), 0) FROM night WHERE machine_id=?1 AND as_of_s<?2"
	        " AND kind<>'run'",
	        TK_ARGS(k->machine->id, p->first_s), 0, &before_s, err));
	if (!before_s)
		return TK_OK;
	TRY(tk_store_select(s,
	        "SELECT s.id AS series_id, s.metric, s.unit, p.title, m.value FROM series s"
	        " JOIN problem p ON p.id=s.problem_id"
	        " JOIN measurement m ON m.series_id=s.id AND m.as_of_s=?3"
	        " WHERE s.device_id=?1 AND s.upstream_id=?2 AND s.mode='imported' AND m.value>0"
	        " AND NOT EXISTS (SELECT 1 FROM measurement n WHERE n.series_id=s.id"
	        "  AND n.as_of_s>?3)"
	        " AND NOT EXISTS (SELECT 1 FROM run r WHERE r.series_id=s.id AND r.as_of_s>?3)",
	        TK_ARGS(p->device_id, p->upstream_id, before_s), &ended_type, &p->ended, err));
	p->names = tk_calloc(p->ended.count + 1, sizeof *p->names);
	p->best = tk_calloc(p->ended.count + 1, sizeof *p->best);
	p->best_case = tk_calloc(p->ended.count + 1, sizeof *p->best_case);
	for (size_t i = 0; i < p->ended.count; i++)
		p->names[i] = find_bigrams(TK_ROWS_AT(&p->ended, struct ended, i)->title);
	return TK_OK;
}

static bool is_place_of(const struct place *p, const struct tk_series_case *k)
{
	return p->device_id == k->series->device_id && p->upstream_id == k->series->upstream_id &&
	       p->first_s == k->points[0].as_of_s;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void compare(struct place *p, const struct tk_series_case *k, size_t case_index)
{
	const struct bigrams name = find_bigrams(k->problem->title);
	const double level = first_level(k),
	             least = p->ended.count == 1 ? ONLY_LIKENESS_MIN : NAME_LIKENESS_MIN;
	size_t best = 0;
	double most = 0;

	for (size_t i = 0; i < p->ended.count; i++) {
		const struct ended *e = TK_ROWS_AT(&p->ended, struct ended, i);
		const double like = likeness(&name, &p->names[i]);

		if (like <= most || like < least ||
		        fabs(log(level / e->value)) > log(LEVEL_RATIO_MAX) ||
		        strcmp(e->metric, k->series->metric) || strcmp(e->unit, k->series->unit))
			continue;
		most = like;
		best = i;
	}
	if (most > 0 && most > p->best[best]) {
		p->best[best] = most;
		p->best_case[best] = case_index;
	}
}

static void add_fact(
        struct tk_diff_row *row, enum tk_fact_kind kind, double change, const char *name)
{
	tk_verdict_add_fact(
	        &row->verdict, (struct tk_fact){.kind = kind, .number = {change}}, name);
}

static void add_pairs(const struct tk_analysis *c, const struct place *p, struct tk_diff_report *r)
{
	for (size_t i = 0; i < p->ended.count; i++) {
		const struct ended *e = TK_ROWS_AT(&p->ended, struct ended, i);
		const struct tk_series_case *k = &c->at[p->best_case[i]],
		                            *old = tk_analysis_find(c, e->series_id);

		if (!(p->best[i] > 0))
			continue;
		const double change = first_level(k) / e->value - 1;

		add_fact(&r->rows[p->best_case[i]], TK_FACT_RENAMED_FROM, change, e->title);
		if (old)
			add_fact(&r->rows[old - c->at], TK_FACT_RENAMED_TO, change,
			        k->problem->title);
	}
}

int tk_renames_suggest(const struct tk_analysis *c, struct tk_diff_report *r, struct tk_error *err)
{
	struct place p = {0};
	size_t left = PAIRS_MAX;
	int status = TK_OK;

	for (size_t i = 0; !status && i < c->count; i++) {
		const struct tk_series_case *k = &c->at[i];

		if (!has_begun(k))
			continue;
		if (!is_place_of(&p, k)) {
			add_pairs(c, &p, r);
			status = load_place(c->catalog.store, k, &p, err);
		}
		if (status || left < p.ended.count)
			break;
		left -= p.ended.count;
		compare(&p, k, i);
	}
	if (!status)
		add_pairs(c, &p, r);
	place_free(&p);
	return status;
}
