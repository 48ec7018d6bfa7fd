/* Results as JSON: docs/reference/kernel-reports.md. */
#include "base/json.h"
#include "trace/runs.h"

static const char *kind_name(uint32_t kind)
{
	return tk_trace_activity_names[tk_trace_kind_activity(kind)];
}

/* What the regions that are exposed add up to, against the time without records. */
static double regions_ns(const struct tk_trace_summary *s)
{
	double sum = 0;
	for (int a = 0; a < TK_TRACE_DOES_OTHER; a++)
		sum += s->activity_ns[a];
	return sum;
}

static json_t *encode_change(const struct tk_trace_change *c)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:b}", "base_ns", tk_json_number(c->base_ns),
	        "head_ns", tk_json_number(c->head_ns), "change_ns", tk_json_number(c->change_ns),
	        "lo_ns", tk_json_number(c->lo_ns), "hi_ns", tk_json_number(c->hi_ns), "changed",
	        c->is_changed);
}

/* Times of the regions on the critical path, without the cost of records. */
struct corrected {
	double block_ns[TK_TRACE_REGIONS_MAX], tile_ns[TK_TRACE_REGIONS_MAX];
	double block_other_ns, tile_other_ns;
};

static void correct_paths(const struct tk_trace_result *r, struct corrected *out)
{
	const struct tk_trace_critical_path *c = &r->head.critical;
	double record_ns = tk_trace_result_record_ns(r);
	out->block_other_ns =
	        tk_trace_path_correct(&c->block, r->kernel.regions, record_ns, out->block_ns);
	out->tile_other_ns =
	        tk_trace_path_correct(&c->tile, r->kernel.regions, record_ns, out->tile_ns);
}

static json_t *encode_tiles(
        const struct tk_trace_critical_path *c, const struct corrected *corrected)
{
	return c->tiles > 0
	               ? json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "count", tk_json_number(c->tiles),
	                         "mean_ns", tk_json_number(c->tile.duration_ns), "shortest_ns",
	                         tk_json_number(c->shortest_tile_ns), "longest_ns",
	                         tk_json_number(c->longest_tile_ns), "critical_other_ns",
	                         tk_json_number(c->tile.other_ns), "critical_other_corrected_ns",
	                         tk_json_number(corrected->tile_other_ns))
	               : json_null();
}

static json_t *encode_regions(
        const struct tk_trace_result *r, const struct corrected *corrected, bool compares)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < r->kernel.regions; i++) {
		const struct tk_trace_region_time *m = &r->head.regions[i];
		json_t *o = json_object();
		json_object_set_new(o, "name", tk_json_text(r->kernel.region[i]));
		json_object_set_new(o, "kind", json_string(kind_name(r->kernel.kind[i])));
		json_object_set_new(o, "entered", tk_json_number(m->calls));
		json_object_set_new(o, "time_ns", tk_json_number(m->time_ns));
		json_object_set_new(o, "share_of_groups", tk_json_number(m->share));
		json_object_set_new(o, "exposed_ns", tk_json_number(m->exposed_ns));
		json_object_set_new(
		        o, "critical_ns", tk_json_number(r->head.critical.block.region_ns[i]));
		json_object_set_new(
		        o, "critical_corrected_ns", tk_json_number(corrected->block_ns[i]));
		if (r->head.critical.tiles > 0) {
			json_object_set_new(o, "tile_critical_ns",
			        tk_json_number(r->head.critical.tile.region_ns[i]));
			json_object_set_new(o, "tile_critical_corrected_ns",
			        tk_json_number(corrected->tile_ns[i]));
		}
		if (compares) {
			json_object_set_new(o, "change", encode_change(&r->comparison.regions[i]));
			json_object_set_new(
			        o, "exposed_change", encode_change(&r->comparison.exposed[i]));
		}
		json_array_append_new(list, o);
	}
	return list;
}

json_t *tk_trace_result_encode(const struct tk_trace_result *r, bool compares)
{
	json_t *o = json_object(), *activities = json_object();
	struct corrected corrected;
	correct_paths(r, &corrected);
	json_object_set_new(o, "name", tk_json_text(r->kernel.name));
	json_object_set_new(o, "duration_ns", tk_json_number(r->head.duration_ns));
	json_object_set_new(o, "corrected_ns", tk_json_number(r->head.corrected_ns));
	json_object_set_new(o, "regions_ns", tk_json_number(regions_ns(&r->head)));
	json_object_set_new(o, "tail_ns", tk_json_number(r->head.tail_ns));
	json_object_set_new(o, "clock_mhz", tk_json_number(r->head.clock_mhz));
	json_object_set_new(
	        o, "multiprocessors", json_integer((json_int_t)r->head.multiprocessors));
	json_object_set_new(o, "groups", json_integer((json_int_t)r->head.groups));
	json_object_set_new(o, "blocks", json_integer(r->kernel.blocks));
	json_object_set_new(o, "blocks_launched",
	        r->kernel.launched ? json_integer(r->kernel.launched) : json_null());
	json_object_set_new(o, "records", tk_json_number(r->head.recorded));
	json_object_set_new(o, "groups_with_loss", tk_json_number(r->head.groups_with_loss));
	json_object_set_new(o, "record_ns", tk_json_number(r->head.record_ns));
	json_object_set_new(o, "record_in_place_ns", tk_json_number(r->record_in_place_ns));
	for (int a = 0; a < TK_TRACE_ACTIVITIES; a++)
		json_object_set_new(activities, tk_trace_activity_names[a],
		        tk_json_number(r->head.activity_ns[a]));
	json_object_set_new(o, "block_ns", tk_json_number(r->head.critical.block.duration_ns));
	json_object_set_new(
	        o, "critical_other_ns", tk_json_number(r->head.critical.block.other_ns));
	json_object_set_new(
	        o, "critical_other_corrected_ns", tk_json_number(corrected.block_other_ns));
	json_object_set_new(o, "critical_records", tk_json_number(r->head.critical.block.records));
	json_object_set_new(o, "tiles", encode_tiles(&r->head.critical, &corrected));
	json_object_set_new(o, "multiprocessor_ns", activities);
	json_object_set_new(o, "regions", encode_regions(r, &corrected, compares));
	if (compares) {
		int cause = r->comparison.cause;
		json_object_set_new(o, "change", encode_change(&r->comparison.duration));
		json_object_set_new(o, "cause",
		        cause < 0 ? json_null() : tk_json_text(r->kernel.region[cause]));
	}
	return o;
}

void tk_trace_results_encode(const struct tk_trace_results *r, json_t *object)
{
	json_t *kernels = json_array();
	json_object_set_new(object, "runs", json_integer((json_int_t)r->runs));
	json_object_set_new(object, "untraced_ns", tk_json_number(r->untraced_ns));
	json_object_set_new(object, "traced_ns", tk_json_number(r->traced_ns));
	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(
		        kernels, tk_trace_result_encode(&r->at[i], tk_trace_results_compare(r)));
	json_object_set_new(object, "kernels", kernels);
}
