/* The launcher's driver table for CPUs: code objects are shared libraries of IREE's compiler
 * (iree_library.h), which need nothing but what this file gives them. A launch calls the kernel's
 * function once for each block of the grid ("workgroup"). */
#include "iree_library.h"
#include "launcher.h"
#include "pool.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- a loaded code object ---- */

struct function {
	iree_function *call;
	const char *name;                 /* NULL: none */
	const struct iree_counts *counts; /* NULL: unknown */
	const struct iree_environment *environment;
};

struct module {
	int fd; /* stays open: dlopen() knows a library by the name of its file */
	void *handle;
	struct iree_environment environment;
	void **imports;
	struct function *functions;
	uint32_t function_count;
};

static struct {
	struct tk_cpu_pool *pool;
	uint32_t users;
} threads;

static int cpu_start(const struct tk_open_args *args, struct tk_abi_error *err)
{
	if (!threads.pool && !(threads.pool = tk_cpu_pool_open(args->threads)))
		return fail(err, TK_ABI_NO_MEMORY, "cannot start the threads");
	threads.users++;
	return TK_ABI_OK;
}

static void cpu_stop(void)
{
	if (--threads.users)
		return;
	tk_cpu_pool_close(threads.pool);
	threads.pool = NULL;
}

/* "x86-64-v3" runs on x86-64-v3 and x86-64-v4. */
static bool cpu_runs_on(const char *target, const char *arch)
{
	unsigned built, have;
	char rest;
	if (sscanf(target, "x86-64-v%u%c", &built, &rest) == 1 &&
	        sscanf(arch, "x86-64-v%u%c", &have, &rest) == 1)
		return built <= have;
	return strcmp(target, arch) == 0;
}

static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(fd, data, bytes);
		if (n <= 0)
			return -1;
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* From memory, not from the file: what was hashed is what runs. */
static int open_library(struct module *m, const void *code, size_t bytes, struct tk_abi_error *err)
{
	char path[64];
	m->fd = memfd_create("kernel", MFD_CLOEXEC);
	if (m->fd < 0 || write_all(m->fd, code, bytes))
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the code object");
	snprintf(path, sizeof path, "/proc/self/fd/%d", m->fd);
	m->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return m->handle ? TK_ABI_OK
	                 : fail(err, TK_ABI_INVALID, "cannot load the code object: %.300s",
	                           dlerror());
}

static int check_needs(const struct iree_header *header, const struct iree_imports *imports,
        uint32_t constants, struct tk_abi_error *err)
{
	if (header->sanitizer || constants)
		return fail(err, TK_ABI_INVALID,
		        "the code object needs a sanitizer or %u constants, which have no values",
		        constants);
	for (uint32_t i = 0; i < imports->count; i++)
		if (imports->names[i][0] != '?')
			return fail(err, TK_ABI_INVALID,
			        "the code object needs the function \"%.200s\"", imports->names[i]);
	return TK_ABI_OK;
}

/* The table of imports has NULL for each optional function. */
static int allocate_functions(
        struct module *m, uint32_t imports, uint32_t exports, struct tk_abi_error *err)
{
	m->imports = calloc((size_t)imports + 1, sizeof *m->imports);
	m->functions = calloc((size_t)exports + 1, sizeof *m->functions);
	if (!m->imports || !m->functions)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the code object");
	m->environment.imports = m->environment.import_contexts = m->imports;
	m->function_count = exports;
	return TK_ABI_OK;
}

/* What both versions of the interface have, in structs of different layouts. */
struct contents {
	const struct iree_header *header;
	const struct iree_imports *imports;
	uint32_t constant_count, export_count;
	iree_function *const *functions;
	const char *const *names; /* NULL: none */
	const void *counts;       /* struct iree_counts of the first function; NULL: unknown */
	size_t counts_stride;     /* bytes from one to that of the next function */
};

/* `l`: a struct iree_library or iree_library_old. */
#define CONTENTS(l) \
	{ \
		.header = (l)->header, .imports = &(l)->imports, \
		.constant_count = (l)->constants.count, .export_count = (l)->exports.count, \
		.functions = (l)->exports.functions, .names = (l)->exports.names, \
		.counts = (l)->exports.attributes ? &(l)->exports.attributes->counts : NULL, \
		.counts_stride = sizeof *(l)->exports.attributes \
	}

static int read_contents(struct module *m, const struct contents *c, struct tk_abi_error *err)
{
	int status = check_needs(c->header, c->imports, c->constant_count, err);
	if (!status)
		status = allocate_functions(m, c->imports->count, c->export_count, err);
	for (uint32_t i = 0; !status && i < c->export_count; i++)
		m->functions[i] = (struct function){.call = c->functions[i],
		        .name = c->names ? c->names[i] : NULL,
		        .counts = c->counts ? (const void *)((const char *)c->counts +
		                                             i * c->counts_stride)
		                            : NULL,
		        .environment = &m->environment};
	return status;
}

static int read_library(
        struct module *m, const struct iree_header *const *header, struct tk_abi_error *err)
{
	const struct iree_library *l = (const void *)header;
	const struct iree_library_old *old = (const void *)header;

	if ((*header)->version == IREE_LIBRARY_VERSION)
		return read_contents(m, &(struct contents)CONTENTS(l), err);
	return read_contents(m, &(struct contents)CONTENTS(old), err);
}

static int query_library(struct module *m, struct tk_abi_error *err)
{
	static const uint32_t versions[] = {IREE_LIBRARY_VERSION, IREE_LIBRARY_VERSION_OLD};
	iree_library_query *query = NULL;
	void *symbol = dlsym(m->handle, IREE_LIBRARY_QUERY);
	memcpy(&query, &symbol, sizeof symbol);
	for (size_t i = 0; query && i < sizeof versions / sizeof *versions; i++) {
		const struct iree_header *const *found = query(versions[i], &m->environment);
		if (found && (*found)->version == versions[i])
			return read_library(m, found, err);
	}
	return fail(err, TK_ABI_INVALID,
	        "the code object is not an executable library of IREE, version 0.%u or 0.%u",
	        IREE_LIBRARY_VERSION_OLD, IREE_LIBRARY_VERSION);
}

static void cpu_unload(void *module)
{
	struct module *m = module;
	if (m->handle)
		dlclose(m->handle);
	if (m->fd >= 0)
		close(m->fd);
	free(m->imports);
	free(m->functions);
	free(m);
}

static int cpu_load(const void *code, size_t bytes, void **module, struct tk_abi_error *err)
{
	struct module *m = calloc(1, sizeof *m);
	if (!m)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the code object");
	int status = open_library(m, code, bytes, err);
	if (!status)
		status = query_library(m, err);
	if (status)
		cpu_unload(m);
	else
		*module = m;
	return status;
}

static int cpu_find(void *module, const char *entry, void **function, struct tk_abi_error *err)
{
	const struct module *m = module;
	for (uint32_t i = 0; i < m->function_count; i++)
		if (m->functions[i].name && strcmp(m->functions[i].name, entry) == 0) {
			*function = &m->functions[i];
			return TK_ABI_OK;
		}
	return fail(err, TK_ABI_INVALID, "the code object has no kernel \"%.200s\"", entry);
}

/* Buffers and constants have an order each: prepare() compares their numbers. */
static enum launcher_param cpu_param(void *function, uint32_t index, size_t *bytes)
{
	return LAUNCHER_PARAM_UNKNOWN;
}

static int cpu_prepare(void *function, const struct launcher_launch *l, struct tk_abi_error *err)
{
	const struct function *f = function;
	const struct iree_counts *a = f->counts;
	uint32_t constants = 0;
	for (uint32_t i = 0; i < l->arg_count; i++) {
		constants += l->args[i].kind == LAUNCHER_ARG_VALUE;
		if (l->args[i].kind == LAUNCHER_ARG_VALUE && l->args[i].bytes != 4)
			return fail(err, TK_ABI_INVALID, "%.200s: a value has %u bytes, expected 4",
			        l->entry, l->args[i].bytes);
		if (l->args[i].kind == LAUNCHER_ARG_TENSOR_MAP)
			return fail(
			        err, TK_ABI_INVALID, "%.200s: a CPU has no tensor maps", l->entry);
	}
	if (l->grid[2] > UINT16_MAX)
		return fail(err, TK_ABI_INVALID, "%.200s: the grid is too deep", l->entry);
	if (!a)
		return TK_ABI_OK;
	if (a->local_memory_pages)
		return fail(err, TK_ABI_UNSUPPORTED, "%.200s needs memory for each workgroup",
		        l->entry);
	if (a->constant_count != constants || a->binding_count != l->arg_count - constants)
		return fail(err, TK_ABI_INVALID,
		        "%.200s takes %u buffers and %u values, its manifest has %u and %u",
		        l->entry, a->binding_count, a->constant_count, l->arg_count - constants,
		        constants);
	return TK_ABI_OK;
}

static int cpu_encode_map(
        const struct launcher_tensor_map *m, void *data, void *out, struct tk_abi_error *err)
{
	return fail(err, TK_ABI_INVALID, "a CPU has no tensor maps");
}

/* ---- launches ---- */

struct dispatch {
	const struct function *function;
	struct iree_dispatch state;
	atomic_int status; /* the first that is not 0 */
};

static void run_workgroup(void *arg, uint32_t thread, int64_t index)
{
	struct dispatch *d = arg;
	const int64_t x = d->state.count_x, y = d->state.count_y;
	const struct iree_workgroup workgroup = {.x = (uint32_t)(index % x),
	        .y = (uint32_t)(index / x % y),
	        .z = (uint16_t)(index / x / y),
	        .processor = thread};
	int ok = 0, status = d->function->call(d->function->environment, &d->state, &workgroup);
	if (status)
		atomic_compare_exchange_strong(&d->status, &ok, status);
}

static int cpu_launch(void *function, const struct launcher_launch *l,
        const struct launcher_arguments *arguments, void *stream, struct tk_abi_error *err)
{
	const uint32_t workers = tk_cpu_pool_threads(threads.pool);
	uint32_t constants[LAUNCHER_ARGS_MAX], constant_count = 0, binding_count = 0;
	void *bindings[LAUNCHER_ARGS_MAX];
	size_t bytes[LAUNCHER_ARGS_MAX];
	for (uint32_t i = 0; i < l->arg_count; i++) {
		if (l->args[i].kind == LAUNCHER_ARG_VALUE) {
			memcpy(&constants[constant_count++], arguments->params[i], 4);
			continue;
		}
		memcpy(&bindings[binding_count], arguments->params[i], sizeof *bindings);
		bytes[binding_count++] = arguments->bytes[i];
	}
	struct dispatch d = {.function = function,
	        .state = {.size_x = l->block[0],
	                .size_y = l->block[1],
	                .size_z = (uint16_t)l->block[2],
	                .count_x = l->grid[0],
	                .count_y = l->grid[1],
	                .count_z = (uint16_t)l->grid[2],
	                .max_concurrency = (uint8_t)(workers < 255 ? workers : 255),
	                .constant_count = (uint16_t)constant_count,
	                .binding_count = (uint8_t)binding_count,
	                .constants = constants,
	                .bindings = bindings,
	                .binding_bytes = bytes}};
	tk_cpu_pool_run_tasks(threads.pool, workers, (int64_t)l->grid[0] * l->grid[1] * l->grid[2],
	        run_workgroup, &d);
	return d.status ? fail(err, TK_ABI_DEVICE, "%.200s returned %d", l->entry, d.status)
	                : TK_ABI_OK;
}

const struct launcher_driver launcher_driver = {
        .device_kind = "cpu",
        .backend_name = "launcher_cpu",
        .start = cpu_start,
        .stop = cpu_stop,
        .runs_on = cpu_runs_on,
        .load = cpu_load,
        .unload = cpu_unload,
        .find = cpu_find,
        .param = cpu_param,
        .prepare = cpu_prepare,
        .encode_map = cpu_encode_map,
        .launch = cpu_launch,
};
