/* Traces and profiles of the demo history: a GEMM of a producer and two consumers, its comparison
 * with another build, counters; and texts that try to break out of their context. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "labs.h"
#include "seed.h"
#include "store/store.h"

enum { TILES = 4, STEPS = 48, STEP_NS = 840, EPILOGUE_NS = 2600, STORE_NS = 1500 };

static void add_span(struct tk_buf *out, int group, int region, int begin, int end, bool async)
{
	tk_buf_add_printf(out, "%s[%d,%d,%d,%d%s]", out->data[out->len - 1] == '[' ? "" : ",",
	        group, region, begin, end, async ? ",1" : "");
}

/* Regions: wait for a slot, load, wait for data, multiply, epilogue, store. */
static int add_tile(struct tk_buf *out, int begin)
{
	for (int step = 0; step < STEPS; step++) {
		int at = begin + step * STEP_NS;
		add_span(out, 0, 0, at, at + 500, false);
		add_span(out, 0, 1, at + 500, at + STEP_NS - 20, false);
		for (int group = 1; group <= 2; group++) {
			int shift = group == 2 ? 210 : 0;
			add_span(out, group, 2, at + shift, at + shift + 90 + step % 5 * 20, false);
			add_span(out, group, 3, at + shift + 170, at + shift + STEP_NS + 60, true);
		}
	}
	int end = begin + STEPS * STEP_NS + 300;
	for (int group = 1; group <= 2; group++) {
		add_span(out, group, 4, end, end + EPILOGUE_NS, false);
		add_span(out, group, 5, end + EPILOGUE_NS, end + EPILOGUE_NS + STORE_NS, false);
	}
	return end + EPILOGUE_NS + STORE_NS;
}

static void make_timeline(struct tk_buf *out, const char *name)
{
	int at = 900;
	struct tk_buf spans = TK_BUF_INIT;
	tk_buf_add_char(&spans, '[');
	for (int i = 0; i < TILES; i++)
		at = add_tile(&spans, at);
	tk_buf_add_printf(out,
	        "[{\"kernel\":\"%s\",\"multiprocessor\":57,\"duration_ns\":%d,\"left_out\":0,"
	        "\"regions\":[{\"name\":\"wait for a slot\",\"kind\":\"wait\"},"
	        "{\"name\":\"load\",\"kind\":\"load\"},"
	        "{\"name\":\"wait for data\",\"kind\":\"wait\"},"
	        "{\"name\":\"multiply\",\"kind\":\"matrix products\"},"
	        "{\"name\":\"epilogue\",\"kind\":\"compute\"},"
	        "{\"name\":\"store\",\"kind\":\"store\"}],"
	        "\"group_names\":[\"producer\",\"consumer 1\",\"consumer 2\"],"
	        "\"groups\":[[57,0,0,%d],[57,1,0,%d],[57,2,0,%d]],\"spans\":%s]}]",
	        name, at + 3000, at - 4000, at, at, tk_buf_cstr(&spans));
	tk_buf_free(&spans);
}

static const char gemm_result[] =
        "{\"schema\":\"tracker-trace/1\",\"runs\":3,\"untraced_ns\":180117,\"traced_ns\":181563,"
        "\"kernels\":[{\"name\":\"hopper_gemm\",\"duration_ns\":178020,\"regions_ns\":174800,"
        "\"tail_ns\":2950,\"clock_mhz\":1700,\"multiprocessors\":132,\"groups\":396,"
        "\"blocks\":132,\"blocks_launched\":132,\"records\":196608,\"groups_with_loss\":0,"
        "\"record_ns\":20.02,\"record_in_place_ns\":26.8,\"corrected_ns\":176574,"
        "\"block_ns\":174100,\"critical_other_corrected_ns\":210,\"tiles\":null,"
        "\"multiprocessor_ns\":{\"matrix products\":158300,\"compute\":9870,"
        "\"store\":4110,\"load\":1200,\"wait\":1320,\"outside of regions\":210,\"no block\":3010},"
        "\"regions\":["
        "{\"name\":\"wait for a slot\",\"kind\":\"wait\",\"entered\":192,\"time_ns\":96000,"
        "\"share_of_groups\":0.55,\"exposed_ns\":700,"
        "\"critical_corrected_ns\":900},"
        "{\"name\":\"load\",\"kind\":\"load\",\"entered\":192,\"time_ns\":61400,"
        "\"share_of_groups\":0.36,\"exposed_ns\":1200,"
        "\"critical_corrected_ns\":1100},"
        "{\"name\":\"wait for data\",\"kind\":\"wait\",\"entered\":384,\"time_ns\":49900,"
        "\"share_of_groups\":0.14,\"exposed_ns\":620,"
        "\"critical_corrected_ns\":1400},"
        "{\"name\":\"multiply\",\"kind\":\"matrix products\",\"entered\":384,\"time_ns\":280300,"
        "\"share_of_groups\":0.81,\"exposed_ns\":158300,"
        "\"critical_corrected_ns\":155300},"
        "{\"name\":\"epilogue\",\"kind\":\"compute\",\"entered\":8,\"time_ns\":20800,"
        "\"share_of_groups\":0.06,\"exposed_ns\":9870,"
        "\"critical_corrected_ns\":9700},"
        "{\"name\":\"store\",\"kind\":\"store\",\"entered\":8,\"time_ns\":12000,"
        "\"share_of_groups\":0.03,\"exposed_ns\":4110,"
        "\"critical_corrected_ns\":4044}]}]}";

static const char gemm_comparison[] =
        "{\"schema\":\"tracker-trace/1\",\"runs\":6,\"untraced_ns\":null,\"traced_ns\":181563,"
        "\"kernels\":[{\"name\":\"hopper_gemm\",\"duration_ns\":178020,\"cause\":\"epilogue\","
        "\"change\":{\"base_ns\":170100,\"head_ns\":178020,\"change_ns\":7920,\"lo_ns\":7700,"
        "\"hi_ns\":8100,\"changed\":true},\"regions\":[{\"name\":\"epilogue\","
        "\"kind\":\"compute\",\"entered\":8,\"time_ns\":20800,\"exposed_ns\":9870,"
        "\"change\":{\"change_ns\":16100,\"changed\":true},"
        "\"exposed_change\":{\"change_ns\":7800,\"changed\":true}}]}]}";

static const char gemm_profile[] =
        "{\"schema\":\"tracker-profile/1\",\"caches_flushed\":true,\"flops\":137438953472,"
        "\"counted_bytes\":100663296,\"time_ns\":182400,\"tensor_share\":0.86,"
        "\"dram_bytes\":201326592,\"l2_bytes\":805306368,\"l1_bytes\":402653184,"
        "\"kernels\":[{\"name\":\"hopper_gemm\",\"time_ns\":182400,\"occupancy\":0.18}]}";

static const char hostile_result[] =
        "{\"runs\":\"</dd><script>alert(8)</script>\",\"untraced_ns\":-1,\"traced_ns\":1e300,"
        "\"kernels\":[7,{\"name\":\"<script>alert(9)</script>\",\"duration_ns\":1e-300,"
        "\"blocks\":-5,\"records\":1e300,\"multiprocessor_ns\":{\"wait\":1e300,\"load\":\"x\"},"
        "\"regions\":[null,{\"name\":\"\\\"><svg onload=alert(1)>\",\"kind\":7,\"entered\":1e300,"
        "\"time_ns\":-1e300,\"exposed_ns\":1e300}]}]}";

static const char hostile_timeline[] =
        "[3,{\"kernel\":\"</script><script>alert(10)</script>\",\"duration_ns\":-4,\"regions\":"
        "[{\"name\":\"<b>\"}],\"group_names\":[\"</script>\"],\"groups\":[[0,0,0,1000000],7,"
        "[0,99,5,1],[-1,0,0,0]],\"spans\":[[0,0,0,900000],[9,0,0,1],[1,0,0,1],[0,5,0,1],"
        "[0,0,9,1],\"x\",[0,0,1,1e300],[0,0,950000,950001,1]]}]";

static void put(const struct seed_lab *lab, const struct seed_series_plan *plan,
        struct tk_kernel_report_row row)
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
		row.upstream = lab->sources[plan->upstream].name;
		row.revision = lab->sources[plan->upstream].revs[99];
		row.artifact_key = "5eed5eed5eed5eed";
		row.backend = s->backend;
		row.options = "";
		row.config = s->config;
		row.mode = s->mode;
		seed_check(tk_store_put(seed_db, TK_TABLE_kernel_report, &row, &id, &seed_err));
	}
	tk_rows_free(&rows);
}

void put_kernel_reports(
        const struct seed_lab *lab, const struct seed_series_plan *plan, int64_t at_s)
{
	struct tk_buf timeline = TK_BUF_INIT;
	struct tk_kernel_report_row row = {.kind = TK_KERNEL_REPORT_TRACE,
	        .base = "",
	        .started_s = at_s,
	        .result = gemm_result};
	make_timeline(&timeline, "hopper_gemm");
	row.timeline = tk_buf_cstr(&timeline);
	put(lab, plan, row);
	row.base = "deadbeef0001";
	row.result = gemm_comparison;
	row.started_s = at_s + 600;
	put(lab, plan, row);
	row = (struct tk_kernel_report_row){.kind = TK_KERNEL_REPORT_PROFILE,
	        .base = "",
	        .started_s = at_s + 900,
	        .result = gemm_profile,
	        .timeline = ""};
	put(lab, plan, row);
	tk_buf_free(&timeline);
}

void put_hostile_kernel_reports(
        const struct seed_lab *lab, const struct seed_series_plan *plan, int64_t at_s)
{
	struct tk_kernel_report_row row = {.kind = TK_KERNEL_REPORT_TRACE,
	        .base = "",
	        .started_s = at_s,
	        .result = hostile_result,
	        .timeline = hostile_timeline};
	put(lab, plan, row);
	row.kind = TK_KERNEL_REPORT_PROFILE;
	put(lab, plan, row);
	row.kind = TK_KERNEL_REPORT_TRACE;
	row.base = HOSTILE;
	row.started_s = at_s + 1;
	row.timeline = "not json </script>";
	put(lab, plan, row);
}
