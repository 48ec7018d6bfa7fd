/* See modules.h. Only workers load modules; here they are listed. */
#include "nightly/plan/modules.h"
#include "base/base.h"
#include "build/build.h"
#include "config/config.h"
#include "core/kernel_package.h"
#include "core/vocabulary.h"

#define BACKEND_PREFIX "tk_backend_"
#define DEVICE_PREFIX "tk_device_"

static char *modules_dir(const char *program)
{
	const char *env = getenv("TRACKER_BACKENDS");
	if (env && *env)
		return tk_path_make_absolute(env);
	const char *slash = strrchr(program, '/');
	AUTO_TEXT here = slash ? tk_strndup(program, (size_t)(slash - program)) : tk_strdup(".");
	char *dir = tk_path_join(here, "backends");
	if (tk_dir_exists(dir))
		return dir;
	free(dir);
	AUTO_TEXT up = tk_path_join(here, "../lib/tracker/backends");
	return tk_path_make_absolute(up);
}

/* Whether a file is a module of that kind. *name: what is between the prefix and ".so", or what
 * ends the name of a Python package. */
static bool is_module(const char *file, const char *prefix, char **name)
{
	const char *dot = strrchr(file, '.');
	size_t skip = strlen(prefix);
	if (!dot || strncmp(file, prefix, skip) != 0 || dot <= file + skip ||
	        (strcmp(dot, ".so") != 0 && !tk_kernel_package_is_python(file)))
		return false;
	*name = tk_strndup(file + skip, (size_t)(dot - file) - skip);
	return true;
}

int tk_modules_load(const char *program, struct tk_modules **out, struct tk_error *err)
{
	char *dir = modules_dir(program), **names = NULL;
	size_t count = 0;
	if (!dir)
		return tk_fail_errno(err, "the current folder");
	if (tk_dir_list(dir, &names, &count, err)) {
		free(dir);
		return tk_error_add_context(
		        err, "cannot list the backends (set TRACKER_BACKENDS to their folder)");
	}
	struct tk_modules *c = tk_calloc(1, sizeof *c);
	c->dir = dir;
	c->backends = tk_calloc(count + 1, sizeof *c->backends);
	c->devices = tk_calloc(count + 1, sizeof *c->devices);
	for (size_t i = 0; i < count; i++) {
		struct tk_module m;
		if (is_module(names[i], BACKEND_PREFIX, &m.name)) {
			m.path = tk_path_join(dir, names[i]);
			c->backends[c->backend_count++] = m;
		} else if (is_module(names[i], DEVICE_PREFIX, &m.name)) {
			m.path = tk_path_join(dir, names[i]);
			c->devices[c->device_count++] = m;
		}
	}
	tk_names_free(names, count);
	*out = c;
	return TK_OK;
}

static void free_modules(struct tk_module *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].name);
		free(list[i].path);
	}
	free(list);
}

void tk_modules_free(struct tk_modules *c)
{
	if (!c)
		return;
	free_modules(c->devices, c->device_count);
	free_modules(c->backends, c->backend_count);
	free(c->dir);
	free(c);
}

static const struct tk_module *find(const struct tk_module *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

const struct tk_module *tk_modules_find_device(const struct tk_modules *c, const char *kind)
{
	return find(c->devices, c->device_count, kind);
}

const struct tk_module *tk_modules_find_backend(const struct tk_modules *c, const char *name)
{
	return find(c->backends, c->backend_count, name);
}

size_t tk_modules_list_company(
        const struct tk_modules *c, const char *device_kind, const char **out, size_t max)
{
	static const struct {
		enum tk_device_kind kind;
		const char *backend;
	} rows[] = {{TK_DEVICE_CPU, "cpu"}, {TK_DEVICE_NULL, "null"}, {TK_DEVICE_CUDA, "cublaslt"},
	        {TK_DEVICE_CUDA, "cudnn"}, {TK_DEVICE_CUDA, "gemm_matrix_cuda"},
	        {TK_DEVICE_CUDA, "flash_cuda"}, {TK_DEVICE_HIP, "hipblaslt"},
	        {TK_DEVICE_HIP, "rocblas"}, {TK_DEVICE_HIP, "flash_hip"}};
	size_t n = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows && n < max; i++) {
		const struct tk_module *m = tk_modules_find_backend(c, rows[i].backend);
		if (m && rows[i].kind == tk_device_kind_from_name(device_kind))
			out[n++] = m->path;
	}
	return n;
}

/* ---- names of backends ---- */

static bool is_path(const char *name)
{
	size_t len = strlen(name);
	return strchr(name, '/') || (len > 3 && strcmp(name + len - 3, ".so") == 0) ||
	       tk_kernel_package_device_kind(name) != TK_DEVICE_OTHER;
}

static int find_path(const char *name, char **path, struct tk_error *err)
{
	bool is_package = tk_kernel_package_device_kind(name) != TK_DEVICE_OTHER;
	if (is_package ? !tk_dir_exists(name) : !tk_file_exists(name))
		return tk_fail(err, TK_EUSAGE, "%s does not exist", name);
	*path = tk_path_make_absolute(name);
	return *path ? TK_OK : tk_fail_errno(err, "%s", name);
}

/* The newest build of each upstream. */
struct builds {
	struct tk_artifact **newest; /* by upstream; NULL: it has no build here */
	size_t count;
};

static void builds_free(struct builds *b)
{
	for (size_t i = 0; i < b->count; i++)
		tk_artifact_free(b->newest[i]);
	free(b->newest);
}

/* Times of builds are whole seconds: of two within one second the later commit counts. */
static bool is_newer(const struct tk_artifact *a, const struct tk_artifact *b)
{
	return !b || (a->built_s != b->built_s ? a->built_s > b->built_s
	                                       : a->commit.position > b->commit.position);
}

static int builds_load(const struct tk_config *config, struct builds *b, struct tk_error *err)
{
	char **keys = NULL;
	size_t count = 0;
	*b = (struct builds){
	        tk_calloc(config->upstream_count + 1, sizeof *b->newest), config->upstream_count};
	TRY(tk_artifact_list_keys(config->cache_dir, &keys, &count, err));
	for (size_t k = 0; k < count; k++) {
		struct tk_artifact *a = NULL;
		/* One that another process removes in the meantime is no build. */
		if (tk_artifact_load(config->cache_dir, keys[k], &a, NULL))
			continue;
		for (size_t i = 0; tk_build_status_is_usable(a->status) && i < b->count; i++)
			if (strcmp(config->upstreams[i].name, a->upstream) == 0 &&
			        is_newer(a, b->newest[i])) {
				struct tk_artifact *older = b->newest[i];
				b->newest[i] = a;
				a = older;
				break;
			}
		tk_artifact_free(a);
	}
	tk_names_free(keys, count);
	return TK_OK;
}

struct names {
	char **at; /* NULL-terminated */
	size_t count;
};

static void names_free(struct names *n)
{
	tk_names_free(n->at, n->count);
}

static void add_name(struct names *n, const char *upstream, const char *backend)
{
	n->at = tk_reallocarray(n->at, n->count + 2, sizeof *n->at);
	n->at[n->count++] = tk_sprintf("%s%s%s", upstream, *upstream ? ":" : "", backend);
	n->at[n->count] = NULL;
}

static struct names list_names(
        const struct tk_config *config, const struct tk_modules *modules, const struct builds *b)
{
	struct names n = {.at = tk_calloc(1, sizeof *n.at)};
	for (size_t i = 0; i < modules->backend_count; i++)
		add_name(&n, "", modules->backends[i].name);
	for (size_t u = 0; u < b->count; u++)
		for (size_t i = 0; b->newest[u] && i < b->newest[u]->backend_count; i++)
			add_name(&n, config->upstreams[u].name, b->newest[u]->backends[i].name);
	return n;
}

static int find_in_builds(const struct tk_config *config, const struct tk_modules *modules,
        const char *name, char **path, struct tk_error *err)
{
	const char *colon = strchr(name, ':'), *found = NULL;
	size_t upstream = colon ? (size_t)(colon - name) : 0; /* bytes of its name; 0: any */
	AUTO(builds) b = {0};
	TRY(builds_load(config, &b, err));
	for (size_t u = 0; u < b.count; u++) {
		const char *of = config->upstreams[u].name;
		if (!b.newest[u] ||
		        (upstream && (strlen(of) != upstream || strncmp(of, name, upstream))))
			continue;
		const struct tk_artifact_backend *backend =
		        tk_artifact_find_backend(b.newest[u], colon ? colon + 1 : name);
		if (backend && found)
			return tk_fail(err, TK_EUSAGE,
			        "several upstreams have built a backend \"%s\"; expected "
			        "UPSTREAM:%s",
			        name, name);
		found = backend ? backend->path : found;
	}
	if (found) {
		*path = tk_strdup(found);
		return TK_OK;
	}
	AUTO(names) known = list_names(config, modules, &b);
	char hint[TK_SUGGEST_HINT_SIZE];
	return tk_fail(err, TK_EUSAGE, "unknown backend \"%s\"%s", name,
	        tk_suggest_hint(name, (const char *const *)known.at,
	                "; `tracker doctor` lists the backends, `tracker build` makes those of an "
	                "upstream",
	                hint));
}

int tk_backend_find(const struct tk_config *config, const struct tk_modules *modules,
        const char *name, char **path, struct tk_error *err)
{
	if (is_path(name))
		return find_path(name, path, err);
	const struct tk_module *m = tk_modules_find_backend(modules, name);
	if (!m)
		return find_in_builds(config, modules, name, path, err);
	*path = tk_strdup(m->path);
	return TK_OK;
}

int tk_backend_list(const struct tk_config *config, const struct tk_modules *modules,
        void (*print)(const char *name), struct tk_error *err)
{
	AUTO(builds) b = {0};
	TRY(builds_load(config, &b, err));
	AUTO(names) n = list_names(config, modules, &b);
	for (size_t i = 0; i < n.count; i++)
		print(n.at[i]);
	return TK_OK;
}

char *tk_backend_find_traced(const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	char *traced = tk_sprintf("%.*s/trace/%s", (int)(slash - path), path, slash + 1);
	if (tk_file_exists(traced))
		return traced;
	free(traced);
	return NULL;
}
