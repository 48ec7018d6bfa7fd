/* Makes histories for the tests of the site, through store.h:
 *
 *   site_seed DB tiny    three nights with verdicts and change points written by hand: what the
 * golden site shows site_seed DB demo    a hundred nights of three machines with a step, an
 * improvement, failures, a changed environment and hostile names (not with --no-hostile), judged by
 * the real detection: what the browser tests look at
 *
 * The same arguments make the same history. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "core/problem.h"
#include "detect/detect.h"
#include "store/store.h"

/* The value of a word in a row of a table below; -1, which no list has, where it is unknown. */
static int word_value(const struct tk_vocabulary *v, const char *name)
{
	int value = -1;

	tk_vocabulary_parse(v, name, &value);
	return value;
}

#define DAY_S 86400
#define FIRST_S 1790038800 /* 2026-09-22T01:00:00Z */
#define SERIES_MAX 64
#define SAMPLES 41
#define HOSTILE "<script>alert('1')</script>\"&"

static struct tk_store *db;
static struct tk_error err;

static void check(int status)
{
	if (!status)
		return;
	fprintf(stderr, "site_seed: %s\n", err.message);
	exit(1);
}

/* ---- rows ---- */

static int64_t machine(const char *name, const char *attributes)
{
	int64_t id;
	check(tk_store_put_machine(
	        db, &(struct tk_machine_row){.name = name, .attributes = attributes}, &id, &err));
	return id;
}

static int64_t device(
        int64_t machine_id, const char *kind, const char *name, const char *arch, const char *slug)
{
	int64_t id;
	check(tk_store_put_device(db,
	        &(struct tk_device_row){.machine_id = machine_id,
	                .kind = kind,
	                .name = name,
	                .uuid = slug,
	                .arch = arch,
	                .slug = slug},
	        &id, &err));
	return id;
}

static int64_t environment(int64_t device_id, const char *attributes)
{
	int64_t id;
	check(tk_store_put_environment(db,
	        &(struct tk_environment_row){.device_id = device_id, .attributes = attributes}, &id,
	        &err));
	return id;
}

static int64_t upstream(const char *name, const char *kind, const char *url)
{
	int64_t id;
	check(tk_store_put_upstream(
	        db, &(struct tk_upstream_row){.name = name, .kind = kind, .url = url}, &id, &err));
	return id;
}

static int64_t revision(int64_t upstream_id, const char *rev, int64_t position, const char *subject)
{
	int64_t id, t = FIRST_S + position * DAY_S - 7200;
	check(tk_store_put_revision(db,
	        &(struct tk_revision_row){.upstream_id = upstream_id,
	                .rev = rev,
	                .parent = "",
	                .position = position,
	                .author_time_s = t,
	                .commit_time_s = t,
	                .author = "Somebody",
	                .subject = subject},
	        &id, &err));
	return id;
}

static int64_t build(int64_t revision_id, const char *key, const char *status, const char *message,
        const char *log)
{
	int64_t id;
	check(tk_store_put_build(db,
	        &(struct tk_build_row){.revision_id = revision_id,
	                .artifact_key = key,
	                .adapter = "cmake",
	                .toolchain = "gcc 12.2.0",
	                .flags = "-O3",
	                .arch = "x86-64",
	                .status = word_value(&tk_build_status_words, status),
	                .message = message,
	                .log = log,
	                .wall_s = 34.5,
	                .size_bytes = 4000000,
	                .built_s = FIRST_S},
	        &id, &err));
	return id;
}

static int64_t problem(const char *text, const char *title)
{
	struct tk_problem_spec spec;
	char made[200];
	int64_t id;
	check(tk_problem_parse(&spec, text, &err));
	tk_problem_format_title(&spec, made, sizeof made);
	check(tk_store_put_problem(db,
	        &(struct tk_problem_row){.text = spec.text,
	                .op = tk_problem_op_name(&spec),
	                .dtype = tk_problem_dtype_name(&spec),
	                .title = title ? title : made,
	                .flops = tk_problem_flops(&spec),
	                .bytes = tk_problem_bytes(&spec),
	                .source = "tests/site/seed.c",
	                .family = title ? "hostile" : ""},
	        &id, &err));
	return id;
}

static int64_t series_of_metric(int64_t device_id, int64_t upstream_id, const char *backend,
        const char *config, int64_t problem_id, const char *role, const char *mode,
        const char *metric)
{
	int64_t id;
	check(tk_store_put_series(db,
	        &(struct tk_series_row){.device_id = device_id,
	                .upstream_id = upstream_id,
	                .problem_id = problem_id,
	                .backend = backend,
	                .config = config,
	                .mode = mode,
	                .metric = metric,
	                .unit = "ns",
	                .better = TK_BETTER_LOWER,
	                .role = word_value(&tk_series_role_words, role)},
	        &id, &err));
	return id;
}

static int64_t series(int64_t device_id, int64_t upstream_id, const char *backend,
        const char *config, int64_t problem_id, const char *role, const char *mode)
{
	return series_of_metric(
	        device_id, upstream_id, backend, config, problem_id, role, mode, "time");
}

static int64_t begin_night(int64_t machine_id, int64_t t_s)
{
	int64_t id;
	check(tk_store_begin_night(db,
	        &(struct tk_night_row){.machine_id = machine_id,
	                .kind = TK_NIGHT_NIGHTLY,
	                .as_of_s = t_s,
	                .started_s = t_s,
	                .status = TK_NIGHT_RUNNING,
	                .seed = 1,
	                .config_hash = "c0ffee",
	                .tracker_version = "0.1.0",
	                .summary = "{}"},
	        &id, &err));
	return id;
}

static void stage(int64_t night, const char *name, const char *status, int64_t from_s, int64_t to_s,
        const char *detail)
{
	check(tk_store_put_stage(db,
	        &(struct tk_stage_row){.night_id = night,
	                .name = name,
	                .status = word_value(&tk_stage_status_words, status),
	                .started_s = from_s,
	                .finished_s = to_s,
	                .detail = detail},
	        &err));
}

static void resolution(int64_t night, int64_t upstream_id, int64_t revision_id, int64_t build_id,
        const char *status, const char *message)
{
	check(tk_store_put_resolution(db,
	        &(struct tk_resolution_row){.night_id = night,
	                .upstream_id = upstream_id,
	                .revision_id = revision_id,
	                .build_id = build_id,
	                .status = word_value(&tk_resolution_status_words, status),
	                .message = message},
	        &err));
}

struct where {
	int64_t night, night_s, build, environment;
	int64_t seq;
	bool samples; /* are kept */
};

static int64_t run(const struct where *w, int64_t series_id, const char *outcome,
        const char *message, double value, double noise)
{
	int64_t id;
	bool counts = value > 0;
	char attributes[400];
	/* what a run takes differs between series, so that there is something to rank */
	snprintf(attributes, sizeof attributes,
	        "{\"device_bytes\":%d,\"energy_j\":%.4f,\"launch_ns\":%d,\"plan\":{\"algorithm\":"
	        "\"tile "
	        "128x256\",\"kernel\":"
	        "\"gemm_kernel\",\"workspace_bytes\":%d}}",
	        (int)(1 + series_id % 3) << 25,
	        value * 1e-9 * (450 + 100 * (double)(series_id % 3)),
	        (int)(2200 + 300 * (series_id % 4)), (int)(1 + series_id % 4) << 20);
	struct tk_run_row row = {.night_id = w->night,
	        .seq = w->seq,
	        .series_id = series_id,
	        .build_id = w->build,
	        .environment_id = w->environment,
	        .as_of_s = w->night_s,
	        .started_s = w->night_s + w->seq * 4,
	        .wall_s = 3.2,
	        .outcome = word_value(&tk_outcome_words, outcome),
	        .message = message,
	        .attributes = w->samples ? attributes : "{}"};
	struct tk_point point = {.series_id = series_id,
	        .value = value,
	        .lo = value * (1 - noise),
	        .hi = value * (1 + noise),
	        .n = SAMPLES,
	        .min = value * 0.98,
	        .q25 = value * 0.995,
	        .q75 = value * 1.006,
	        .p95 = value * 1.02,
	        .flags = !strcmp(outcome, "unstable") ? TK_POINT_UNSTABLE : 0};
	double list[SAMPLES];
	const double *samples[1] = {list};
	size_t counts_of_samples[1] = {w->samples ? SAMPLES : 0};
	for (size_t i = 0; i < SAMPLES; i++) /* a long tail to the right, as timings have it */
		list[i] = value * (1 + noise * ((double)i - SAMPLES / 2) / SAMPLES +
		                          (i > SAMPLES - 4 ? 2 * noise : 0));
	check(tk_store_put_run(
	        db, &row, &point, samples, counts_of_samples, counts ? 1 : 0, &id, &err));
	return id;
}

static void ceiling(int64_t night, int64_t device_id, const char *name, const char *source,
        const char *unit, double value)
{
	struct tk_ceiling_row row = {
	        night, device_id, name, word_value(&tk_ceiling_source_words, source), unit, value};
	check(tk_store_put_ceiling(db, &row, &err));
}

/* ---- tiny ---- */

static void verdict(struct tk_verdict_row *v, int64_t night, int64_t series_id, const char *status,
        double before, double after, const char *reason)
{
	*v = (struct tk_verdict_row){.night_id = night,
	        .series_id = series_id,
	        .status = word_value(&tk_verdict_status_words, status),
	        .before_value = before,
	        .after_value = after,
	        .change = after / before - 1,
	        .change_lo = after / before - 1.01,
	        .change_hi = after / before - 0.99,
	        .threshold = 0.02,
	        .p = 0.0001,
	        .q = 0.001,
	        .reason = reason,
	        .detail = "{}"};
}

static void tiny(void)
{
	int64_t lab = machine("lab", "{\"cpu\":\"Example CPU\",\"cores\":8}"),
	        cpu = device(lab, "cpu", "Example CPU", "x86-64-v4", "cpu");
	int64_t env[2] = {environment(cpu, "{\"kernel\":\"6.1\",\"governor\":\"powersave\"}"),
	        environment(cpu, "{\"kernel\":\"6.1\",\"governor\":\"performance\"}")};
	int64_t blas = upstream(
	        "openblas", "git", "https://user:secret@github.com/OpenMathLib/OpenBLAS.git");
	int64_t odd = upstream(HOSTILE, "git", "https://evil.example/\"><script>");
	int64_t revs[3] = {revision(blas, "1111111111111111111111111111111111111111", 1, "Start"),
	        revision(blas, "2222222222222222222222222222222222222222", 2,
	                "Block the kernel for a larger cache"),
	        revision(odd, "../../../etc/passwd", 1,
	                "</script><script>alert(2)</script>\n\x1b[31mred")};
	int64_t builds[3] = {build(revs[0], "a", "ok", "", ""), build(revs[1], "b", "ok", "", ""),
	        build(revs[2], "c", "failed", "make: *** [all] Error 1",
	                "cc -c x.c\n</pre><script>alert(3)</script>\nmake: *** [all] Error 1\n")};
	int64_t gemm = problem("gemm:m=512,n=512,k=512", NULL),
	        attention = problem("attention:b=1,h=8,sq=1024,d=64,dtype=f32,causal=1", NULL);
	int64_t s[3] = {series(cpu, blas, "openblas", "", gemm, "suite", "cold"),
	        series(cpu, blas, "openblas", "", attention, "suite", "cold"),
	        series(cpu, odd, HOSTILE, "tile=\"4\"", gemm, "suite", "cold")};
	int64_t runs[3] = {0}, night = 0;
	for (int n = 0; n < 3; n++) {
		struct where w = {.night_s = FIRST_S + n * DAY_S,
		        .build = builds[n == 2],
		        .environment = env[n > 0]};
		w.night = night = begin_night(lab, w.night_s);
		stage(night, "resolve", "done", w.night_s, w.night_s + 3, "2 upstreams");
		stage(night, "build", n == 2 ? "failed" : "done", w.night_s + 3, w.night_s + 40,
		        n == 2 ? "1 of 2 failed" : "");
		resolution(night, blas, revs[n == 2], builds[n == 2], n == 2 ? "new" : "unchanged",
		        "");
		if (n == 2)
			resolution(night, odd, revs[2], builds[2], "failed", "the build failed");
		runs[n] = run(&w, s[0], "ok", "", n == 2 ? 900e3 : 800e3 + n * 1e3, 0.004);
		w.seq++;
		run(&w, s[1], "ok", "", n == 2 ? 4.1e6 : 5.0e6, 0.006);
		w.seq++;
		run(&w, s[2], n == 2 ? "build_failed" : "ok", n == 2 ? HOSTILE : "",
		        n == 2 ? 0 : 1.2e6, 0.01);
		ceiling(night, cpu, "copy", "measured", "gb_per_s", 40);
		ceiling(night, cpu, "l1 read", "measured", "gb_per_s", 340);
		ceiling(night, cpu, "f32", "measured", "gflop_per_s", 600);
		ceiling(night, cpu, "f32", "datasheet", "gflop_per_s", 800);
		check(tk_store_finish_night(db, night,
		        n == 2 ? TK_NIGHT_INCOMPLETE : TK_NIGHT_COMPLETE, "{}", w.night_s + 900,
		        &err));
	}
	struct tk_verdict_row v[3];
	verdict(&v[0], night, s[0], "regressed", 800e3, 900e3, "12.5 % slower, its noise is 0.4 %");
	verdict(&v[1], night, s[1], "improved", 5.0e6, 4.1e6, "");
	verdict(&v[2], night, s[2], "newly-failed", NAN, NAN, HOSTILE);
	check(tk_store_replace_verdicts(db, night, v, 3, &err));
	struct tk_change_point_row c = {.series_id = s[0],
	        .as_of_s = FIRST_S + 2 * DAY_S,
	        .run_id = runs[2],
	        .previous_run_id = runs[1],
	        .before_value = 800.5e3,
	        .after_value = 900e3,
	        .change_lo = 0.11,
	        .change_hi = 0.14,
	        .p = 0.0001,
	        .cause = TK_CAUSE_CODE,
	        .confidence = 0.99,
	        .detail = "{}"};
	check(tk_store_replace_change_points(db, s[0], &c, 1, &err));
	check(tk_store_put_alert(db,
	        &(struct tk_alert_row){.uid = "alert-1",
	                .series_id = s[0],
	                .night_id = night,
	                .status = TK_ALERT_OPEN,
	                .opened_s = FIRST_S + 2 * DAY_S,
	                .change = 0.125,
	                .cause = TK_CAUSE_CODE,
	                .good_rev = "1111111111111111111111111111111111111111",
	                .bad_rev = "2222222222222222222222222222222222222222",
	                .title = "openblas is 12.5 % slower at " HOSTILE},
	        &err));
	int64_t id;
	check(tk_store_put_triage(db,
	        &(struct tk_triage_row){.alert_uid = "alert-1",
	                .at_s = FIRST_S + 3 * DAY_S,
	                .author = "ops",
	                .action = "note",
	                .note = "reported upstream, " HOSTILE},
	        &id, &err));
}

/* ---- demo ---- */

struct step {
	int night;
	double factor;
};

struct followed {
	int64_t series;
	size_t upstream;
	double value, noise;
	struct step steps[3];
	int fails_from, fails_to; /* nights; 0: never */
	const char *outcome, *message;
};

struct source {
	int64_t id;
	const char *name;
	int every; /* nights between two commits */
	int64_t builds[100], revisions[100];
	char revs[100][41];
};

struct lab {
	const char *mode; /* of the series that are followed from now on */
	int64_t machine, device, environments[2];
	int environment_changes; /* night; 0: never */
	double environment_factor;
	struct source sources[4];
	size_t source_count;
	struct followed all[SERIES_MAX];
	size_t count;
};

static const char *const subjects[] = {"Use 8x48 micro-kernel on AVX-512",
        "Fix leak in thread pool shutdown", "Retune panel sizes for large L3",
        "Prefetch the next B panel", "Avoid false sharing of the work counters", "Update CI images",
        "Skip masked tiles of causal attention", "Simplify edge handling",
        "Document the environment variables", "Split k when m and n are small",
        "Fuse scaling into the first pass of softmax"};

/* One commit in seven leaves the machine code as it was; every third one takes other registers. */
static void put_code(int64_t build_id, const char *backend, int commit)
{
	static const char *const names[] = {"", "gemm_kernel", "pack_a"};
	for (size_t i = 0; i < 3; i++) {
		char hash[24];
		int version = i == 2 ? 0 : commit - (commit % 7 == 2);
		snprintf(hash, sizeof hash, "%08x%zu", 0x9e3779b9u * (unsigned)(version + 1), i);
		check(tk_store_put_kernel(db,
		        &(struct tk_kernel_row){.build_id = build_id,
		                .backend = backend,
		                .name = names[i],
		                .code_hash = hash,
		                .size_bytes = 4096 + 16 * version,
		                .registers = i == 1 ? 128 + 8 * (commit / 3 % 3) : -1,
		                .spill_bytes = i == 1 ? 0 : -1,
		                .shared_bytes = -1,
		                .threads = -1,
		                .occupancy_percent = -1},
		        NULL, &err));
	}
}

static void make_source(struct source *s, const char *name, const char *kind, const char *url,
        int every, int nights, uint64_t seed)
{
	static char huge[10241];
	memset(huge, 'x', sizeof huge - 1);
	s->id = upstream(name, kind, url);
	s->name = name;
	s->every = every;
	for (int n = 0; n < nights; n++) {
		char rev[41], key[80];
		int commit = n / every;
		for (int i = 0; i < 40; i++)
			rev[i] = "0123456789abcdef"[tk_splitmix64(seed * 1000 +
			                                          (uint64_t)commit * 41 +
			                                          (uint64_t)i) %
			                            16];
		rev[40] = 0;
		const char *subject = subjects[tk_splitmix64(seed + (uint64_t)commit) %
		                               (sizeof subjects / sizeof *subjects)];
		if (commit == 3)
			subject = huge;
		if (commit == 5)
			subject = "Handle </script><img src=x onerror=alert(5)> in \"quoted\" & "
			          "'other' names";
		snprintf(key, sizeof key, "%.20s-%d", name, commit);
		memcpy(s->revs[n], rev, sizeof rev);
		s->revisions[n] = revision(s->id, rev, commit, subject);
		s->builds[n] = build(s->revisions[n], key, "ok", "", "");
		put_code(s->builds[n], name, commit);
	}
}

static struct followed *follow(struct lab *lab, size_t source, const char *backend,
        const char *config, int64_t problem_id, const char *role, double value)
{
	struct followed *f = &lab->all[lab->count++];
	*f = (struct followed){.series = series(lab->device, lab->sources[source].id, backend,
	                               config, problem_id, role, lab->mode),
	        .upstream = source,
	        .value = value,
	        .noise = 0.003};
	return f;
}

static double level(const struct followed *f, int night)
{
	double v = f->value;
	for (int i = 0; i < 3; i++)
		if (f->steps[i].factor > 0 && night >= f->steps[i].night)
			v *= f->steps[i].factor;
	return v;
}

static double level_there(const struct lab *lab, const struct followed *f, int night)
{
	return level(f, night) * (lab->environment_changes && night >= lab->environment_changes
	                                         ? lab->environment_factor
	                                         : 1);
}

static void measure_night(
        struct lab *lab, int n, struct where *w, struct tk_rng *rng, size_t *failed)
{
	for (size_t i = 0; i < lab->count; i++, w->seq++) {
		struct followed *f = &lab->all[i];
		bool fails = f->outcome && n >= f->fails_from && n <= f->fails_to;
		double v = level_there(lab, f, n) * (1 + f->noise * tk_rng_normal(rng));
		w->build = lab->sources[f->upstream].builds[n];
		run(w, f->series, fails ? f->outcome : "ok", fails ? f->message : "", fails ? 0 : v,
		        0.6 * f->noise + 0.001);
		*failed += fails && strcmp(f->outcome, "unsupported");
	}
}

/* What got slower last night was measured again the same night, its old build against its new one. */
static void confirm_night(const struct lab *lab, int n, const struct where *w)
{
	struct tk_rng rng; /* its own, so that what was measured before stays as it was */
	tk_rng_seed(&rng, 11);
	for (size_t i = 0; i < lab->count; i++) {
		const struct followed *f = &lab->all[i];
		double good = level_there(lab, f, n - 1), bad = level_there(lab, f, n);
		for (int pair = 0; bad > good * 1.02 && pair < 16; pair++) {
			double drift = 1 + 0.03 * tk_rng_normal(&rng), good_value, bad_value;
			good_value = good * drift * (1 + 0.004 * tk_rng_normal(&rng));
			bad_value = bad * drift * (1 + 0.004 * tk_rng_normal(&rng));
			struct tk_ab_pair_row row = {.night_id = w->night,
			        .series_id = f->series,
			        .good_build_id = lab->sources[f->upstream].builds[n - 1],
			        .bad_build_id = lab->sources[f->upstream].builds[n],
			        .pair = pair,
			        .started_s = w->night_s + 1200 + pair,
			        .wall_s = 0.8,
			        .first = pair % 2 ? "bad" : "good",
			        .good_outcome = "ok",
			        .bad_outcome = "ok",
			        .message = "",
			        .good_median = good_value,
			        .bad_median = bad_value,
			        .good_min = good_value * 0.98,
			        .bad_min = bad_value * 0.98};
			int64_t id;
			check(tk_store_put_ab_pair(db, &row, &id, &err));
		}
	}
}

/* A bisection found which of the commits between the two revisions it was. */
static void find_culprit(const struct lab *lab, int n, int64_t night)
{
	const struct source *s = &lab->sources[1];
	for (size_t i = 0; i < lab->count; i++)
		if (level(&lab->all[i], n) > level(&lab->all[i], n - 1) * 1.09)
			check(tk_store_put_bisection(db,
			        &(struct tk_bisection_row){.series_id = lab->all[i].series,
			                .night_id = night,
			                .good_rev = s->revs[n - 1],
			                .bad_rev = s->revs[n],
			                .outcome = TK_BISECT_FOUND,
			                .first_bad_rev = "5eed5eed5eed5eed5eed5eed5eed5eed5eed5eed",
			                .last_good_rev = s->revs[n - 1],
			                .subject = "Unroll the inner loop by eight",
			                .author = "Somebody Else",
			                .author_time_s = FIRST_S + 50 * DAY_S,
			                .change = 0.0921,
			                .change_lo = 0.089,
			                .change_hi = 0.095,
			                .confidence = 0.997,
			                .build_count = 3,
			                .comparison_count = 3,
			                .pair_count = 48,
			                .finished_s = FIRST_S + 60 * DAY_S},
			        &err));
}

/* People spoke of the alerts of the last night. */
static void say(int64_t at_s)
{
	struct tk_rows alerts = {0};
	check(tk_store_list_alerts(db, &alerts, &err));
	for (size_t i = 0; i < alerts.count; i++) {
		const struct tk_alert_row *a = TK_ROWS_AT(&alerts, struct tk_alert_row, i);
		if (a->status != TK_ALERT_OPEN || a->kind != TK_ALERT_CHANGE)
			continue;
		for (int k = 0; k < 2; k++) { /* the same for each of the group: there once */
			int64_t id;
			check(tk_store_put_triage(db,
			        &(struct tk_triage_row){.alert_uid = a->group_uid,
			                .at_s = at_s + 60 * k,
			                .author = "jane",
			                .action = k ? "link" : "ack",
			                .note = k ? "https://github.com/OpenMathLib/OpenBLAS/"
			                            "issues/1"
			                          : "looking at it"},
			        &id, &err));
		}
	}
	tk_rows_free(&alerts);
}

static void demo_night(struct lab *lab, int n, struct tk_rng *rng, bool last)
{
	struct where w = {
	        .night_s = FIRST_S + (int64_t)(n - 40) * DAY_S + (int64_t)tk_rng_below(rng, 300)};
	size_t failed = 0;
	w.samples = n >= 90;
	w.night = begin_night(lab->machine, w.night_s);
	w.environment =
	        lab->environments[lab->environment_changes && n >= lab->environment_changes];
	stage(w.night, "resolve", "done", w.night_s, w.night_s + 4, "");
	for (size_t i = 0; i < lab->source_count; i++) {
		struct source *s = &lab->sources[i];
		bool unreachable = i == 1 && n == 90,
		     fresh = n && s->revisions[n] != s->revisions[n - 1];
		resolution(w.night, s->id, s->revisions[n], s->builds[n],
		        unreachable ? "unreachable"
		        : fresh     ? "new"
		                    : "unchanged",
		        unreachable ? "git fetch: could not resolve host: github.com; the last "
		                      "known revision is used"
		                    : "");
	}
	stage(w.night, "build", "done", w.night_s + 4, w.night_s + 75, "");
	measure_night(lab, n, &w, rng, &failed);
	stage(w.night, "measure", failed ? "failed" : "done", w.night_s + 75, w.night_s + 1260,
	        failed ? "some jobs have no timing" : "");
	stage(w.night, "detect", "done", w.night_s + 1260, w.night_s + 1262, "");
	bool gpu = lab->device % 2 == 0;
	ceiling(w.night, lab->device, "copy", "measured", "gb_per_s", gpu ? 4100 : 182);
	ceiling(w.night, lab->device, "read", "measured", "gb_per_s", gpu ? 4350 : 205);
	if (gpu)
		ceiling(w.night, lab->device, "l2 read", "measured", "gb_per_s", 6100);
	ceiling(w.night, lab->device, gpu ? "f16" : "f32", "measured", "gflop_per_s",
	        gpu ? 780e3 : 2900);
	ceiling(w.night, lab->device, gpu ? "f16" : "f32", "datasheet", "gflop_per_s",
	        gpu ? 989e3 : 3500);
	check(tk_store_finish_night(db, w.night, failed ? TK_NIGHT_INCOMPLETE : TK_NIGHT_COMPLETE,
	        "{}", w.night_s + 1265, &err));
	if (last && lab->source_count == 4) {
		confirm_night(lab, n, &w);
		find_culprit(lab, n, w.night);
	}
	struct tk_detect_options options = {.min_effect = 0.02,
	        .min_effect_ns = 100,
	        .fdr = 0.05,
	        .window = 14,
	        .stale_days = 5,
	        .now_s = w.night_s + 1270};
	if (n > 20 || last)
		check(tk_detect_night(db, w.night, &options, NULL, &err));
}

static void make_cpu_lab(struct lab *lab, int nights)
{
	lab->mode = "cold";
	lab->machine = machine("epyc-lab",
	        "{\"cpu\":\"AMD EPYC 9554 64-Core "
	        "Processor\",\"cores\":64,\"memory_gb\":384,\"os\":\"Debian 12\"}");
	lab->device =
	        device(lab->machine, "cpu", "AMD EPYC 9554 64-Core Processor", "x86-64-v4", "cpu");
	lab->environments[0] =
	        environment(lab->device, "{\"kernel\":\"6.1.0-37\",\"governor\":\"powersave\","
	                                 "\"microcode\":\"0xa101148\",\"boost\":true}");
	lab->environments[1] =
	        environment(lab->device, "{\"kernel\":\"6.1.0-38\",\"governor\":\"performance\","
	                                 "\"microcode\":\"0xa101148\",\"boost\":true}");
	lab->environment_changes = 85;
	lab->environment_factor = 0.94;
	make_source(&lab->sources[0], "tracker", "self", "", 3, nights, 1);
	make_source(&lab->sources[1], "openblas", "git",
	        "https://github.com/OpenMathLib/OpenBLAS.git", 3, nights, 2);
	make_source(
	        &lab->sources[2], "blis", "git", "https://github.com/flame/blis.git", 4, nights, 3);
	/* the library of the distribution has the backend of the git upstream */
	make_source(&lab->sources[3], "openblas-debian", "system", "", 101, nights, 4);
	lab->source_count = 4;
	static const int sizes[] = {256, 512, 1024, 2048, 4096};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char text[100];
		snprintf(text, sizeof text, "gemm:m=%d,n=%d,k=%d", sizes[i], sizes[i], sizes[i]);
		int64_t p = problem(text, NULL);
		double flops = 2.0 * sizes[i] * sizes[i] * sizes[i], small = 20e3;
		follow(lab, 0, "cpu", "", p, "suite", flops / 1650 + small)->steps[0] =
		        (struct step){sizes[i] == 512 ? nights - 1 : 0, sizes[i] == 512 ? 0.89 : 1};
		struct followed *f =
		        follow(lab, 1, "openblas", "", p, "suite", flops / 2310 + small);
		f->steps[0] = (struct step){nights - 1, sizes[i] == 1024   ? 1.094
		                                        : sizes[i] == 2048 ? 1.061
		                                                           : 1};
		f = follow(lab, 2, "blis", "", p, "suite", flops / 2150 + small);
		if (sizes[i] == 2048)
			*f = (struct followed){f->series, f->upstream, f->value, f->noise, {{0}},
			        nights - 1, nights - 1, "wrong",
			        "largest error 0.31 at (17, 204), allowed 1.2e-05"};
	}
	int64_t llama = problem("gemm:m=16,n=4096,k=4096,tb=t", NULL);
	follow(lab, 0, "cpu", "", llama, "suite", 820e3)->noise = 0.02;
	follow(lab, 1, "openblas", "", llama, "suite", 610e3);
	static const int lengths[] = {512, 2048, 8192};
	for (size_t i = 0; i < 3; i++) {
		char text[100];
		snprintf(text, sizeof text, "attention:b=1,h=16,sq=%d,d=64,dtype=f32,causal=1",
		        lengths[i]);
		int64_t p = problem(text, NULL);
		double flops = 2.0 * 16 * lengths[i] * (double)lengths[i] * 64;
		follow(lab, 0, "cpu", "", p, "suite", flops / 900)->steps[0] =
		        (struct step){72, lengths[i] == 2048 ? 0.78 : 1};
		follow(lab, 1, "openblas", "", p, "suite", flops / 610)->steps[0] =
		        (struct step){30, lengths[i] == 8192 ? 1.05 : 1};
	}
	follow(lab, 1, "control", "", problem("gemm:m=768,n=768,k=768", NULL), "control", 410e3);
	follow(lab, 1, "control", "", problem("gemm:m=1024,n=1024,k=1024", NULL), "control",
	        300e3); /* faster than all: not ranked */
	for (size_t i = 0; i < 4; i++) {
		char text[100];
		snprintf(text, sizeof text, "gemm:m=%d,n=%d,k=%d", sizes[i], sizes[i], sizes[i]);
		double flops = 2.0 * sizes[i] * sizes[i] * sizes[i];
		follow(lab, 3, "openblas", "", problem(text, NULL), "suite", flops / 1900 + 20e3);
	}
	lab->all[lab->count++] = (struct followed){
	        .series = series_of_metric(lab->device, lab->sources[1].id, "openblas", "",
	                problem("gemm:m=512,n=512,k=512", NULL), "suite", "cold", "launch"),
	        .upstream = 1,
	        .value = 2.3e3,
	        .noise = 0.003};
	lab->mode = "hot";
	follow(lab, 1, "openblas", "", problem("gemm:m=512,n=512,k=512", NULL), "suite", 110e3);
}

static void make_gpu_lab(struct lab *lab, int nights)
{
	lab->mode = "paced";
	lab->machine = machine("h200-node-1",
	        "{\"cpu\":\"Intel Xeon Platinum 8468\",\"gpus\":1,\"os\":\"Ubuntu 24.04\"}");
	lab->device = device(lab->machine, "cuda", "NVIDIA H200", "sm_90", "h200-0");
	lab->environments[0] =
	        environment(lab->device, "{\"driver\":\"570.124.06\",\"cuda\":\"12.8\",\"power_"
	                                 "limit_w\":700,\"persistence\":true}");
	make_source(&lab->sources[0], "cutlass", "git", "https://github.com/NVIDIA/cutlass.git", 3,
	        nights, 11);
	make_source(&lab->sources[1], "cublas", "system", "", 101, nights, 12);
	make_source(&lab->sources[2], "flash-attention", "git",
	        "https://github.com/Dao-AILab/flash-attention.git", 2, nights, 13);
	lab->source_count = 3;
	static const int sizes[] = {1024, 4096, 8192};
	for (size_t i = 0; i < 3; i++) {
		char text[100];
		snprintf(text, sizeof text, "gemm:a=f16,m=%d,n=%d,k=%d", sizes[i], sizes[i],
		        sizes[i]);
		int64_t p = problem(text, NULL);
		double flops = 2.0 * sizes[i] * sizes[i] * (double)sizes[i];
		follow(lab, 0, "cutlass", "128x256x64", p, "suite", flops / 640e3 + 4e3)->steps[0] =
		        (struct step){78, i == 1 ? 0.93 : 1};
		follow(lab, 1, "cublas", "", p, "suite", flops / 700e3 + 4e3);
	}
	for (int b = 1; b <= 4; b *= 2)
		for (int length = 1024; length <= 4096; length *= 2) {
			char text[100];
			snprintf(text, sizeof text, "attention:b=%d,h=16,sq=%d,d=128,dtype=bf16", b,
			        length);
			int64_t p = problem(text, NULL);
			double flops = 4.0 * b * 16 * length * (double)length * 128;
			follow(lab, 0, "cutlass", "128x256x64", p, "suite", flops / 480e3 + 9e3);
			follow(lab, 2, "flash-attention", "", p, "suite", flops / 640e3 + 19e3);
		}
	/* the last night's time was spent before these had their turn */
	for (int m = 16; m <= 512; m *= 2) {
		char text[100];
		snprintf(text, sizeof text, "gemm:a=bf16,m=%d,n=7168,k=2048,tb=t", m);
		struct followed *f =
		        follow(lab, 1, "cublas", "", problem(text, NULL), "suite", 9e3 + m * 20);
		f->fails_from = f->fails_to = nights - 1;
		f->outcome = "skipped";
		f->message = "the night's budget (budgets.night) was spent";
	}
	lab->mode = "sustained";
	int64_t long_one = problem("gemm:a=f16,m=8192,n=8192,k=8192", NULL);
	follow(lab, 0, "cutlass", "128x256x64", long_one, "suite", 1.99e6);
	follow(lab, 1, "cublas", "", long_one, "suite", 1.93e6);
	lab->mode = "paced";
	int64_t p = problem("attention:b=4,h=32,hkv=8,sq=4096,d=128,dtype=f16,causal=1", NULL);
	struct followed *f = follow(lab, 0, "cutlass", "", p, "suite", 1.6e6);
	f->steps[0] = (struct step){52, 1.12};
	f->steps[1] = (struct step){59, 1 / 1.12};
	f = follow(lab, 1, "cublas", "", p, "suite", 2.9e6);
	f->fails_from = 0;
	f->fails_to = nights;
	f->outcome = "unsupported";
	f->message = "no attention in this library";
}

/* Every name is an attack. */
static void make_hostile_lab(struct lab *lab, int nights)
{
	static char huge[10241];
	for (size_t i = 0; i + 1 < sizeof huge; i++)
		huge[i] = i % 40 == 39 ? ' ' : '<';
	lab->mode = "cold";
	lab->machine = machine("../../<b onmouseover=alert(1)>\"host\"",
	        "{\"<script>\":\"</script><script>alert(6)</script>\",\"deep\":{\"a\":[1,\"'\"]}}");
	lab->device = device(lab->machine, "cpu", HOSTILE, "\xff\xfe not utf-8", HOSTILE);
	lab->environments[0] = environment(lab->device, "not json <script>");
	make_source(&lab->sources[0], HOSTILE, "git", "javascript:alert(1)//github.com/", 5, nights,
	        21);
	lab->source_count = 1;
	follow(lab, 0, "'; DROP TABLE series; --", huge, problem("gemm:m=64,n=64,k=64", huge),
	        "suite", 9e3);
	struct followed *f = follow(lab, 0, "</textarea><svg onload=alert(1)>", "\n\r\t\x1b[0m",
	        problem("gemm:m=65,n=64,k=64", HOSTILE), "suite", 9e3);
	f->fails_from = nights - 2;
	f->fails_to = nights;
	f->outcome = "crashed";
	f->message = "SIGSEGV in </td></tr></table><script>alert(7)</script>";
}

static void demo(bool hostile)
{
	enum { nights = 100 };
	static struct lab labs[3];
	struct tk_rng rng;
	tk_rng_seed(&rng, 7);
	make_cpu_lab(&labs[0], nights);
	make_gpu_lab(&labs[1], nights);
	if (hostile)
		make_hostile_lab(&labs[2], nights);
	for (int n = 0; n < nights; n++)
		for (int i = 0; i < (hostile ? 3 : 2); i++) {
			check(tk_store_begin(db, &err));
			demo_night(&labs[i], n, &rng, n == nights - 1);
			check(tk_store_commit(db, &err));
		}
	say(FIRST_S + (nights - 41) * DAY_S + 4 * 3600);
}

int main(int argc, char **argv)
{
	bool plain = argc == 4 && !strcmp(argv[3], "--no-hostile");
	if (argc != 3 && !plain) {
		fprintf(stderr, "usage: site_seed DB tiny|demo [--no-hostile]\n");
		return 2;
	}
	unlink(argv[1]);
	check(tk_store_open(argv[1], TK_STORE_CREATE, &db, &err));
	if (!strcmp(argv[2], "tiny")) {
		check(tk_store_begin(db, &err));
		tiny();
		check(tk_store_commit(db, &err));
	} else {
		demo(!plain);
	}
	tk_store_close(db);
	return 0;
}
