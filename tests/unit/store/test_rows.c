/* Every kind of row goes in and comes out as it was; the same fact twice is one row; names stay
 * unique. */
#include "row_fixture.h"

static void identities_come_back(void **state)
{
	struct history *h = *state;

	READ_ONE(tk_machine_row, machine, tk_store_list_machines(h->store, out, &err));
	assert_int_equal(machine->id, h->machine);
	assert_string_equal(machine->name, "box");
	assert_string_equal(machine->attributes, "{\"cores\":2}");
	assert_int_equal(strlen(machine->uid), 32);
	READ_ONE(tk_device_row, device, tk_store_list_devices(h->store, out, &err));
	assert_int_equal(device->machine_id, h->machine);
	assert_string_equal(device->slug, "cpu");
	assert_string_equal(device->uuid, "cpu");
	assert_string_equal(device->arch, "x86-64-v4");
	READ_ONE(tk_environment_row, environment, tk_store_list_environments(h->store, out, &err));
	assert_string_equal(environment->attributes, "{\"governor\":\"performance\"}");
	READ_ONE(tk_upstream_row, upstream, tk_store_list_upstreams(h->store, out, &err));
	assert_string_equal(upstream->url, "https://example.org/blas.git");
	READ_ONE(tk_problem_row, problem, tk_store_list_problems(h->store, out, &err));
	assert_string_equal(problem->family, "square");
	assert_true(problem->flops == 268435456.0 && problem->bytes == 3145728.0);
	READ_ONE(tk_series_row, series, tk_store_list_series(h->store, out, &err));
	assert_string_equal(series->slug, "box.cpu.blas.gemm-f32-512x512x512-nn.cold");
	assert_int_equal(series->better, TK_BETTER_LOWER);
	tk_rows_free(&machine_list);
	tk_rows_free(&device_list);
	tk_rows_free(&environment_list);
	tk_rows_free(&upstream_list);
	tk_rows_free(&problem_list);
	tk_rows_free(&series_list);
}

static void builds_come_back(void **state)
{
	struct history *h = *state;
	struct tk_kernel_row kernel = {.build_id = h->build,
	        .backend = "blas",
	        .name = "sgemm",
	        .code_hash = "ff",
	        .size_bytes = 9,
	        .registers = -1,
	        .spill_bytes = 0,
	        .shared_bytes = 64,
	        .threads = 256,
	        .occupancy_percent = 37,
	        .instructions = "total=9 BAR=1"};
	int64_t id, again;
	char *log = NULL;

	READ_ONE(tk_revision_row, revision, tk_store_list_revisions(h->store, out, &err));
	assert_string_equal(revision->subject, "gemm: unroll");
	assert_int_equal(revision->position, 7);
	assert_int_equal(revision->commit_time_s, 200);
	READ_ONE(tk_build_row, build, tk_store_list_builds(h->store, out, &err));
	assert_string_equal(build->toolchain, "gcc 12");
	assert_string_equal(build->log, "");
	assert_true(build->wall_s == 1.5);
	MUST(tk_store_read_build_log(h->store, h->build, &log, &err));
	assert_string_equal(log, "a long log");
	free(log);
	MUST_FAIL(TK_ENOTFOUND, "no build", tk_store_read_build_log(h->store, 99, &log, &err));
	MUST(tk_store_put_kernel(h->store, &kernel, &id, &err));
	MUST(tk_store_put_kernel(h->store, &kernel, &again, &err));
	assert_int_equal(id, again);
	READ_ONE(tk_kernel_row, read, tk_store_list_kernels(h->store, h->build, out, &err));
	assert_int_equal(read->registers, -1);
	assert_int_equal(read->spill_bytes, 0);
	assert_int_equal(read->shared_bytes, 64);
	assert_int_equal(read->threads, 256);
	assert_int_equal(read->occupancy_percent, 37);
	assert_string_equal(read->instructions, "total=9 BAR=1");
	tk_rows_free(&revision_list);
	tk_rows_free(&build_list);
	tk_rows_free(&read_list);
}

static void nights_come_back(void **state)
{
	struct history *h = *state;
	struct tk_night_row same = {.machine_id = h->machine,
	        .kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = 1000,
	        .started_s = 1000,
	        .status = TK_NIGHT_RUNNING,
	        .seed = 42,
	        .config_hash = "c",
	        .tracker_version = "0.1.0"};
	static const char *const late[] = {
	        "confirm", "detect", "bisect", "tune", "tidy", "publish"};
	struct tk_stage_row stage = {.night_id = h->night,
	        .name = "build",
	        .status = TK_STAGE_RUNNING,
	        .started_s = 5,
	        .detail = "{}"};
	struct tk_resolution_row resolution = {.night_id = h->night,
	        .upstream_id = h->upstream,
	        .revision_id = h->revision,
	        .build_id = 0,
	        .status = TK_RESOLUTION_NEW,
	        .message = ""};
	struct tk_rows nights;
	int64_t second;

	MUST(tk_store_begin_night(h->store, &same, &second, &err));
	assert_int_not_equal(second, h->night);
	MUST(tk_store_finish_night(
	        h->store, h->night, TK_NIGHT_COMPLETE, "{\"jobs\":1}", 2000, &err));
	MUST(tk_store_list_nights(h->store, &nights, &err));
	assert_int_equal(nights.count, 2);
	assert_int_equal(TK_ROWS_AT(&nights, struct tk_night_row, 0)->started_s, 1001);
	assert_int_equal(TK_ROWS_AT(&nights, struct tk_night_row, 0)->finished_s, 0);
	assert_int_equal(TK_ROWS_AT(&nights, struct tk_night_row, 1)->finished_s, 2000);
	assert_string_equal(TK_ROWS_AT(&nights, struct tk_night_row, 1)->summary, "{\"jobs\":1}");
	tk_rows_free(&nights);
	MUST_FAIL(TK_EDATA, "no night",
	        tk_store_finish_night(h->store, 99, TK_NIGHT_COMPLETE, NULL, 1, &err));
	MUST_FAIL(TK_EDATA, "CHECK",
	        tk_store_finish_night(h->store, h->night, TK_NIGHT_STOPPED, NULL, 1, &err));

	MUST(tk_store_put_stage(h->store, &stage, &err));
	stage.status = TK_STAGE_DONE;
	stage.finished_s = 6;
	MUST(tk_store_put_stage(h->store, &stage, &err));
	READ_ONE(tk_stage_row, read, tk_store_list_stages(h->store, h->night, out, &err));
	assert_int_equal(read->status, TK_STAGE_DONE);
	assert_int_equal(read->finished_s, 6);
	for (size_t i = 0; i < sizeof late / sizeof *late;
	        i++) { /* within one second: in the order of a night */
		stage.name = late[sizeof late / sizeof *late - 1 - i];
		stage.started_s = 7;
		MUST(tk_store_put_stage(h->store, &stage, &err));
	}
	tk_rows_free(&read_list);
	MUST(tk_store_list_stages(h->store, h->night, &read_list, &err));
	for (size_t i = 0; i < sizeof late / sizeof *late; i++)
		assert_string_equal(
		        TK_ROWS_AT(&read_list, struct tk_stage_row, i + 1)->name, late[i]);
	MUST(tk_store_put_resolution(h->store, &resolution, &err));
	resolution.build_id = h->build;
	MUST(tk_store_put_resolution(h->store, &resolution, &err));
	READ_ONE(tk_resolution_row, answer,
	        tk_store_list_resolutions(h->store, h->night, out, &err));
	assert_int_equal(answer->build_id, h->build);
	assert_int_equal(answer->revision_id, h->revision);
	tk_rows_free(&read_list);
	tk_rows_free(&answer_list);
}

/* However they came. What the past leaves out is not known. */
static void the_past_is_in_order(void **state)
{
	static const int64_t seqs[] = {3, 1, 4, 2};
	struct history *h = *state;
	struct tk_rows past;
	int64_t id;

	for (size_t i = 0; i < 4; i++)
		MUST(history_put_run(h, seqs[i], 100.0 * (double)seqs[i], 5, &id, &err));
	for (int again = 0; again < 2; again++) {
		MUST(tk_store_list_points_between(h->store, h->series, 1001, 1004, &past, &err));
		assert_int_equal(past.count, 3);
		for (size_t i = 0; i < past.count; i++) {
			const struct tk_point *p = TK_ROWS_AT(&past, struct tk_point, i);

			assert_int_equal(p->as_of_s, 1001 + i);
			assert_true(p->value == 100.0 * (double)(i + 1) && p->lo == p->value - 1 &&
			            isnan(p->min));
			assert_int_equal(p->night_id, h->night);
			assert_int_equal(p->build_id, h->build);
			assert_int_equal(p->environment_id, h->environment);
			assert_int_equal(p->flags, TK_POINT_UNSTABLE);
		}
		tk_rows_free(&past);
	}
	MUST(tk_store_list_points_between(h->store, h->series, 2000, 3000, &past, &err));
	assert_int_equal(past.count, 0);
	tk_rows_free(&past);
}

/* Only what has a logarithm; whole points only where they are asked for. */
static void levels_are_made_of_values(void **state)
{
	static const int64_t seqs[] = {3, 1, 5, 4, 2};
	struct history *h = *state;
	struct tk_rows rows;
	int64_t id;

	for (size_t i = 0; i < 5; i++)
		MUST(history_put_run(
		        h, seqs[i], seqs[i] == 2 ? 0 : 100.0 * (double)seqs[i], 5, &id, &err));
	MUST(tk_store_list_values(h->store, h->series, 1005, &rows, &err));
	assert_int_equal(rows.count, 3);
	for (size_t i = 0; i < rows.count; i++) {
		static const int64_t there[] = {1, 3, 4};
		const struct tk_timed_value *v = TK_ROWS_AT(&rows, struct tk_timed_value, i);

		assert_int_equal(v->as_of_s, 1000 + there[i]);
		assert_true(v->value == 100.0 * (double)there[i]);
	}
	tk_rows_free(&rows);
	MUST(tk_store_list_first_points(h->store, h->series, 1005, 2, &rows, &err));
	assert_int_equal(rows.count, 2);
	assert_int_equal(TK_ROWS_AT(&rows, struct tk_point, 0)->as_of_s, 1001);
	assert_int_equal(TK_ROWS_AT(&rows, struct tk_point, 1)->as_of_s, 1003);
	tk_rows_free(&rows);
	MUST(tk_store_list_last_points(h->store, h->series, 1005, 1, 2, &rows, &err));
	assert_int_equal(rows.count, 2);
	assert_int_equal(TK_ROWS_AT(&rows, struct tk_point, 0)->as_of_s, 1003);
	assert_int_equal(TK_ROWS_AT(&rows, struct tk_point, 1)->as_of_s, 1004);
	assert_true(TK_ROWS_AT(&rows, struct tk_point, 1)->lo == 399);
	assert_int_equal(TK_ROWS_AT(&rows, struct tk_point, 1)->night_id, h->night);
	tk_rows_free(&rows);
}

static void derived_rows_are_replaced(void **state)
{
	struct history *h = *state;
	struct tk_change_point_row change = {.series_id = h->series,
	        .as_of_s = 5,
	        .run_id = 1,
	        .previous_run_id = 2,
	        .before_value = 1,
	        .after_value = 2,
	        .change_lo = 0.9,
	        .change_hi = 1.1,
	        .p = 0.001,
	        .cause = TK_CAUSE_CODE,
	        .confidence = 0.9,
	        .detail = "{}"};
	struct tk_verdict_row verdict = {.night_id = h->night,
	        .series_id = h->series,
	        .status = TK_VERDICT_SAME,
	        .before_value = NAN,
	        .after_value = 3,
	        .change = NAN,
	        .change_lo = NAN,
	        .change_hi = NAN,
	        .threshold = 0.03,
	        .p = NAN,
	        .q = 0.5,
	        .reason = "r",
	        .detail = "{}"};
	struct tk_rows none = {0};

	MUST(tk_store_replace_change_points(h->store, h->series, &change, 1, &err));
	change.as_of_s = 6;
	MUST(tk_store_replace_change_points(h->store, h->series, &change, 1, &err));
	READ_ONE(tk_change_point_row, read, tk_store_list_change_points(h->store, 0, out, &err));
	assert_int_equal(read->as_of_s, 6);
	assert_int_equal(read->cause, TK_CAUSE_CODE);
	READ_ONE(tk_change_point_row, same,
	        tk_store_list_change_points(h->store, h->series, out, &err));
	assert_true(same->change_hi == 1.1);
	MUST(tk_store_replace_verdicts(h->store, h->night, &verdict, 1, &err));
	verdict.status = TK_VERDICT_NEW;
	MUST(tk_store_replace_verdicts(h->store, h->night, &verdict, 1, &err));
	READ_ONE(tk_verdict_row, judged, tk_store_list_verdicts(h->store, h->night, out, &err));
	assert_int_equal(judged->status, TK_VERDICT_NEW);
	assert_true(isnan(judged->before_value) && isnan(judged->p) && judged->after_value == 3 &&
	            judged->q == 0.5);
	READ_ONE(tk_verdict_row, found,
	        tk_store_find_verdict(h->store, h->night, h->series, out, &err));
	assert_int_equal(found->status, TK_VERDICT_NEW);
	MUST(tk_store_find_verdict(h->store, h->night, h->series + 1, &none, &err));
	assert_int_equal(none.count, 0);
	tk_rows_free(&read_list);
	tk_rows_free(&same_list);
	tk_rows_free(&judged_list);
	tk_rows_free(&found_list);
	tk_rows_free(&none);
}

static void alerts_and_what_people_said(void **state)
{
	struct history *h = *state;
	struct tk_alert_row alert = {.series_id = h->series,
	        .night_id = h->night,
	        .status = TK_ALERT_OPEN,
	        .opened_s = 9,
	        .change = 0.2,
	        .cause = TK_CAUSE_CODE,
	        .good_rev = "a",
	        .bad_rev = "b",
	        .title = "slower"};
	struct tk_triage_row triage = {.alert_uid = "x",
	        .at_s = 1,
	        .author = "me",
	        .action = TK_ACTION_ACK,
	        .note = "known"};
	struct tk_notification_row sent = {
	        .alert_uid = "x", .sink = "file", .target = "t", .sent_s = 3};
	int64_t id, again;

	MUST(tk_store_put_alert(h->store, &alert, &err));
	alert.status = TK_ALERT_CLOSED;
	alert.closed_s = 11;
	MUST(tk_store_put_alert(h->store, &alert, &err));
	READ_ONE(tk_alert_row, read, tk_store_list_alerts(h->store, out, &err));
	assert_int_equal(read->status, TK_ALERT_CLOSED);
	assert_int_equal(read->closed_s, 11);
	assert_int_equal(strlen(read->uid), 32);
	MUST(tk_store_put_triage(h->store, &triage, &id, &err));
	MUST(tk_store_put_triage(h->store, &triage, &again, &err));
	assert_int_equal(id, again);
	READ_ONE(tk_triage_row, decision, tk_store_list_triage(h->store, out, &err));
	assert_int_equal(decision->action, TK_ACTION_ACK);
	assert_string_equal(decision->note, "known");
	MUST(tk_store_put_notification(h->store, &sent, &err));
	MUST(tk_store_put_notification(h->store, &sent, &err));
	READ_ONE(tk_notification_row, told, tk_store_list_notifications(h->store, out, &err));
	assert_int_equal(told->sent_s, 3);
	tk_rows_free(&read_list);
	tk_rows_free(&decision_list);
	tk_rows_free(&told_list);
}

static void ceilings_of_a_night_or_the_newest(void **state)
{
	struct history *h = *state;
	struct tk_night_row later = {.machine_id = h->machine,
	        .kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = 2000,
	        .started_s = 2000,
	        .status = TK_NIGHT_RUNNING,
	        .config_hash = "",
	        .tracker_version = ""};
	struct tk_ceiling_row ceiling = {.night_id = h->night,
	        .device_id = h->device,
	        .name = "copy",
	        .source = TK_CEILING_MEASURED,
	        .unit = "gb_per_s",
	        .value = 10};
	struct tk_rows list;
	int64_t night;

	MUST(tk_store_put_ceiling(h->store, &ceiling, &err));
	ceiling.name = "read";
	MUST(tk_store_put_ceiling(h->store, &ceiling, &err));
	MUST(tk_store_begin_night(h->store, &later, &night, &err));
	ceiling.night_id = night;
	ceiling.value = 12;
	MUST(tk_store_put_ceiling(h->store, &ceiling, &err));
	ceiling.value = 13;
	MUST(tk_store_put_ceiling(h->store, &ceiling, &err));
	MUST(tk_store_list_ceilings(h->store, 0, &list, &err));
	assert_int_equal(list.count, 2);
	assert_true(TK_ROWS_AT(&list, struct tk_ceiling_row, 0)->value == 10);
	assert_true(TK_ROWS_AT(&list, struct tk_ceiling_row, 1)->value == 13);
	tk_rows_free(&list);
	MUST(tk_store_list_ceilings(h->store, night, &list, &err));
	assert_int_equal(list.count, 1);
	tk_rows_free(&list);
}

static void the_same_fact_twice_is_one_row(void **state)
{
	struct history *h = *state;
	struct history before = *h;
	struct tk_revision_row vague = {.upstream_id = h->upstream, .rev = "0123abcd"};
	struct tk_upstream_row moved = {
	        .name = "blas", .kind = "git", .url = "https://example.org/new.git"};
	int64_t id;

	history_fill(h);
	assert_int_equal(h->series, before.series);
	assert_int_equal(h->build, before.build);
	assert_int_equal(h->environment, before.environment);
	assert_int_not_equal(h->night, before.night);
	/* What describes follows the newest put; what that one does not know stays. */
	MUST(tk_store_put_upstream(h->store, &moved, &id, &err));
	assert_int_equal(id, h->upstream);
	MUST(tk_store_put_revision(h->store, &vague, &id, &err));
	assert_int_equal(id, h->revision);
	READ_ONE(tk_upstream_row, upstream, tk_store_list_upstreams(h->store, out, &err));
	assert_string_equal(upstream->url, "https://example.org/new.git");
	READ_ONE(tk_revision_row, revision, tk_store_list_revisions(h->store, out, &err));
	assert_string_equal(revision->subject, "gemm: unroll");
	assert_int_equal(revision->position, 7);
	tk_rows_free(&upstream_list);
	tk_rows_free(&revision_list);
}

static void export_to(struct history *h, const char *name, struct tk_buf *out)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	MUST(tk_store_export(h->store, fileno(f), &err));
	fclose(f);
	MUST(tk_file_read(path, 1 << 20, out, &err));
}

static void two_databases_agree(void **state)
{
	struct history *h = *state, other;
	struct tk_machine_row first = {.name = "another", .attributes = "{}"};
	struct tk_buf a = TK_BUF_INIT, b = TK_BUF_INIT;
	struct tk_machine_row last = first;
	int64_t id;

	history_new(&other);
	/* Ids differ, uids and the order of the export do not. */
	MUST(tk_store_put_machine(other.store, &first, &id, &err));
	history_fill(&other);
	MUST(tk_store_put_machine(h->store, &last, &id, &err));
	MUST(history_put_run(h, 1, 10, 5, NULL, &err));
	MUST(history_put_run(&other, 1, 10, 5, NULL, &err));
	export_to(h, "export", &a);
	export_to(&other, "export", &b);
	assert_string_equal(a.data, b.data);
	assert_non_null(strstr(a.data, "{\"table\":\"measurement\",\"series\":\""));
	assert_non_null(strstr(a.data, "\"data\":[10.0,"));
	tk_buf_free(&a);
	tk_buf_free(&b);
	history_free(&other);
}

static void slugs_are_safe_and_unique(void **state)
{
	struct history *h = *state;
	char longer[600];
	struct tk_machine_row machine = {
	        .name = "../Ünsafe <b>/box.example.org", .attributes = "{}"};
	struct tk_device_row device = {
	        .kind = "cpu", .name = "c", .uuid = "1", .arch = "", .slug = "H200 #0"};
	struct tk_series_row series = {.upstream_id = h->upstream,
	        .problem_id = h->problem,
	        .backend = "Ref",
	        .mode = "cold",
	        .metric = "power",
	        .unit = "w",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_CONTROL};
	struct tk_rows list;
	int64_t id;

	MUST(tk_store_put_machine(h->store, &machine, &device.machine_id, &err));
	MUST(tk_store_put_device(h->store, &device, &series.device_id, &err));
	series.config = "tile 64x64";
	MUST(tk_store_put_series(h->store, &series, &id, &err));
	series.config = "tile/64x64";
	MUST(tk_store_put_series(h->store, &series, &id, &err));
	memset(longer, 'q', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	series.config = longer;
	MUST(tk_store_put_series(h->store, &series, &id, &err));
	longer[500] = 'r';
	MUST(tk_store_put_series(h->store, &series, &id, &err));
	MUST(tk_store_put_series(h->store, &series, &id, &err));
	MUST(tk_store_list_series(h->store, &list, &err));
	assert_int_equal(list.count, 5);
	for (size_t i = 0; i < list.count; i++) {
		const char *slug = TK_ROWS_AT(&list, struct tk_series_row, i)->slug;

		assert_true(strlen(slug) <= 120);
		assert_int_equal(
		        strspn(slug, "abcdefghijklmnopqrstuvwxyz0123456789._-"), strlen(slug));
		assert_true(slug[0] != '.' && slug[0] != '-');
		if (i)
			assert_string_not_equal(
			        slug, TK_ROWS_AT(&list, struct tk_series_row, i - 1)->slug);
	}
	assert_non_null(strstr(TK_ROWS_AT(&list, struct tk_series_row, 3)->slug,
	        "nsafe-b-box-example-org.h200-0.blas.ref.gemm-f32-512x512x512-nn.tile-64x64.cold."
	        "power"));
	tk_rows_free(&list);
}

static void devices_without_uuid_stay_two(void **state)
{
	struct history *h = *state;
	struct tk_device_row device = {.machine_id = h->machine,
	        .kind = "null",
	        .name = "null",
	        .arch = "",
	        .slug = "null-0"};
	int64_t a, b, c;

	MUST(tk_store_put_device(h->store, &device, &a, &err));
	device.slug = "null-1";
	MUST(tk_store_put_device(h->store, &device, &b, &err));
	assert_int_not_equal(a, b);
	/* Another card in the same slot is another device, with a name of its own. */
	device.uuid = "GPU-2";
	MUST(tk_store_put_device(h->store, &device, &c, &err));
	assert_int_not_equal(b, c);
	assert_int_equal(history_count(h, "device"), 4);
}

static void hostile_strings_are_data(void **state)
{
	struct history *h = *state;
	char *huge = calloc(10241, 1);
	const char *names[] = {"'; DROP TABLE machine; --", "line\nbreak\ttab",
	        "\"quoted\" 'twice' `thrice`", "<script>alert(1)</script>", "../../etc/passwd",
	        "%s%n%p", "\xff\xfe bad \xc0\xaf \xed\xa0\x80 \xf5 utf-8 \xe2\x82", huge};
	int64_t ids[8], again;

	memset(huge, 'x', 10240);
	for (size_t i = 0; i < 8; i++) {
		struct tk_machine_row row = {.name = names[i], .attributes = names[7 - i]};

		MUST(tk_store_put_machine(h->store, &row, &ids[i], &err));
		MUST(tk_store_put_machine(h->store, &row, &again, &err));
		assert_int_equal(ids[i], again);
	}
	struct tk_rows list, problems;

	MUST(tk_store_list_machines(h->store, &list, &err));
	assert_int_equal(list.count, 9);
	for (size_t i = 0; i < list.count; i++) {
		const struct tk_machine_row *row = TK_ROWS_AT(&list, struct tk_machine_row, i);

		for (size_t k = 0; k < 8; k++)
			if (row->id == ids[k] && k != 6)
				assert_string_equal(row->name, names[k]);
		if (row->id == ids[6])
			assert_string_equal(row->name,
			        "\xef\xbf\xbd\xef\xbf\xbd bad \xef\xbf\xbd\xef\xbf\xbd "
			        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd utf-8 "
			        "\xef\xbf\xbd\xef\xbf\xbd");
	}
	tk_rows_free(&list);
	MUST(tk_store_check(h->store, &problems, &err));
	assert_int_equal(problems.count, 0);
	tk_rows_free(&problems);
	free(huge);
}

static void unknown_parents_are_refused(void **state)
{
	struct history *h = *state;
	struct tk_environment_row environment = {.device_id = 4711, .attributes = "{}"};
	struct tk_build_row build = {.revision_id = h->revision,
	        .artifact_key = "k",
	        .adapter = "a",
	        .status = (enum tk_build_status)99,
	        .built_s = 1};
	struct tk_series_row series = {.device_id = 1,
	        .upstream_id = 99,
	        .problem_id = 1,
	        .backend = "b",
	        .mode = "cold",
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};
	struct tk_stage_row stage = {
	        .night_id = 4711, .name = "plan", .status = TK_STAGE_DONE, .started_s = 1};
	int64_t id;

	MUST_FAIL(TK_EDATA, "no device with the id 4711",
	        tk_store_put_environment(h->store, &environment, &id, &err));
	MUST_FAIL(TK_EDATA, "CHECK constraint", tk_store_put_build(h->store, &build, &id, &err));
	MUST_FAIL(TK_EDATA, "no upstream with the id 99",
	        tk_store_put_series(h->store, &series, &id, &err));
	MUST_FAIL(TK_EDATA, "FOREIGN KEY", tk_store_put_stage(h->store, &stage, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(identities_come_back),
	        TEST(builds_come_back),
	        TEST(nights_come_back),
	        TEST(levels_are_made_of_values),
	        TEST(the_past_is_in_order),
	        TEST(derived_rows_are_replaced),
	        TEST(alerts_and_what_people_said),
	        TEST(ceilings_of_a_night_or_the_newest),
	        TEST(the_same_fact_twice_is_one_row),
	        TEST(two_databases_agree),
	        TEST(slugs_are_safe_and_unique),
	        TEST(devices_without_uuid_stay_two),
	        TEST(hostile_strings_are_data),
	        TEST(unknown_parents_are_refused),
	};

	return cmocka_run_group_tests_name("store rows", tests, NULL, NULL);
}
