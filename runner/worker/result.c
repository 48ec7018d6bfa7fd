/* Measurements and devices as JSON. NaN and infinity become null. */
#include "measure/measure.h"
#include "worker/job.h"
#include "worker/wire.h"
#include <math.h>

static json_t *real(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *count(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static json_t *telemetry(const struct tk_telemetry *t)
{
	json_t *o = json_object();
	json_object_set_new(o, "clock_mhz", real(t->clock_mhz));
	json_object_set_new(o, "memory_clock_mhz", real(t->memory_clock_mhz));
	json_object_set_new(o, "power_w", real(t->power_w));
	json_object_set_new(o, "temperature_c", real(t->temperature_c));
	json_object_set_new(o, "energy_j", real(t->energy_j));
	json_object_set_new(o, "load", real(t->load));
	json_object_set_new(o, "throttled", json_boolean(t->throttled));
	json_object_set_new(o, "reasons", tk_wire_json_string(t->reasons, sizeof t->reasons));
	return o;
}

static json_t *verdict(const struct tk_verify_result *v)
{
	json_t *o = json_object();
	json_object_set_new(o, "done", json_boolean(v->done));
	json_object_set_new(o, "passed", json_boolean(v->passed));
	json_object_set_new(o, "method", tk_wire_json_string(v->method, sizeof v->method));
	json_object_set_new(o, "max_error", real(v->max_error));
	json_object_set_new(o, "tolerance", real(v->tolerance));
	json_object_set_new(o, "checked", count((uint64_t)v->checked));
	json_object_set_new(o, "detail", tk_wire_json_string(v->detail, sizeof v->detail));
	return o;
}

static json_t *plan(const struct tk_plan_info *p)
{
	json_t *o = json_object();
	json_object_set_new(o, "kernel", tk_wire_json_string(p->kernel, sizeof p->kernel));
	json_object_set_new(o, "algorithm", tk_wire_json_string(p->algorithm, sizeof p->algorithm));
	json_object_set_new(o, "workspace_bytes", count(p->workspace_bytes));
	json_object_set_new(o, "capturable", json_boolean(p->capturable));
	json_object_set_new(o, "deterministic", json_boolean(p->deterministic));
	return o;
}

static void add_timing(json_t *o, const struct tk_measurement *m)
{
	json_t *samples = json_array(), *both = json_object();
	for (uint64_t i = 0; i < m->sample_count; i++)
		json_array_append_new(samples, real(m->samples[i]));
	json_object_set_new(o, "samples", samples);
	json_object_set_new(o, "launches_per_sample", count(m->launches_per_sample));
	json_object_set_new(o, "median", real(m->summary.median));
	json_object_set_new(o, "lo", real(m->lo));
	json_object_set_new(o, "hi", real(m->hi));
	json_object_set_new(o, "confidence", real(m->confidence));
	json_object_set_new(o, "n", count(m->sample_count));
	json_object_set_new(o, "min", real(m->summary.min));
	json_object_set_new(o, "q25", real(m->summary.q25));
	json_object_set_new(o, "q75", real(m->summary.q75));
	json_object_set_new(o, "p95", real(m->summary.p95));
	json_object_set_new(o, "stop", json_string(tk_stop_name(m->stop)));
	json_object_set_new(o, "launch_ns", real(m->launch_ns));
	json_object_set_new(o, "throttled_samples", count(m->throttled_samples));
	json_object_set_new(o, "clock_mhz", real(m->clock_mhz));
	json_object_set_new(o, "clock_min_mhz", real(m->clock_min_mhz));
	json_object_set_new(o, "cycles", real(m->cycles));
	json_object_set_new(o, "rest_ns", real(m->idle_gap_ns));
	json_object_set_new(o, "energy_j", real(m->energy_j));
	json_object_set_new(both, "before", telemetry(&m->before));
	json_object_set_new(both, "after", telemetry(&m->after));
	json_object_set_new(o, "telemetry", both);
}

json_t *tk_measurement_to_json(const struct tk_measurement *m)
{
	json_t *o = json_object();
	json_object_set_new(o, "outcome", json_string(tk_outcome_name(m->outcome)));
	json_object_set_new(o, "message", tk_wire_json_string(m->message, sizeof m->message));
	if (tk_outcome_has_timing(m->outcome))
		add_timing(o, m);
	if (isfinite(m->flops))
		json_object_set_new(o, "flops", real(m->flops));
	if (isfinite(m->bytes))
		json_object_set_new(o, "bytes", real(m->bytes));
	json_object_set_new(o, "warmup_s", real(m->warmup_s));
	json_object_set_new(o, "measure_s", real(m->measure_s));
	json_object_set_new(o, "setup_s", real(m->setup_s));
	json_object_set_new(o, "inputs_s", real(m->inputs_s));
	json_object_set_new(o, "plan_s", real(m->plan_s));
	json_object_set_new(o, "verify_s", real(m->verify_s));
	json_object_set_new(o, "verify", verdict(&m->verdict));
	json_object_set_new(o, "plan", plan(&m->plan));
	json_object_set_new(o, "sets", count(m->sets));
	json_object_set_new(o, "mode", json_string(tk_mode_name(m->mode)));
	json_object_set_new(o, "device_bytes", count(m->device_bytes));
	return o;
}

static json_t *resident(const struct tk_device_info *info)
{
	static const char *const levels[] = {"l1", "l2", "l3"};
	json_t *o = json_object();
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (info->resident_bytes[i])
			json_object_set_new(o, levels[i], count(info->resident_bytes[i]));
	return o;
}

json_t *tk_device_info_to_json(const struct tk_device_info *info)
{
	json_t *o = json_object(), *attributes = json_loadb(info->attributes,
	                                   sizeof info->attributes, JSON_DISABLE_EOF_CHECK, NULL);
	json_object_set_new(o, "kind", tk_wire_json_string(info->kind, sizeof info->kind));
	json_object_set_new(o, "name", tk_wire_json_string(info->name, sizeof info->name));
	json_object_set_new(o, "uuid", tk_wire_json_string(info->uuid, sizeof info->uuid));
	json_object_set_new(o, "arch", tk_wire_json_string(info->arch, sizeof info->arch));
	json_object_set_new(o, "memory_bytes", count(info->memory_bytes));
	json_object_set_new(o, "cache_bytes", count(info->cache_bytes));
	json_object_set_new(o, "resident_bytes", resident(info));
	json_object_set_new(o, "compute_units", count(info->compute_units));
	json_object_set_new(o, "numa_node", count(info->numa_node));
	json_object_set_new(o, "driver", tk_wire_json_string(info->driver, sizeof info->driver));
	json_object_set_new(o, "attributes",
	        json_is_object(attributes) ? json_incref(attributes) : json_object());
	json_decref(attributes);
	return o;
}
