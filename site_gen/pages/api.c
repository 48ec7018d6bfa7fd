/* api/: the newest state as JSON, for other programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/present.h"
#include "base/try.h"
#include "site_gen/model/model.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"
#include "site_gen/report/report.h"
#include "store/query/record.h"

static void add_newest(struct tk_buf *out, const struct tk_model *m, const struct tk_site_series *s)
{
	const struct tk_point *last = tk_series_last_point(s);
	const struct tk_revision_row *revision =
	        last ? tk_model_find_build_revision(m, last->build_id) : NULL;
	tk_json_add_time(out, "night", last ? last->as_of_s : 0);
	tk_json_add_number(out, "value", last ? last->value : NAN);
	tk_json_add_number(out, "lo", last ? last->lo : NAN);
	tk_json_add_number(out, "hi", last ? last->hi : NAN);
	tk_buf_add_printf(out, ",\"n\":%lld", (long long)(last ? last->n : 0));
	tk_json_add_text(out, "revision", revision ? revision->rev : "");
	tk_json_add_text(
	        out, "status", s->verdict ? tk_verdict_status_name(s->verdict->status) : "");
	tk_json_add_number(out, "change", s->verdict ? s->verdict->change : NAN);
	tk_json_add_text(out, "change_by",
	        !s->verdict || isnan(s->verdict->change) ? ""
	        : tk_verdict_has_ab_result(s->verdict)   ? "ab"
	                                                 : "nights");
	tk_json_add_text(out, "outcome", s->failure ? tk_outcome_name(s->failure->outcome) : "");
}

static void add_rate(struct tk_buf *out, const struct tk_model *m, const struct tk_site_series *s)
{
	const struct tk_point *last = tk_series_last_point(s);
	const char *unit = "";
	double value = last ? last->value : NAN, rate = tk_series_rate(s, value, &unit);
	struct tk_ceiling_set ceilings;
	tk_ceiling_set_load(m, s->device, &ceilings);
	tk_json_add_number(out, "rate", rate);
	tk_json_add_text(out, "rate_unit", isfinite(rate) ? unit : "");
	tk_json_add_number(out, "share_of_measured_ceiling",
	        tk_ceiling_set_efficiency_by_source(&ceilings, TK_CEILING_MEASURED, s, value));
	tk_json_add_number(out, "share_of_datasheet_peak",
	        tk_ceiling_set_efficiency_by_source(&ceilings, TK_CEILING_DATASHEET, s, value));
	tk_json_add_number(out, "flops", s->problem->flops > 0 ? s->problem->flops : NAN);
	tk_json_add_number(out, "bytes", s->problem->bytes > 0 ? s->problem->bytes : NAN);
	tk_json_add_text(out, "device_model", s->device->row->name);
}

static void add_series(struct tk_buf *out, const struct tk_model *m, const struct tk_site_series *s)
{
	tk_buf_add_str(out, "{\"id\":");
	tk_escape_json(out, s->row->slug, strlen(s->row->slug));
	tk_json_add_text(out, "title", s->problem->title);
	tk_json_add_text(out, "label", s->label);
	tk_json_add_text(out, "op", s->problem->op);
	tk_json_add_text(out, "dtype", s->problem->dtype);
	tk_json_add_text(out, "problem", s->problem->text);
	tk_json_add_text(out, "machine", s->device->machine->row->name);
	tk_json_add_text(out, "device", s->device->row->slug);
	tk_json_add_text(out, "upstream", s->upstream->name);
	tk_json_add_text(out, "backend", s->row->backend);
	tk_json_add_text(out, "config", s->row->config);
	tk_json_add_text(out, "mode", s->row->mode);
	tk_json_add_text(out, "metric", s->row->metric);
	tk_json_add_text(out, "unit", s->row->unit);
	tk_json_add_text(out, "better", tk_better_name(s->row->better));
	tk_json_add_text(out, "role", tk_series_role_name(s->row->role));
	add_newest(out, m, s);
	add_rate(out, m, s);
	tk_buf_add_printf(
	        out, ",\"page\":\"series/%s.html\",\"badge\":\"badges/%s.svg\"}", s->file, s->file);
}

static int write_series(struct tk_site *site, struct tk_error *err)
{
	struct tk_buf *out = &site->page;
	tk_buf_clear(out);
	tk_buf_add_str(out, "{\"format\":2,\"minor\":1,\"series\":[");
	for (size_t i = 0; i < site->model.series_count; i++) {
		tk_buf_add_str(out, i ? ",\n" : "\n");
		add_series(out, &site->model, &site->model.series[i]);
	}
	tk_buf_add_str(out, "]}\n");
	return tk_output_put(site->out, "api/series.json", out, err);
}

/* The alerts of `tracker alert list --format=json`, without those about machines and upstreams. */
static int write_alerts(struct tk_site *site, struct tk_error *err)
{
	struct tk_buf *out = &site->page;
	json_auto_t *alerts = NULL;
	json_t *alert;
	size_t i;
	tk_buf_clear(out);
	tk_buf_add_str(out, "{\"format\":2,\"alerts\":[");
	TRY(tk_records_select_alerts(site->model.store,
	        "WHERE series IS NOT NULL ORDER BY opened_s DESC, uid", TK_NO_ARGS, &alerts, err));
	json_array_foreach (alerts, i, alert) {
		AUTO_TEXT text = json_dumps(alert, JSON_COMPACT);
		tk_buf_add_printf(out, "%s\n%s", i ? "," : "", text);
	}
	tk_buf_add_str(out, "]}\n");
	return tk_output_put(site->out, "api/alerts.json", out, err);
}

static int write_machines(struct tk_site *site, struct tk_error *err)
{
	struct tk_buf *out = &site->page;
	tk_buf_clear(out);
	tk_buf_add_str(out, "{\"format\":1");
	tk_json_add_time(out, "made", site->options->now_s);
	tk_buf_add_str(out, ",\"machines\":[");
	for (size_t i = 0; i < site->model.machine_count; i++) {
		const struct tk_site_machine *machine = &site->model.machines[i];
		const struct tk_night_row *night = machine->last_night;
		tk_buf_add_str(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		tk_escape_json(out, machine->row->name, tk_utf8_clip_len(machine->row->name, 200));
		tk_json_add_time(out, "night", night ? night->as_of_s : 0);
		tk_json_add_time(out, "finished", night ? night->finished_s : 0);
		tk_json_add_text(out, "status", night ? tk_night_status_name(night->status) : "");
		tk_buf_add_char(out, '}');
	}
	tk_buf_add_str(out, "]}\n");
	return tk_output_put(site->out, "api/machines.json", out, err);
}

/* The report of `tracker report --format=md`. */
static int write_summary(struct tk_site *site, struct tk_error *err)
{
	const char *title = site->options->title;
	const struct tk_report_options options = {.title = title && *title ? title : "tracker",
	        .tie = site->options->tie,
	        .now_s = site->options->now_s,
	        .format = TK_DOCUMENT_MARKDOWN};
	tk_buf_clear(&site->page);
	TRY(tk_report_add(&site->model, &options, &site->page, err));
	return tk_output_put(site->out, "api/summary.md", &site->page, err);
}

int tk_page_write_api(struct tk_site *site, struct tk_error *err)
{
	TRY(write_series(site, err));
	TRY(write_alerts(site, err));
	TRY(write_machines(site, err));
	return write_summary(site, err);
}
