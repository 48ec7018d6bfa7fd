/* See made_model.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_model.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void made_init(struct made_model *m)
{
	memset(m, 0, sizeof *m);
	m->model.machines = m->machines;
	m->model.devices = m->devices;
	m->model.nights = m->nights;
	m->model.series = m->series;
	made_add_machine(m, "lab");
}

struct tk_site_machine *made_add_machine(struct made_model *m, const char *name)
{
	const size_t i = m->model.machine_count++;

	assert_true(i < 4);
	m->machine_rows[i] =
	        (struct tk_machine_row){.id = (int64_t)i + 1, .uid = name, .name = name};
	m->machines[i] = (struct tk_site_machine){.row = &m->machine_rows[i]};
	return &m->machines[i];
}

struct tk_site_device *made_add_device(
        struct made_model *m, const char *kind, const char *name, const char *arch)
{
	const size_t i = m->model.device_count++;

	assert_true(i < MADE_MAX);
	m->device_rows[i] = (struct tk_device_row){.id = (int64_t)i + 1,
	        .machine_id = 1,
	        .uid = name,
	        .kind = kind,
	        .name = name,
	        .uuid = "",
	        .arch = arch,
	        .slug = name};
	m->devices[i] = (struct tk_site_device){.row = &m->device_rows[i],
	        .machine = m->machines,
	        .name = (char *)name,
	        .file = (char *)name,
	        .mode = "paced"};
	return &m->devices[i];
}

int64_t made_add_environment(
        struct made_model *m, const struct tk_site_device *device, const char *attributes)
{
	const size_t i = m->environment_count++;

	assert_true(i < MADE_MAX);
	m->environments[i] = (struct tk_environment_row){.id = (int64_t)i + 1,
	        .device_id = device->row->id,
	        .uid = "",
	        .attributes = attributes};
	return (int64_t)i + 1;
}

const struct tk_upstream_row *made_add_upstream(
        struct made_model *m, const char *name, const char *kind)
{
	const size_t i = m->upstream_count++;

	assert_true(i < 8);
	m->upstreams[i] = (struct tk_upstream_row){
	        .id = (int64_t)i + 1, .uid = name, .name = name, .kind = kind, .url = ""};
	return &m->upstreams[i];
}

int64_t made_add_build(
        struct made_model *m, const struct tk_upstream_row *upstream, const char *rev)
{
	const size_t i = m->revision_count++;

	assert_true(i < MADE_MAX);
	m->revisions[i] = (struct tk_revision_row){.id = (int64_t)i + 1,
	        .upstream_id = upstream->id,
	        .uid = rev,
	        .rev = rev,
	        .parent = "",
	        .position = (int64_t)i + 1,
	        .author = "",
	        .subject = rev};
	m->builds[i] = (struct tk_build_row){.id = (int64_t)i + 1,
	        .revision_id = (int64_t)i + 1,
	        .uid = rev,
	        .artifact_key = "",
	        .adapter = "",
	        .toolchain = "",
	        .flags = "",
	        .arch = "",
	        .message = "",
	        .log = ""};
	m->build_count++;
	return (int64_t)i + 1;
}

const struct tk_problem_row *made_add_problem(
        struct made_model *m, const char *op, const char *dtype, double flops, double bytes)
{
	const size_t i = m->problem_count++;

	assert_true(i < MADE_MAX);
	m->problems[i] = (struct tk_problem_row){.id = (int64_t)i + 1,
	        .uid = "",
	        .text = op,
	        .op = op,
	        .dtype = dtype,
	        .title = op,
	        .flops = flops,
	        .bytes = bytes,
	        .source = "",
	        .family = ""};
	return &m->problems[i];
}

const struct tk_night_row *made_add_night(
        struct made_model *m, const struct tk_site_machine *machine, int64_t as_of_s)
{
	const size_t i = m->model.night_count++;

	assert_true(i < MADE_MAX);
	assert_true(i == 0 || as_of_s <= m->night_rows[i - 1].started_s);
	m->night_rows[i] = (struct tk_night_row){.id = (int64_t)i + 1,
	        .machine_id = machine->row->id,
	        .uid = "",
	        .kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = as_of_s,
	        .started_s = as_of_s};
	m->nights[i] = (struct tk_site_night){.row = &m->night_rows[i], .machine = machine};
	return &m->night_rows[i];
}

struct tk_site_series *made_add_series(struct made_model *m, const struct tk_site_device *device,
        const struct tk_upstream_row *upstream, const struct tk_problem_row *problem,
        const char *backend)
{
	const size_t i = m->model.series_count++;

	assert_true(i < MADE_MAX);
	m->series_rows[i] = (struct tk_series_row){.id = (int64_t)i + 1,
	        .device_id = device->row->id,
	        .upstream_id = upstream->id,
	        .problem_id = problem->id,
	        .uid = "",
	        .slug = backend,
	        .backend = backend,
	        .config = "",
	        .mode = "paced",
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};
	m->series[i] = (struct tk_site_series){.row = &m->series_rows[i],
	        .device = device,
	        .upstream = upstream,
	        .problem = problem,
	        .metric = TK_METRIC_TIME,
	        .unit = TK_UNIT_NS,
	        .file = (char *)backend,
	        .op_file = (char *)problem->op,
	        .label = (char *)backend,
	        .variant = (char *)backend};
	return &m->series[i];
}

struct tk_point *made_add_point(struct tk_site_series *s, int64_t as_of_s, double value_ns,
        double half, int64_t build_id, int64_t environment_id)
{
	if (s->newest_count == 2)
		s->newest[0] = s->newest[--s->newest_count];
	struct tk_point *p = &s->newest[s->newest_count++];
	*p = (struct tk_point){.series_id = s->row->id,
	        .as_of_s = as_of_s,
	        .run_id = as_of_s,
	        .build_id = build_id,
	        .environment_id = environment_id,
	        .value = value_ns,
	        .lo = value_ns * (1 - half),
	        .hi = value_ns * (1 + half),
	        .min = NAN,
	        .q25 = NAN,
	        .q75 = NAN,
	        .p95 = NAN,
	        .n = 20};
	return p;
}

void made_fail(struct made_model *m, struct tk_site_series *s, enum tk_outcome outcome,
        const char *message)
{
	struct tk_run_row *run = &m->runs[m->run_count++];

	assert_true(m->run_count <= MADE_MAX);
	*run = (struct tk_run_row){.id = (int64_t)m->run_count,
	        .series_id = s->row->id,
	        .outcome = outcome,
	        .message = message};
	s->last_run = s->failure = run;
}

struct tk_change_point_row *made_add_change(struct made_model *m, const struct tk_site_series *s,
        int64_t as_of_s, double before, double after)
{
	struct tk_change_point_row *c = &m->changes[m->change_count++];

	assert_true(m->change_count <= MADE_MAX);
	*c = (struct tk_change_point_row){.series_id = s->row->id,
	        .as_of_s = as_of_s,
	        .run_id = as_of_s,
	        .before_value = before,
	        .after_value = after,
	        .change_lo = NAN,
	        .change_hi = NAN,
	        .detail = "{}"};
	return c;
}

static void index_rows(struct tk_row_index *index, const void *rows, size_t count, size_t row_size)
{
	struct tk_error err = {0};

	if (tk_row_index_build(index, rows, count, row_size, &err))
		fail_msg("%s", err.message);
}

static void index_series_and_nights(struct made_model *m)
{
	struct tk_model *model = &m->model;

	model->series_by_id.entries = calloc(MADE_MAX, sizeof *model->series_by_id.entries);
	model->nights_by_id.entries = calloc(MADE_MAX, sizeof *model->nights_by_id.entries);
	assert_non_null(model->series_by_id.entries);
	assert_non_null(model->nights_by_id.entries);
	for (size_t i = 0; i < model->series_count; i++)
		model->series_by_id.entries[i] =
		        (struct tk_row_index_entry){m->series[i].row->id, &m->series[i]};
	for (size_t i = 0; i < model->night_count; i++)
		model->nights_by_id.entries[i] =
		        (struct tk_row_index_entry){m->night_rows[i].id, &m->night_rows[i]};
	model->series_by_id.count = model->series_count;
	model->nights_by_id.count = model->night_count;
}

void made_join(struct made_model *m)
{
	struct tk_model *model = &m->model;

	model->environment_rows =
	        (struct tk_rows){.rows = m->environments, .count = m->environment_count};
	model->upstream_rows = (struct tk_rows){.rows = m->upstreams, .count = m->upstream_count};
	model->revision_rows = (struct tk_rows){.rows = m->revisions, .count = m->revision_count};
	model->build_rows = (struct tk_rows){.rows = m->builds, .count = m->build_count};
	model->problem_rows = (struct tk_rows){.rows = m->problems, .count = m->problem_count};
	model->change_rows = (struct tk_rows){.rows = m->changes, .count = m->change_count};
	index_rows(&model->environments_by_id, m->environments, m->environment_count,
	        sizeof *m->environments);
	index_rows(&model->upstreams_by_id, m->upstreams, m->upstream_count, sizeof *m->upstreams);
	index_rows(&model->revisions_by_id, m->revisions, m->revision_count, sizeof *m->revisions);
	index_rows(&model->builds_by_id, m->builds, m->build_count, sizeof *m->builds);
	for (size_t i = 0; i < m->build_count; i++) /* their ids ascend */
		m->build_revisions[i] = m->builds[i].revision_id;
	model->build_revisions = m->build_revisions;
	index_rows(&model->problems_by_id, m->problems, m->problem_count, sizeof *m->problems);
	index_series_and_nights(m);
}

void made_free(struct made_model *m)
{
	struct tk_model *model = &m->model;

	tk_row_index_free(&model->environments_by_id);
	tk_row_index_free(&model->upstreams_by_id);
	tk_row_index_free(&model->revisions_by_id);
	tk_row_index_free(&model->builds_by_id);
	tk_row_index_free(&model->problems_by_id);
	tk_row_index_free(&model->series_by_id);
	tk_row_index_free(&model->nights_by_id);
	tk_site_changes_free(&model->revision_changes);
}
