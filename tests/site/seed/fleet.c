/* The fleet: devices of one model. Two are comparable, one of them 3 % slower; one has another
 * driver and power cap; one records nothing and is measured at an older revision. */
#include <stdio.h>

#include "seed.h"

#define NIGHTS 4
#define DEVICES 4
#define SHAPES 3

static const struct {
	const char *machine, *slug, *environment;
	double factor;
	int last_commit;
} plans[DEVICES] = {
        {"h200-node-1", "h200-0",
                "{\"driver\":\"570.124.06\",\"max_clock_mhz\":1980,\"application_clock_mhz\":1980,"
                "\"power_cap_w\":700,\"ecc\":true,\"mig\":false,\"compute_units\":132}",
                1.03, NIGHTS - 1},
        {"h200-node-2", "h200-0",
                "{\"driver\":\"570.133.20\",\"max_clock_mhz\":1980,\"application_clock_mhz\":1980,"
                "\"power_cap_w\":699,\"ecc\":true,\"mig\":false,\"compute_units\":132}",
                1, NIGHTS - 1},
        {"h200-node-3", "h200-0",
                "{\"driver\":\"560.28.03\",\"max_clock_mhz\":1980,\"application_clock_mhz\":1980,"
                "\"power_cap_w\":500,\"ecc\":true,\"mig\":false,\"compute_units\":132}",
                1.2, NIGHTS - 1},
        {"h200-node-3", "h200-1", "{\"driver\":\"570.124.06\"}", 0.9, NIGHTS - 2},
};

static void measure(struct seed_context *w, double factor, const int64_t series[SHAPES][2],
        const int64_t builds[2])
{
	for (int i = 0; i < SHAPES; i++)
		for (int u = 0; u < 2; u++, w->seq++) {
			double value = 40e3 * (1 << (3 * i)) * factor * (u ? 1 : 1.08);
			w->build = builds[u];
			seed_run(w, series[i][u], "ok", "", value, 0.002);
		}
}

void fleet(void)
{
	int64_t machines[DEVICES], devices[DEVICES], series[DEVICES][SHAPES][2],
	        environments[DEVICES], builds[2][NIGHTS];
	const int64_t upstreams[2] = {seed_upstream("cutlass", "git", "https://example.org/c.git"),
	        seed_upstream("cublas", "system", "")};
	for (int u = 0; u < 2; u++)
		for (int n = 0; n < NIGHTS; n++) {
			char rev[64];
			snprintf(rev, sizeof rev, "%038d%d", n + 1, u);
			builds[u][n] = seed_build(
			        seed_revision(upstreams[u], rev, n, "Retune"), rev, "ok", "", "");
		}
	for (int d = 0; d < DEVICES; d++) {
		machines[d] = d == 3 ? machines[2] : seed_machine(plans[d].machine, "{}");
		devices[d] =
		        seed_device(machines[d], "cuda", "NVIDIA H200", "sm_90", plans[d].slug);
		environments[d] = seed_environment(devices[d], plans[d].environment);
		for (int i = 0; i < SHAPES; i++) {
			char text[80];
			snprintf(text, sizeof text, "gemm:a=f16,m=%d,n=%d,k=%d", 1024 << i,
			        1024 << i, 1024 << i);
			const int64_t p = seed_problem(text, NULL);
			series[d][i][0] = seed_series(
			        devices[d], upstreams[0], "cutlass", "", p, "suite", "paced");
			series[d][i][1] = seed_series(
			        devices[d], upstreams[1], "cublas", "", p, "suite", "paced");
		}
	}
	for (int n = 0; n < NIGHTS; n++)
		for (int d = 0; d < DEVICES; d++) {
			struct seed_context w = {.night_s = FIRST_S + n * DAY_S + 60 * d,
			        .environment = environments[d]};
			w.night = seed_begin_night(machines[d], w.night_s);
			const int commit = n < plans[d].last_commit ? n : plans[d].last_commit;
			const int64_t of_night[2] = {builds[0][commit], builds[1][commit]};
			measure(&w, plans[d].factor, series[d], of_night);
			seed_check(tk_store_finish_night(seed_db, w.night, TK_NIGHT_COMPLETE, "{}",
			        w.night_s + 600, &seed_err));
		}
}
