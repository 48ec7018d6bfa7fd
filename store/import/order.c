/* Places on the axis of time: revisions keep the order of their file, or of a repository, also
 * where their times contradict it (the date of a cherry-picked commit is that of its author) or are
 * equal.
 *
 * The times of most revisions agree with the order. The longest sequence of those that do keeps
 * its times; the others follow the revision before them by a second. */
#include "store/import/sink.h"

#define REV_DIGITS_MIN 7
#define AGREE_SHARE 0.8 /* fewer times agree: the file has no order */

struct import_order {
	int64_t series, order;
	size_t run; /* index */
};

void tk_import_note_order(struct tk_import_state *st, int64_t series, int64_t order)
{
	const struct import_order *last = st->order_count ? &st->orders[st->order_count - 1] : NULL;
	const size_t run = st->last_run->number - 1;

	if (order == INT64_MIN || (last && last->series == series && last->run == run))
		return;
	if (st->order_count == st->order_cap) {
		st->order_cap = st->order_cap ? 2 * st->order_cap : 256;
		st->orders = tk_reallocarray(st->orders, st->order_cap, sizeof *st->orders);
	}
	st->orders[st->order_count++] = (struct import_order){series, order, run};
}

/* ---- one sequence ---- */

/* Marks the longest subsequence of time[0 .. n) that does not descend. Returns its length. */
static size_t mark_longest(const int64_t *time, size_t n, bool *agrees)
{
	size_t *tail = tk_malloc((2 * n + 1) * sizeof *tail), *before = tail + n, length = 0;

	for (size_t i = 0; i < n; i++) {
		const size_t lo = TK_FIND_FIRST(length, k, time[tail[k]] <= time[i]);

		before[i] = lo ? tail[lo - 1] : n;
		tail[lo] = i;
		length += lo == length;
		agrees[i] = false;
	}
	for (size_t i = length ? tail[length - 1] : n; i < n; i = before[i])
		agrees[i] = true;
	free(tail);
	return length;
}

/* is_fixed: those whose time is not changed any more; NULL: none. */
static void place_in_order(int64_t *time, const bool *agrees, const bool *is_fixed, size_t n)
{
	size_t first = 0;

	while (first < n && !agrees[first])
		first++;
	int64_t last = first < n ? time[first] - (int64_t)first - 1 : 0;

	for (size_t i = 0; i < n; i++) {
		if (!is_fixed || !is_fixed[i])
			time[i] = agrees[i] && time[i] > last ? time[i] : last + 1;
		last = time[i];
	}
}

static void reverse(int64_t *time, struct import_order *at, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		const struct import_order other = at[i];
		const int64_t t = time[i];

		at[i] = at[n - 1 - i], at[n - 1 - i] = other;
		time[i] = time[n - 1 - i], time[n - 1 - i] = t;
	}
}

static void report(struct tk_import_sink *s, const struct import_run *run)
{
	if (!s->counts.misdated++)
		snprintf(s->counts.first_misdated, sizeof s->counts.first_misdated, "%s: %s",
		        s->file->path, run->revision);
}

/* The runs of one series, in order. A list with the newest first is one, too. */
static void place_series(struct tk_import_sink *s, struct import_order *at, size_t n)
{
	struct import_run **runs = s->state->runs;
	int64_t *time = tk_malloc(n * sizeof *time);
	bool *agrees = tk_malloc(2 * n * sizeof *agrees), *is_fixed = agrees + n;
	size_t fixed = 0, longest;

	for (size_t i = 0; i < n; i++)
		time[i] = runs[at[i].run]->as_of_s;
	longest = mark_longest(time, n, agrees);
	if ((double)longest < AGREE_SHARE * (double)n) {
		reverse(time, at, n);
		longest = mark_longest(time, n, agrees);
	}
	for (size_t i = 0; i < n; i++)
		fixed += is_fixed[i] = runs[at[i].run]->is_placed;
	if ((double)longest >= AGREE_SHARE * (double)n && fixed < n) {
		place_in_order(time, agrees, is_fixed, n);
		for (size_t i = 0; i < n; i++) {
			if (!is_fixed[i] && !agrees[i])
				report(s, runs[at[i].run]);
			runs[at[i].run]->as_of_s = time[i];
			runs[at[i].run]->is_placed = true;
		}
	}
	free(agrees);
	free(time);
}

/* ---- the file ---- */

static int by_order(const void *a, const void *b)
{
	const struct import_order *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return (x->run > y->run) - (x->run < y->run);
}

static size_t count_series(const struct import_order *at, size_t n)
{
	size_t count = 1;

	while (count < n && at[count].series == at[0].series)
		count++;
	return count;
}

void tk_import_order_runs(struct tk_import_sink *s)
{
	struct tk_import_state *st = s->state;
	struct import_order *at = st->orders;
	size_t longest = 0, length = 0;

	tk_sort(at, st->order_count, sizeof *at, by_order);
	for (size_t i = 0, n; i < st->order_count; i += n) {
		n = count_series(at + i, st->order_count - i);
		if (n > length)
			longest = i, length = n;
	}
	if (length)
		place_series(s, at + longest, length); /* the others have few runs of their own */
	for (size_t i = 0, n; i < st->order_count; i += n) {
		n = count_series(at + i, st->order_count - i);
		place_series(s, at + i, n);
	}
	st->order_count = 0;
}

/* ---- a repository ---- */

static int by_revision(const void *a, const void *b)
{
	const struct tk_import_commit *x = a, *y = b;

	return strcmp(x->rev, y->rev);
}

void tk_import_order_commits(struct tk_import_commit *commits, size_t n)
{
	int64_t *time = tk_malloc((n + 1) * sizeof *time);
	bool *agrees = tk_malloc((n + 1) * sizeof *agrees);

	for (size_t i = 0; i < n; i++)
		time[i] = commits[i].time_s;
	mark_longest(time, n, agrees);
	place_in_order(time, agrees, NULL, n);
	for (size_t i = 0; i < n; i++) {
		commits[i].time_s = time[i];
		commits[i].position = (int64_t)i + 1;
	}
	tk_sort(commits, n, sizeof *commits, by_revision);
	free(agrees);
	free(time);
}

const struct tk_import_commit *tk_import_find_commit(
        const struct tk_import_request *r, const char *rev)
{
	const size_t length = strlen(rev);
	const size_t lo = TK_FIND_FIRST(r->commit_count, i, strcmp(r->commits[i].rev, rev) < 0);

	return length >= REV_DIGITS_MIN && lo < r->commit_count &&
	                       !strncmp(r->commits[lo].rev, rev, length)
	               ? &r->commits[lo]
	               : NULL;
}
