/* The tiny history: three nights with verdicts and change points written by hand. */
#include <math.h>
#include <string.h>

#include "core/verdict.h"
#include "seed.h"

static void verdict(struct tk_verdict_row *v, int64_t night, int64_t series_id, const char *status,
        double before, double after, const char *reason)
{
	struct tk_verdict facts = {.status = TK_VERDICT_SAME};
	if (*reason)
		tk_verdict_add_fact(&facts, (struct tk_fact){.kind = TK_FACT_OUTCOME}, reason);
	*v = (struct tk_verdict_row){.night_id = night,
	        .series_id = series_id,
	        .status = seed_word(&tk_verdict_status_words, status),
	        .before_value = before,
	        .after_value = after,
	        .change = after / before - 1,
	        .change_lo = after / before - 1.01,
	        .change_hi = after / before - 0.99,
	        .threshold = 0.02,
	        .p = 0.0001,
	        .q = 0.001,
	        .cause = TK_CAUSE_CODE,
	        .alert_uid = strcmp(status, "regressed") ? "" : "alert-1",
	        .facts = tk_verdict_facts_write(&facts)};
}

/* What was decided in the last night: three verdicts, a change point and an alert with a note. */
static void decide(
        int64_t night, const int64_t s[3], const int64_t runs[3], const int64_t builds[3])
{
	struct tk_verdict_row v[3];
	verdict(&v[0], night, s[0], "regressed", 800e3, 900e3, "12.5 % slower, its noise is 0.4 %");
	verdict(&v[1], night, s[1], "improved", 5.0e6, 4.1e6, "");
	verdict(&v[2], night, s[2], "newly-failed", NAN, NAN, HOSTILE);
	for (size_t i = 0; i < 2; i++) {
		v[i].good_build_id = builds[0];
		v[i].bad_build_id = builds[1];
	}
	seed_check(tk_store_replace_verdicts(seed_db, night, v, 3, &seed_err));
	for (size_t i = 0; i < 3; i++)
		free((char *)v[i].facts);
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
	seed_check(tk_store_replace_change_points(seed_db, s[0], &c, 1, &seed_err));
	seed_check(tk_store_put(seed_db, TK_TABLE_alert,
	        &(struct tk_alert_row){.uid = "alert-1",
	                .series_id = s[0],
	                .night_id = night,
	                .status = TK_ALERT_OPEN,
	                .opened_s = FIRST_S + 2 * DAY_S,
	                .good_rev = "1111111111111111111111111111111111111111",
	                .bad_rev = "2222222222222222222222222222222222222222",
	                .title = "openblas is 12.5 % slower at " HOSTILE},
	        NULL, &seed_err));
	int64_t id;
	seed_check(tk_store_put(seed_db, TK_TABLE_triage,
	        &(struct tk_triage_row){.alert_uid = "alert-1",
	                .at_s = FIRST_S + 3 * DAY_S,
	                .author = "ops",
	                .action = TK_ACTION_NOTE,
	                .note = "reported upstream, " HOSTILE},
	        &id, &seed_err));
}

void tiny(void)
{
	int64_t lab = seed_machine("lab", "{\"cpu\":\"Example CPU\",\"cores\":8}"),
	        cpu = seed_device(lab, "cpu", "Example CPU", "x86-64-v4", "cpu");
	int64_t env[2] = {seed_environment(cpu, "{\"kernel\":\"6.1\",\"governor\":\"powersave\"}"),
	        seed_environment(cpu, "{\"kernel\":\"6.1\",\"governor\":\"performance\"}")};
	int64_t blas = seed_upstream(
	        "openblas", "git", "https://user:secret@github.com/OpenMathLib/OpenBLAS.git");
	int64_t odd = seed_upstream(HOSTILE, "git", "https://evil.example/\"><script>");
	int64_t revs[3] = {
	        seed_revision(blas, "1111111111111111111111111111111111111111", 1, "Start"),
	        seed_revision(blas, "2222222222222222222222222222222222222222", 2,
	                "Block the kernel for a larger cache"),
	        seed_revision(odd, "../../../etc/passwd", 1,
	                "</script><script>alert(2)</script>\n\x1b[31mred")};
	int64_t builds[3] = {seed_build(revs[0], "a", "ok", "", ""),
	        seed_build(revs[1], "b", "ok", "", ""),
	        seed_build(revs[2], "c", "failed", "make: *** [all] Error 1",
	                "cc -c x.c\n</pre><script>alert(3)</script>\nmake: *** [all] Error 1\n")};
	int64_t gemm = seed_problem("gemm:m=512,n=512,k=512", NULL),
	        attention = seed_problem("attention:b=1,h=8,sq=1024,d=64,dtype=f32,causal=1", NULL);
	int64_t s[3] = {seed_series(cpu, blas, "openblas", "", gemm, "suite", "cold"),
	        seed_series(cpu, blas, "openblas", "", attention, "suite", "cold"),
	        seed_series(cpu, odd, HOSTILE, "tile=\"4\"", gemm, "suite", "cold")};
	int64_t runs[3] = {0}, night = 0;
	for (int n = 0; n < 3; n++) {
		struct seed_context w = {.night_s = FIRST_S + n * DAY_S,
		        .build = builds[n == 2],
		        .environment = env[n > 0]};
		w.night = night = seed_begin_night(lab, w.night_s);
		seed_stage(night, "resolve", "done", w.night_s, w.night_s + 3, "2 upstreams");
		seed_stage(night, "build", n == 2 ? "failed" : "done", w.night_s + 3,
		        w.night_s + 40, n == 2 ? "1 of 2 failed" : "");
		seed_resolution(night, blas, revs[n == 2], builds[n == 2],
		        n == 2 ? "new" : "unchanged", "");
		if (n == 2)
			seed_resolution(
			        night, odd, revs[2], builds[2], "failed", "the build failed");
		runs[n] = seed_run(&w, s[0], "ok", "", n == 2 ? 900e3 : 800e3 + n * 1e3, 0.004);
		w.seq++;
		seed_run(&w, s[1], "ok", "", n == 2 ? 4.1e6 : 5.0e6, 0.006);
		w.seq++;
		seed_run(&w, s[2], n == 2 ? "build_failed" : "ok", n == 2 ? HOSTILE : "",
		        n == 2 ? 0 : 1.2e6, 0.01);
		seed_ceiling(night, cpu, "copy", "measured", "gb_per_s", 40);
		seed_ceiling(night, cpu, "l1 read", "measured", "gb_per_s", 340);
		seed_ceiling(night, cpu, "f32", "measured", "gflop_per_s", 600);
		seed_ceiling(night, cpu, "f32", "datasheet", "gflop_per_s", 800);
		seed_check(tk_store_finish_night(seed_db, night,
		        n == 2 ? TK_NIGHT_INCOMPLETE : TK_NIGHT_COMPLETE, "{}", w.night_s + 900,
		        &seed_err));
	}
	decide(night, s, runs, builds);
}
