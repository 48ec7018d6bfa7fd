/* What this machine has to measure: GPUs as the system shows them, packages of the Python in the
 * PATH, and the devices and modules that load. See survey.h. */
#include <ctype.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/try.h"
#include "cli/host/survey.h"
#include "config/config.h"
#include "core/series.h"
#include "worker/worker.h"

/* ---- GPUs of the system ---------------------------------------------------------------------- */

static const struct gpu_kind {
	const char *kind, *vendor;
	const char *nodes[4]; /* patterns; one that exists is enough */
} gpu_kinds[] = {
        {"cuda", "NVIDIA", {"/proc/driver/nvidia/gpus/*", "/dev/nvidia[0-9]*", "/dev/dxg", NULL}},
        {"hip", "AMD", {"/dev/kfd", NULL}},
};

static const struct gpu_kind *find_kind(const char *kind)
{
	for (size_t i = 0; i < sizeof gpu_kinds / sizeof *gpu_kinds; i++)
		if (strcmp(gpu_kinds[i].kind, kind) == 0)
			return &gpu_kinds[i];
	return NULL;
}

/* $TRACKER_SYSROOT is for tests: a folder with another /dev and /proc. */
static bool node_exists(const char *pattern)
{
	const char *root = getenv("TRACKER_SYSROOT");
	AUTO_TEXT path = tk_sprintf("%s%s", root ? root : "", pattern);
	glob_t found = {0};
	bool exists = glob(path, 0, NULL, &found) == 0 && found.gl_pathc > 0;

	globfree(&found);
	return exists;
}

bool tk_gpu_is_present(const char *kind)
{
	const struct gpu_kind *k = find_kind(kind);

	for (size_t i = 0; k && k->nodes[i]; i++)
		if (node_exists(k->nodes[i]))
			return true;
	return false;
}

/* The build writes KIND.txt beside the modules: why there are none, and what builds them. */
static bool read_build_note(const struct tk_modules *modules, const char *kind, struct tk_buf *text)
{
	char name[32], *path;
	bool ok;

	snprintf(name, sizeof name, "%s.txt", kind);
	path = modules ? tk_path_join(modules->dir, name) : NULL;
	ok = path && tk_file_read(path, 4096, text, NULL) == 0 && text->len > 1;
	free(path);
	return ok;
}

void tk_gpu_explain_missing(const struct tk_modules *modules, const char *kind, struct tk_buf *out)
{
	const struct gpu_kind *k = find_kind(kind);
	struct tk_buf note = TK_BUF_INIT;
	char *fix;

	tk_buf_add_printf(out, "%s: this tracker has no modules for %s GPUs: ", kind,
	        k ? k->vendor : "these");
	if (!read_build_note(modules, kind, &note)) {
		tk_buf_add_str(out, "they were not built; build the tracker again where the "
		                    "vendor's compiler is installed (`ci/quickstart`)");
	} else {
		fix = strchr(note.data, '\n');
		if (fix)
			*fix++ = '\0';
		tk_buf_add_str(out, note.data);
		if (fix && *fix)
			tk_buf_add_printf(out, "; %.*s", (int)strcspn(fix, "\n"), fix);
	}
	tk_buf_free(&note);
}

/* ---- packages of Python ---------------------------------------------------------------------- */

#define DEADLINE_S 10
#define COUNT (sizeof rows / sizeof *rows)

static const struct {
	const char *adapter, *package; /* name on the index */
	bool is_compiler;
} rows[] = {
        {"numpy", "numpy", false},
        {"jax", "jax", false},
        {"torch", "torch", false},
        {"triton", "triton", true},
        {"tilelang", "tilelang", true},
        {"iree", "iree-base-compiler", true},
};

static const char program[] =
        "import importlib.metadata as m, sys\n"
        "for line in m.distributions():\n"
        "    print((line.metadata['Name'] or '').lower().replace('_', '-'), line.version)\n";

struct tk_python_packages {
	struct tk_process_result result; /* keeps the versions */
	struct tk_config_host_package list[COUNT + 1];
};

/* The text goes into a configuration file. */
static bool is_version(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(".+!-_", *c))
			return false;
	return *text != '\0';
}

/* One line, "numpy 2.2.6". */
static void add_line(struct tk_python_packages *p, char *line)
{
	char *space = strchr(line, ' ');
	if (!space || !is_version(space + 1))
		return;
	*space = '\0';
	for (size_t i = 0; i < COUNT; i++)
		if (strcmp(line, rows[i].package) == 0 && !p->list[i].version)
			p->list[i].version = space + 1;
}

static void keep_found(struct tk_python_packages *p)
{
	size_t found = 0;
	for (size_t i = 0; i < COUNT; i++)
		if (p->list[i].version)
			p->list[found++] = (struct tk_config_host_package){rows[i].adapter,
			        rows[i].package, p->list[i].version, rows[i].is_compiler};
	p->list[found] = (struct tk_config_host_package){0};
}

struct tk_python_packages *tk_python_packages_find(void)
{
	static const char *const argv[] = {"python3", "-I", "-c", program, NULL};
	const struct tk_process_spec spec = {
	        .argv = argv, .deadline_s = DEADLINE_S, .capture_max = 1 << 20};
	struct tk_python_packages *p = tk_calloc(1, sizeof *p);
	if (!p || tk_process_run(&spec, &p->result, NULL)) {
		free(p);
		return NULL;
	}
	char *rest = p->result.exit_code == 0 ? p->result.out.data : NULL;
	for (char *line; rest && (line = strsep(&rest, "\n"));)
		add_line(p, line);
	keep_found(p);
	return p;
}

void tk_python_packages_free(struct tk_python_packages *p)
{
	if (!p)
		return;
	tk_process_result_free(&p->result);
	free(p);
}

const struct tk_config_host_package *tk_python_packages_list(const struct tk_python_packages *p)
{
	return p->list;
}

/* ---- what this machine has ------------------------------------------------------------------- */

#define DEVICES_MAX 64

struct tk_survey {
	struct tk_modules *modules;
	struct tk_config_host host;
	struct tk_config_host_device devices[DEVICES_MAX + 1];
	size_t device_count;
	const char **backends; /* names in `modules` */
	size_t backend_count;
	json_t *infos;                       /* keeps the texts of `devices` */
	struct tk_python_packages *packages; /* may be NULL */
};

const struct tk_config_host *tk_survey_host(const struct tk_survey *s)
{
	return &s->host;
}

void tk_survey_free(struct tk_survey *s)
{
	if (!s)
		return;
	tk_modules_free(s->modules);
	json_decref(s->infos);
	tk_python_packages_free(s->packages);
	free(s->backends);
	free(s);
}

void tk_survey_find_packages(struct tk_survey *s)
{
	if (!s->packages)
		s->packages = tk_python_packages_find();
	s->host.packages = s->packages ? tk_python_packages_list(s->packages) : NULL;
}

static int new_worker(const struct tk_globals *g, const struct tk_survey *s,
        const struct tk_module *layer, uint32_t index, struct tk_worker **out, struct tk_error *err)
{
	struct tk_worker_spec spec = {.program = g->program,
	        .device_kind = layer->name,
	        .device_layer = layer->path,
	        .modules_dir = s->modules->dir,
	        .device_index = index};

	return tk_worker_new(&spec, out, err);
}

/* ---- devices ---- */

/* Adds a device; returns how many its layer has, 0 without this one. */
static json_int_t add_device(const struct tk_globals *g, struct tk_survey *s,
        const struct tk_module *layer, uint32_t index)
{
	struct tk_worker *w = NULL;
	json_t *info = NULL;
	const char *arch;
	int status = new_worker(g, s, layer, index, &w, NULL);

	if (!status)
		status = tk_worker_query_device(w, &info, NULL);
	tk_worker_free(w);
	if (status)
		return 0;
	json_array_append_new(s->infos, info);
	arch = json_string_value(json_object_get(info, "arch"));
	if (s->device_count < DEVICES_MAX)
		s->devices[s->device_count++] =
		        (struct tk_config_host_device){layer->name, arch ? arch : ""};
	return json_integer_value(json_object_get(info, "count"));
}

/* The device layer `null` simulates a device and measures nothing. */
static bool is_real(const char *kind)
{
	const enum tk_device_kind k = tk_device_kind_from_name(kind);

	return k == TK_DEVICE_CPU || k == TK_DEVICE_CUDA || k == TK_DEVICE_HIP;
}

static void find_devices(const struct tk_globals *g, struct tk_survey *s)
{
	for (size_t i = 0; i < s->modules->device_count; i++) {
		const struct tk_module *layer = &s->modules->devices[i];
		json_int_t count = 1;

		if (!is_real(layer->name))
			continue;
		for (uint32_t index = 0; index < count && index < DEVICES_MAX; index++) {
			json_int_t found = add_device(g, s, layer, index);

			count = found > count ? found : count;
		}
	}
	s->host.devices = s->devices;
}

/* ---- backends ---- */

static bool has_device(const struct tk_survey *s, const char *kind)
{
	for (size_t i = 0; i < s->device_count; i++)
		if (strcmp(s->devices[i].kind, kind) == 0)
			return true;
	return false;
}

/* A module whose library is not installed cannot be loaded and is left out. */
static bool is_usable(const struct tk_globals *g, const struct tk_survey *s,
        const struct tk_module *layer, const struct tk_module *backend)
{
	struct tk_worker *w = NULL;
	json_t *info = NULL;
	const char *kind;
	bool usable = false;

	if (!new_worker(g, s, layer, 0, &w, NULL) &&
	        !tk_worker_query_backend(w, backend->path, &info, NULL)) {
		kind = json_string_value(json_object_get(info, "device_kind"));
		usable = kind && has_device(s, kind);
	}
	json_decref(info);
	tk_worker_free(w);
	return usable;
}

static int find_backends(const struct tk_globals *g, struct tk_survey *s, struct tk_error *err)
{
	const struct tk_modules *m = s->modules;

	s->backends = tk_calloc(m->backend_count + 1, sizeof *s->backends);
	for (size_t i = 0; m->device_count && i < m->backend_count; i++)
		if (is_usable(g, s, &m->devices[0], &m->backends[i]))
			s->backends[s->backend_count++] = m->backends[i].name;
	s->host.backends = s->backends;
	return TK_OK;
}

/* ---- own kernels ---- */

static bool has_program(const char *name, const char *otherwise)
{
	char *path = NULL;
	bool found = tk_process_find_program(name, &path);

	free(path);
	return found || (otherwise && tk_file_exists(otherwise));
}

/* A work tree of the tracker, or of a copy of it, around the configuration. */
static bool is_in_repository(const char *root)
{
	char *at = tk_path_make_absolute(root), *slash;
	bool found = false;

	while (at && !found) {
		char *git = tk_path_join(at, ".git"),
		     *kernels = tk_path_join(at, "kernels/CMakeLists.txt");

		found = (tk_dir_exists(git) || tk_file_exists(git)) && tk_file_exists(kernels);
		free(git);
		free(kernels);
		slash = strrchr(at, '/');
		if (!slash || !at[1])
			break;
		slash[slash == at] = '\0';
	}
	free(at);
	return found;
}

/* As kernels/adapters/self/gpus decides what to build. */
static void find_compilers(struct tk_survey *s, const char *root)
{
	bool cpu = is_in_repository(root) && has_program("git", NULL) &&
	           has_program("cmake", NULL) && has_program("cc", NULL);

	s->host.builds_own.cpu = cpu;
	s->host.builds_own.cuda = cpu && has_program("nvcc", "/usr/local/cuda/bin/nvcc") &&
	                          has_program("nvidia-smi", NULL);
	s->host.builds_own.hip = cpu && has_program("hipcc", "/opt/rocm/bin/hipcc");
}

int tk_survey_new(
        const struct tk_globals *g, const char *root, struct tk_survey **out, struct tk_error *err)
{
	struct tk_survey *s = tk_calloc(1, sizeof *s);
	int status = tk_modules_load(g->program, &s->modules, err);

	s->infos = json_array();
	if (!status) {
		find_devices(g, s);
		status = find_backends(g, s, err);
	}
	if (status) {
		tk_survey_free(s);
		return status;
	}
	find_compilers(s, root);
	*out = s;
	return TK_OK;
}

int tk_survey_apply_defaults(
        const struct tk_globals *g, struct tk_config **config, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	struct tk_survey *s = NULL;
	struct tk_config *found = NULL;
	int status = TK_OK;

	if ((*config)->path)
		return TK_OK;
	if (tk_survey_new(g, (*config)->root, &s, err))
		return err->status;
	tk_config_write_default_file(&text, &s->host);
	status = tk_buf_status(&text, err);
	if (!status)
		status = tk_config_load_text((*config)->root, "default configuration",
		        tk_buf_cstr(&text), text.len, &found, err);
	if (!status) {
		tk_config_free(*config);
		*config = found;
	}
	tk_survey_free(s);
	return status;
}
