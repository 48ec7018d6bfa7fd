/* Tunings of the demo history: a space of four parameters on three sizes, a ranking of a library,
 * a stale and an undecided result; and texts that try to break out of their context. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "labs.h"
#include "seed.h"
#include "store/tuning.h"

static const int tile_m[] = {64, 128, 256}, tile_n[] = {64, 128, 192, 256}, splits[] = {1, 2, 4};

/* Larger tiles for larger sizes, splits for small ones; the noise is one of the numbers. */
static double time_of(double flops, int m, int n, int split)
{
	double waves = flops / 1e9 / (m * n), tile = log2(m * n / 32768.0);
	return flops / 640e3 *
	       (1 + 0.02 * tile * tile + 0.04 * fabs(log2(split) - (waves < 1 ? 1 : 0)) +
	               (m * 7 + n * 3 + split) % 11 * 0.002);
}

/* Names of candidates and their times; returns the fastest. */
static double make_candidates(struct tk_buf *out, double flops, char *best, size_t size)
{
	double least = INFINITY;
	tk_buf_add_str(out, "[");
	for (int i = 0; i < 36; i++) {
		/* the default first */
		int at = i == 0 ? 15 : i <= 15 ? i - 1 : i;
		int m = tile_m[at / 12], n = tile_n[at / 3 % 4], split = splits[at % 3];
		double ns = time_of(flops, m, n, split);
		bool fails = m == 256 && n == 256 && split == 4, dropped = ns > flops / 600e3;
		tk_buf_add_printf(out, "%s{\"config\":\"tile_m=%d,tile_n=%d,split=%d\",",
		        i ? "," : "", m, n, split);
		if (fails) {
			tk_buf_add_str(out,
			        "\"outcome\":\"wrong\",\"message\":\"C differs from the "
			        "reference: 12 elements of 1048576\",\"evaluations\":1,"
			        "\"median_ns\":null,\"slower\":null,\"lo\":null,"
			        "\"hi\":null,\"dropped\":false}");
			continue;
		}
		tk_buf_add_printf(out,
		        "\"outcome\":\"ok\",\"message\":null,\"evaluations\":%d,\"median_ns\":%.0f,"
		        "\"slower\":%.4f,\"lo\":%.4f,\"hi\":%.4f,\"dropped\":%s}",
		        dropped ? 2 : 6, ns, ns / (flops / 640e3) - 1, ns / (flops / 640e3) - 1.01,
		        ns / (flops / 640e3) - 0.99, dropped ? "true" : "false");
		if (ns < least) {
			least = ns;
			snprintf(best, size, "tile_m=%d,tile_n=%d,split=%d", m, n, split);
		}
	}
	tk_buf_add_str(out, "]");
	return least;
}

static void put(
        const struct seed_lab *lab, const struct seed_series_plan *plan, struct tk_tuning_row row)
{
	struct tk_rows rows = {0};
	int64_t id;
	seed_check(tk_store_list(seed_db, TK_TABLE_series, NULL, TK_NO_ARGS, &rows, &seed_err));
	for (size_t i = 0; i < rows.count; i++) {
		const struct tk_series_row *s = TK_ROWS_AT(&rows, struct tk_series_row, i);
		if (s->id != plan->series)
			continue;
		row.device_id = s->device_id;
		row.environment_id = lab->environments[0];
		row.problem_id = s->problem_id;
		row.artifact_key = "5eed5eed5eed5eed";
		row.backend = s->backend;
		row.mode = s->mode;
		seed_check(tk_store_put(seed_db, TK_TABLE_tuning, &row, &id, &seed_err));
	}
	tk_rows_free(&rows);
}

static void put_cutlass(const struct seed_lab *lab, size_t index, double size, int64_t at_s)
{
	struct tk_buf candidates = TK_BUF_INIT;
	char best[64] = "";
	double least = make_candidates(&candidates, 2 * size * size * size, best, sizeof best),
	       first = time_of(2 * size * size * size, 128, 128, 1);
	struct tk_tuning_row row = {.upstream = lab->sources[0].name,
	        .revision = lab->sources[0].revs[index == 4 ? 30 : 99],
	        .options = "",
	        .started_s = at_s,
	        .verdict = first / least > 1.02 ? TK_TUNE_VERDICT_FASTER : TK_TUNE_VERDICT_SAME,
	        .config = first / least > 1.02 ? best : "tile_m=128,tile_n=128,split=1",
	        .winner = best,
	        .default_ns = first,
	        .winner_ns = least,
	        .change = least / first - 1,
	        .change_lo = least / first - 1.004,
	        .change_hi = least / first - 0.997,
	        .pair_count = 12,
	        .evaluation_count = 96,
	        .candidates = tk_buf_cstr(&candidates)};
	put(lab, &lab->all[index], row);
	/* an older one did not decide */
	row.started_s -= 5 * DAY_S;
	row.verdict = TK_TUNE_VERDICT_INCONCLUSIVE;
	row.pair_count = 4;
	put(lab, &lab->all[index], row);
	tk_buf_free(&candidates);
}

static void put_cublas(const struct seed_lab *lab, size_t index, double ns, int64_t at_s)
{
	struct tk_buf candidates = TK_BUF_INIT;
	tk_buf_add_str(&candidates, "[");
	for (int i = 0; i < 5; i++)
		tk_buf_add_printf(&candidates,
		        "%s{\"config\":\"heuristic-%d\",\"outcome\":\"ok\",\"message\":null,"
		        "\"evaluations\":%d,\"median_ns\":%.0f,\"slower\":%.3f,\"lo\":%.3f,"
		        "\"hi\":%.3f,\"dropped\":%s}",
		        i ? "," : "", i, i ? 2 : 6, ns * (1 + 0.03 * i), 0.03 * i, 0.03 * i - 0.01,
		        0.03 * i + 0.01, i > 1 ? "true" : "false");
	tk_buf_add_str(&candidates, "]");
	put(lab, &lab->all[index],
	        (struct tk_tuning_row){.upstream = "",
	                .revision = "",
	                .options = "",
	                .started_s = at_s,
	                .verdict = TK_TUNE_VERDICT_DEFAULT,
	                .config = "heuristic-0",
	                .winner = "heuristic-0",
	                .default_ns = NAN,
	                .winner_ns = NAN,
	                .change = NAN,
	                .change_lo = NAN,
	                .change_hi = NAN,
	                .evaluation_count = 14,
	                .candidates = tk_buf_cstr(&candidates)});
	tk_buf_free(&candidates);
}

void put_tunings(const struct seed_lab *lab, int64_t at_s)
{
	static const double sizes[] = {1024, 4096, 8192};
	for (size_t i = 0; i < 3; i++) {
		double flops = 2 * sizes[i] * sizes[i] * sizes[i];
		put_cutlass(lab, 2 * i, sizes[i], at_s + 600 * (int64_t)i);
		put_cublas(lab, 2 * i + 1, flops / (i ? 700e3 : 500e3), at_s + 3600);
	}
}

void put_hostile_tunings(
        const struct seed_lab *lab, const struct seed_series_plan *plan, int64_t at_s)
{
	struct tk_tuning_row row = {.upstream = HOSTILE,
	        .revision = HOSTILE,
	        .options = HOSTILE,
	        .started_s = at_s,
	        .verdict = TK_TUNE_VERDICT_FAILING,
	        .config = "",
	        .winner = HOSTILE,
	        .default_ns = -1,
	        .winner_ns = 1e300,
	        .change = -7,
	        .change_lo = 1e300,
	        .change_hi = NAN,
	        .pair_count = -1,
	        .evaluation_count = -1,
	        .candidates =
	                "[7,null,{\"config\":\"<script>alert(11)</script>=1\",\"outcome\":"
	                "\"wrong\",\"message\":\"</td><script>alert(12)</script>\"},"
	                "{\"config\":\"a=1,b=<svg>\",\"outcome\":\"ok\",\"median_ns\":1e300,"
	                "\"slower\":-1e300,\"lo\":\"x\"},{\"config\":\"a=99999999999999999999,"
	                "b=2\",\"outcome\":\"ok\",\"median_ns\":-4},{\"config\":\"a=3,b=1\","
	                "\"outcome\":\"ok\",\"median_ns\":5,\"evaluations\":1e300},"
	                "{\"outcome\":\"ok\"},{\"config\":\"x\",\"outcome\":\"no outcome\"}]"};
	put(lab, plan, row);
	row.started_s++;
	row.candidates = "not json </script>";
	row.options = "";
	put(lab, plan, row);
}
