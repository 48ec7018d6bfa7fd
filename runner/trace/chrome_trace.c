/* The Trace Event Format (Google, "Trace Event Format", 2016), in microseconds: complete events for
 * what nests in its group, nestable asynchronous ones for the rest. */
#include "trace/chrome_trace.h"

#include "base/error.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	const struct tk_trace_file_kernel *kernel;
	const struct tk_trace_launch *launch;
	FILE *out;
	bool has_event, failed;
};

/* Takes the event. */
static void put(struct writer *w, json_t *event)
{
	char *text = event ? json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
	json_decref(event);
	w->failed |= !text;
	if (text)
		fprintf(w->out, "%s%s", w->has_event ? ",\n" : "", text);
	w->has_event = true;
	free(text);
}

/* Perfetto takes a thread for the main one if its number is that of its process. */
#define THREAD_ID_FIRST 4096

static int thread_id(const struct writer *w, const struct tk_trace_group *g)
{
	return (int)(THREAD_ID_FIRST + g->block * w->kernel->groups + g->group);
}

static void name_process(struct writer *w, const struct tk_trace_group *g)
{
	char name[32];
	snprintf(name, sizeof name, "multiprocessor %u", g->multiprocessor);
	put(w, json_pack("{s:s,s:s,s:i,s:{s:s}}", "name", "process_name", "ph", "M", "pid",
	               (int)g->multiprocessor, "args", "name", name));
}

static void name_thread(struct writer *w, const struct tk_trace_group *g)
{
	char name[TK_TRACE_NAME_SIZE + 32];
	snprintf(name, sizeof name, "block %u, %s", g->block, w->kernel->group[g->group]);
	json_t *text = json_stringn_nocheck(name, strlen(name));
	put(w, json_pack("{s:s,s:s,s:i,s:i,s:{s:o}}", "name", "thread_name", "ph", "M", "pid",
	               (int)g->multiprocessor, "tid", thread_id(w, g), "args", "name", text));
}

/* Whole nanoseconds: Perfetto rounds to them, and drops a span that then begins before the end of
 * the one before. */
static double round_us(double ns)
{
	return round(ns) / 1e3;
}

static json_t *new_event(
        const struct writer *w, const struct tk_trace_span *s, const char *phase, double ns)
{
	const struct tk_trace_group *g = &w->launch->groups[s->ring];
	return json_pack("{s:s,s:s,s:f,s:i,s:i}", "name", w->kernel->region[s->region], "ph", phase,
	        "ts", round_us(ns), "pid", (int)g->multiprocessor, "tid", thread_id(w, g));
}

static void put_span(struct writer *w, size_t index)
{
	const struct tk_trace_span *s = &w->launch->spans[index];
	char id[24];
	if (!s->is_async) {
		json_t *event = new_event(w, s, "X", s->begin_ns);
		json_object_set_new(
		        event, "dur", json_real(round_us(round(s->end_ns) - round(s->begin_ns))));
		put(w, event);
		return;
	}
	snprintf(id, sizeof id, "%zu", index);
	for (int end = 0; end < 2; end++) {
		json_t *event = new_event(w, s, end ? "e" : "b", end ? s->end_ns : s->begin_ns);
		json_object_set_new(event, "cat", json_string("asynchronous"));
		/* local: Perfetto shows it in its multiprocessor, else beside all of them */
		json_object_set_new(event, "id2", json_pack("{s:s}", "local", id));
		put(w, event);
	}
}

/* Number `ordinal` of `all` is one of `wanted` that are spread evenly. */
static bool is_wanted(size_t ordinal, size_t wanted, size_t all)
{
	return !wanted || wanted >= all || ordinal * wanted / all != (ordinal + 1) * wanted / all;
}

int tk_trace_write_chrome(const struct tk_trace_file_kernel *kernel,
        const struct tk_trace_launch *l, size_t multiprocessors, FILE *out, struct tk_error *err)
{
	struct writer w = {.kernel = kernel, .launch = l, .out = out};
	size_t span = 0, ordinal = 0;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
	for (size_t i = 0; i < l->group_count; i++) {
		const struct tk_trace_group *g = &l->groups[i];
		bool is_first = i == 0 || l->groups[i - 1].multiprocessor != g->multiprocessor;
		ordinal += is_first && i > 0;
		bool wanted = is_wanted(ordinal, multiprocessors, l->multiprocessors);
		if (wanted && is_first)
			name_process(&w, g);
		if (wanted)
			name_thread(&w, g);
		for (; span < l->span_count && l->spans[span].ring == i; span++)
			if (wanted)
				put_span(&w, span);
	}
	fputs("\n]}\n", out);
	return fflush(out) == 0 && !ferror(out) ? TK_OK : tk_fail_errno(err, "writing the trace");
}
