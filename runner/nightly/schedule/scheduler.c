/* See schedule.h. */
#include "base/base.h"
#include "nightly/night.h"
#include "nightly/schedule/schedule.h"

enum job_state { QUEUED, RUNNING, UNPLACED, DONE }; /* UNPLACED: no device can take it */

struct job {
	const struct tk_night_job_row *row;
	size_t planned; /* the device that it was planned for or given to; NOWHERE: not present */
	size_t device;  /* that has it now */
	enum job_state state;
	bool is_reassigned; /* an ASSIGN action is due */
};

struct device {
	size_t model;      /* devices with the same number can do each other's jobs */
	bool is_exclusive; /* nothing else may run at the same time */
	bool is_lost;
	size_t job; /* that is running; TK_SCHEDULER_NOWHERE: none */
};

struct tk_scheduler {
	struct tk_night *n;
	struct device *devices;
	size_t device_count;
	struct job *jobs;
	size_t job_count;
	size_t *batch; /* of the current action */
};

/* ---- lost devices ---- */

/* Repeated jobs of one device (controls) do not exclude each other. */
static bool has_job_for_same_work(
        const struct tk_scheduler *s, size_t device, const struct job *job)
{
	for (size_t i = 0; i < s->job_count; i++) {
		const struct job *other = &s->jobs[i];
		if (other->device == device && other->row->work == job->row->work &&
		        other->planned != job->planned)
			return true;
	}
	return false;
}

static size_t find_replacement(const struct tk_scheduler *s, const struct job *job)
{
	for (size_t d = 0; d < s->device_count; d++)
		if (!s->devices[d].is_lost &&
		        s->devices[d].model == s->devices[job->device].model &&
		        !has_job_for_same_work(s, d, job))
			return d;
	return TK_SCHEDULER_NOWHERE;
}

/* A job that was stolen goes back to where it was planned, so that its series continues there. */
static void replace_device(struct tk_scheduler *s, struct job *job)
{
	size_t to = job->planned;
	if (to == TK_SCHEDULER_NOWHERE || s->devices[to].is_lost)
		to = find_replacement(s, job);
	job->state = to == TK_SCHEDULER_NOWHERE ? UNPLACED : QUEUED;
	job->is_reassigned = to != TK_SCHEDULER_NOWHERE;
	if (job->is_reassigned)
		job->device = to;
}

void tk_scheduler_lose(struct tk_scheduler *s, size_t device)
{
	s->devices[device].is_lost = true;
	s->devices[device].job = TK_SCHEDULER_NOWHERE;
	for (size_t i = 0; i < s->job_count; i++)
		if (s->jobs[i].device == device && s->jobs[i].state != DONE)
			replace_device(s, &s->jobs[i]);
}

/* ---- stealing ---- */

static size_t count_queued_suite_jobs(const struct tk_scheduler *s, size_t device)
{
	size_t count = 0;
	for (size_t i = 0; i < s->job_count; i++)
		count += s->jobs[i].state == QUEUED && s->jobs[i].device == device &&
		         s->jobs[i].row->is_suite;
	return count;
}

static size_t find_busiest(const struct tk_scheduler *s, size_t thief)
{
	size_t busiest = TK_SCHEDULER_NOWHERE, most = 0;
	for (size_t d = 0; d < s->device_count; d++) {
		if (d == thief || s->devices[d].is_lost ||
		        s->devices[d].model != s->devices[thief].model)
			continue;
		size_t count = count_queued_suite_jobs(s, d);
		if (count > most) {
			busiest = d;
			most = count;
		}
	}
	return busiest;
}

static size_t find_last_suite_job(const struct tk_scheduler *s, size_t device)
{
	for (size_t i = s->job_count; i-- > 0;)
		if (s->jobs[i].state == QUEUED && s->jobs[i].device == device &&
		        s->jobs[i].row->is_suite)
			return i;
	return TK_SCHEDULER_NOWHERE;
}

static bool is_job_of_problem(const struct job *job, int64_t problem_id)
{
	return job->row->is_suite && job->row->problem_id == problem_id;
}

/* A problem is reassigned as a whole or not at all: results from two devices are not comparable. */
static bool can_move_problem(const struct tk_scheduler *s, size_t last, size_t from, size_t to)
{
	const struct tk_night_device *devices = s->n->devices;
	int64_t has_history = true;
	tk_store_select_int(s->n->store,
	        "SELECT EXISTS (SELECT 1 FROM series s JOIN measurement m ON m.series_id=s.id"
	        " WHERE s.role='suite' AND s.problem_id=?1 AND s.device_id IN (?2, ?3))",
	        TK_ARGS(s->jobs[last].row->problem_id, devices[from].device_id,
	                devices[to].device_id),
	        true, &has_history, NULL);
	if (has_history)
		return false;
	for (size_t i = 0; i < s->job_count; i++) {
		const struct job *job = &s->jobs[i];
		if (!is_job_of_problem(job, s->jobs[last].row->problem_id))
			continue;
		if (job->device == to || (job->device == from && job->state != QUEUED))
			return false;
	}
	return true;
}

static bool steal_work(struct tk_scheduler *s, size_t thief)
{
	size_t from = find_busiest(s, thief);
	size_t last = from == TK_SCHEDULER_NOWHERE ? from : find_last_suite_job(s, from);
	if (last == TK_SCHEDULER_NOWHERE || !can_move_problem(s, last, from, thief))
		return false; /* earlier problems are even less likely to be untouched */
	for (size_t i = 0; i <= last; i++) {
		struct job *job = &s->jobs[i];
		if (job->device != from || !is_job_of_problem(job, s->jobs[last].row->problem_id))
			continue;
		job->device = thief;
		job->is_reassigned = true;
	}
	return true;
}

/* ---- actions ---- */

size_t tk_scheduler_assign(struct tk_scheduler *s, size_t *device, const size_t **jobs)
{
	size_t count = 0;
	*jobs = s->batch;
	for (size_t i = 0; i < s->job_count; i++) {
		struct job *job = &s->jobs[i];
		if (!job->is_reassigned || (count && job->device != *device))
			continue;
		*device = job->device;
		job->is_reassigned = false;
		s->batch[count++] = i;
	}
	return count;
}

bool tk_scheduler_fail(struct tk_scheduler *s, size_t *device, size_t *job)
{
	for (size_t i = 0; i < s->job_count; i++)
		if (s->jobs[i].state == UNPLACED) {
			s->jobs[i].state = DONE;
			*device = s->jobs[i].device;
			*job = i;
			return true;
		}
	return false;
}

bool tk_scheduler_is_running(const struct tk_scheduler *s)
{
	for (size_t d = 0; d < s->device_count; d++)
		if (s->devices[d].job != TK_SCHEDULER_NOWHERE)
			return true;
	return false;
}

static bool start(struct tk_scheduler *s, bool exclusive, size_t *device, size_t *job)
{
	for (size_t d = 0; d < s->device_count; d++) {
		struct device *at = &s->devices[d];
		if (at->is_lost || at->job != TK_SCHEDULER_NOWHERE || at->is_exclusive != exclusive)
			continue;
		*device = d;
		*job = TK_SCHEDULER_NOWHERE;
		if (s->n->options->split && count_queued_suite_jobs(s, d) == 0 && steal_work(s, d))
			return true;
		for (size_t i = 0; i < s->job_count; i++)
			if (s->jobs[i].state == QUEUED && s->jobs[i].device == d) {
				s->jobs[i].state = RUNNING;
				at->job = *job = i;
				return true;
			}
	}
	return false;
}

bool tk_scheduler_start(struct tk_scheduler *s, size_t *device, size_t *job)
{
	return start(s, false, device, job) ||
	       (!tk_scheduler_is_running(s) && start(s, true, device, job));
}

void tk_scheduler_finish(struct tk_scheduler *s, size_t device)
{
	s->jobs[s->devices[device].job].state = DONE;
	s->devices[device].job = TK_SCHEDULER_NOWHERE;
}

size_t tk_scheduler_device(const struct tk_scheduler *s, size_t job)
{
	return s->jobs[job].device;
}

/* ---- construction ---- */

int tk_night_jobs_list(struct tk_night *n, struct tk_rows *out, struct tk_error *err)
{
#define COLUMN(member) TK_MEMBER(struct tk_night_job_row, member)
	static const struct tk_db_column columns[] = {COLUMN(id), COLUMN(seq), COLUMN(series_id),
	        COLUMN(build_id), COLUMN(device_id), COLUMN(run_id), COLUMN(backend_path),
	        COLUMN(options), COLUMN(series_device_id), COLUMN(problem_id), COLUMN(work),
	        COLUMN(is_suite)};
#undef COLUMN
	static const struct tk_row_type type = TK_ROW_TYPE(struct tk_night_job_row, columns);
	return tk_store_select(n->store,
	        "SELECT j.id, j.seq, j.series_id, j.build_id, j.device_id, j.run_id,"
	        " j.backend_path, j.options, s.device_id AS series_device_id, s.problem_id,"
	        " s.role='suite' AS is_suite, dense_rank() OVER (ORDER BY s.problem_id,"
	        " s.upstream_id, s.backend, s.config, s.mode, s.metric) AS work"
	        " FROM job j JOIN series s ON s.id=j.series_id WHERE j.night_id=?1 ORDER BY j.seq",
	        TK_ARGS(n->night_id), &type, out, err);
}

static size_t find_device(const struct tk_night *n, int64_t device_id)
{
	const size_t d = tk_night_find_device_index(n, device_id);
	return d < n->device_count ? d : TK_SCHEDULER_NOWHERE;
}

/* The device that has taken a job over, in an earlier part of this night, keeps it while it is
 * present. */
static size_t find_owner(const struct tk_night *n, const struct tk_night_job_row *job)
{
	size_t owner = job->device_id ? find_device(n, job->device_id) : TK_SCHEDULER_NOWHERE;
	return owner != TK_SCHEDULER_NOWHERE ? owner : find_device(n, job->series_device_id);
}

struct tk_scheduler *tk_scheduler_new(struct tk_night *n, const struct tk_rows *rows)
{
	struct tk_scheduler *s = tk_malloc(sizeof *s);
	*s = (struct tk_scheduler){.n = n,
	        .devices = tk_calloc(n->device_count + 1, sizeof *s->devices),
	        .device_count = n->device_count,
	        .jobs = tk_calloc(rows->count + 1, sizeof *s->jobs),
	        .job_count = rows->count,
	        .batch = tk_calloc(rows->count + 1, sizeof *s->batch)};
	for (size_t d = 0; d < n->device_count; d++)
		s->devices[d] = (struct device){.model = tk_night_find_model(n, d),
		        .is_exclusive = tk_night_device_is_cpu(&n->devices[d]),
		        .job = TK_SCHEDULER_NOWHERE};
	for (size_t i = 0; i < rows->count; i++) {
		const struct tk_night_job_row *r = TK_ROWS_AT(rows, struct tk_night_job_row, i);
		size_t owner = find_owner(n, r);
		s->jobs[i] = (struct job){.row = r,
		        .planned = owner,
		        .device = owner,
		        .state = r->run_id                       ? DONE
		                 : owner == TK_SCHEDULER_NOWHERE ? UNPLACED
		                                                 : QUEUED};
	}
	return s;
}

void tk_scheduler_free(struct tk_scheduler *s)
{
	if (!s)
		return;
	free(s->devices);
	free(s->jobs);
	free(s->batch);
	free(s);
}
