/* python_api.h on CUDA: graphs by the driver API, found at run time. The device layer has made the
 * primary context current, which libraries use as well. */
#include "kit.h"
#include "python_api.h"
#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>

struct capture {
	CUgraph graph;
	CUgraphExec program;
	bool adopted; /* the library frees the graph */
};

/* Versions of these functions that drivers since CUDA 11.4 have. */
static struct {
	CUresult (*text)(CUresult, const char **);
	CUresult (*begin)(CUstream, CUstreamCaptureMode);
	CUresult (*end)(CUstream, CUgraph *);
	CUresult (*instantiate)(CUgraphExec *, CUgraph, unsigned long long);
	CUresult (*launch)(CUgraphExec, CUstream);
	CUresult (*free_program)(CUgraphExec);
	CUresult (*free_graph)(CUgraph);
	CUresult (*count_nodes)(CUgraph, CUgraphNode *, size_t *);
	CUresult (*state)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
	        const CUgraphNode **, size_t *);
	CUresult (*add_child)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraph);
	CUresult (*depend)(CUstream, CUgraphNode *, size_t, unsigned);
} api;

static int load_api(struct tk_abi_error *err)
{
	static const struct {
		const char *name;
		void *to;
	} symbols[] = {
	        {"cuGetErrorString", &api.text},
	        {"cuStreamBeginCapture_v2", &api.begin},
	        {"cuStreamEndCapture", &api.end},
	        {"cuGraphInstantiateWithFlags", &api.instantiate},
	        {"cuGraphLaunch", &api.launch},
	        {"cuGraphExecDestroy", &api.free_program},
	        {"cuGraphDestroy", &api.free_graph},
	        {"cuGraphGetNodes", &api.count_nodes},
	        {"cuStreamGetCaptureInfo_v2", &api.state},
	        {"cuGraphAddChildGraphNode", &api.add_child},
	        {"cuStreamUpdateCaptureDependencies", &api.depend},
	};
	void *library = api.depend ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (api.depend)
		return TK_ABI_OK;
	if (!library)
		return fail(err, TK_ABI_DEVICE, "no CUDA driver: %.300s", dlerror());
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
		void *symbol = dlsym(library, symbols[i].name);
		if (!symbol)
			return fail(err, TK_ABI_DEVICE, "the CUDA driver is too old: it has no %s",
			        symbols[i].name);
		memcpy(symbols[i].to, &symbol, sizeof symbol);
	}
	return TK_ABI_OK;
}

static int check(CUresult code, const char *what, struct tk_abi_error *err)
{
	const char *text = NULL;
	if (code == CUDA_SUCCESS)
		return TK_ABI_OK;
	if (api.text(code, &text) != CUDA_SUCCESS || !text)
		text = "unknown error";
	return fail(err, code == CUDA_ERROR_OUT_OF_MEMORY ? TK_ABI_NO_MEMORY : TK_ABI_DEVICE,
	        "%s: %s", what, text);
}

/* A graph without work is no measurement: the library enqueued it elsewhere. */
static int instantiate(struct capture *c, struct capture **out, struct tk_abi_error *err)
{
	size_t nodes = 0;
	int status = check(api.count_nodes(c->graph, NULL, &nodes), "nodes of the graph", err);
	if (!status && !nodes)
		status = fail(err, TK_ABI_INTERNAL,
		        "the callable enqueued nothing on the stream that it was given");
	if (!status)
		status = check(api.instantiate(&c->program, c->graph, 0), "graph", err);
	if (status)
		capture_free(c);
	else
		*out = c;
	return status;
}

int capture_new(void *stream, capture_enqueue_fn *enqueue, void *context, struct capture **out,
        struct tk_abi_error *err)
{
	struct tk_abi_error ignored = {.size = sizeof ignored};
	TRY(load_api(err));
	/* Relaxed: a library may allocate memory meanwhile. */
	TRY(check(api.begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED), "capture", err));
	struct capture *c = calloc(1, sizeof *c);
	int status =
	        c ? enqueue(context, err) : fail(err, TK_ABI_NO_MEMORY, "no memory for the graph");
	CUgraph graph = NULL;
	int ended = check(api.end(stream, &graph), "capture", status ? &ignored : err);
	if (status || ended) {
		if (graph)
			api.free_graph(graph);
		free(c);
		return status ? status : ended;
	}
	c->graph = graph;
	return instantiate(c, out, err);
}

int capture_adopt(void *graph, struct capture **out, struct tk_abi_error *err)
{
	TRY(load_api(err));
	struct capture *c = calloc(1, sizeof *c);
	if (!c || !graph) {
		free(c);
		return fail(err, graph ? TK_ABI_NO_MEMORY : TK_ABI_INVALID,
		        graph ? "no memory for the graph" : "the adapter's graph is null");
	}
	c->graph = graph;
	c->adopted = true;
	return instantiate(c, out, err);
}

/* What the stream has captured so far comes before the graph, what it captures next after it. */
static int add_to_capture(CUgraph into, const CUgraphNode *after, size_t count, struct capture *c,
        CUstream stream, struct tk_abi_error *err)
{
	CUgraphNode node = NULL;
	TRY(check(api.add_child(&node, into, after, count, c->graph), "child graph", err));
	return check(api.depend(stream, &node, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
	        "child graph", err);
}

int capture_replay(struct capture *c, void *stream, struct tk_abi_error *err)
{
	CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
	const CUgraphNode *after = NULL;
	CUgraph into = NULL;
	size_t count = 0;
	TRY(check(api.state(stream, &state, NULL, &into, &after, &count), "stream", err));
	return state == CU_STREAM_CAPTURE_STATUS_ACTIVE
	               ? add_to_capture(into, after, count, c, stream, err)
	               : check(api.launch(c->program, stream), "graph launch", err);
}

void capture_free(struct capture *c)
{
	if (!c)
		return;
	if (c->program)
		api.free_program(c->program);
	if (!c->adopted)
		api.free_graph(c->graph);
	free(c);
}
