/* What this machine has to measure, and `tracker init`. See survey.h. */
#include <ctype.h>
#include <glob.h>

#include "cli/host/survey.h"
#include "store/query/record.h"
#include "worker/worker.h"

/* ---- GPUs of the system ---------------------------------------------------------------------- */

static const struct gpu_kind {
	const char *kind, *vendor;
	const char *nodes[4]; /* patterns; one that exists is enough */
} gpu_kinds[TK_GPU_KINDS] = {
        {"cuda", "NVIDIA", {"/proc/driver/nvidia/gpus/*", "/dev/nvidia[0-9]*", "/dev/dxg", NULL}},
        {"hip", "AMD", {"/dev/kfd", NULL}},
};

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

/* The build writes KIND.txt beside the modules: why there are none, and what builds them. */
char *tk_gpu_explain_missing(const struct tk_modules *modules, size_t i, bool *is_present)
{
	const struct gpu_kind *k = &gpu_kinds[i];
	AUTO(tk_buf) note = TK_BUF_INIT;
	AUTO_TEXT path = modules ? tk_sprintf("%s/%s.txt", modules->dir, k->kind) : NULL;
	char *fix;

	*is_present = false;
	for (size_t n = 0; k->nodes[n]; n++)
		*is_present = *is_present || node_exists(k->nodes[n]);
	if (modules && tk_modules_find_device(modules, k->kind))
		return NULL;
	if (!path || tk_file_read(path, 4096, &note, NULL) != 0 || note.len < 2)
		return tk_sprintf(
		        "%s: this tracker has no modules for %s GPUs: they were not built; build "
		        "the tracker again where the vendor's compiler is installed "
		        "(`ci/quickstart`)",
		        k->kind, k->vendor);
	fix = strchr(note.data, '\n');
	if (fix)
		*fix++ = '\0';
	return tk_sprintf("%s: this tracker has no modules for %s GPUs: %s%s%.*s", k->kind,
	        k->vendor, note.data, fix && *fix ? "; " : "", fix ? (int)strcspn(fix, "\n") : 0,
	        fix ? fix : "");
}

/* ---- devices and backends, as a worker sees them --------------------------------------------- */

#define DEVICES_MAX 64

bool tk_survey_is_available(const json_t *entry)
{
	return json_is_true(json_object_get(entry, "available"));
}

/* What a worker says of a device, or with a path of the backend there; else {"reason": WHY}. */
static json_t *query(const struct tk_globals *g, const struct tk_modules *modules,
        const struct tk_module *layer, uint32_t index, const char *backend_path)
{
	const struct tk_worker_spec spec = {.program = g->program,
	        .device_kind = layer->name,
	        .device_layer = layer->path,
	        .modules_dir = modules->dir,
	        .device_index = index};
	AUTO_PTR(tk_worker) w = NULL;
	struct tk_error err = {0};
	json_t *answer = NULL;
	int status = tk_worker_new(&spec, &w, &err);

	if (!status)
		status = backend_path ? tk_worker_query_backend(w, backend_path, &answer, &err)
		                      : tk_worker_query_device(w, &answer, &err);
	return status ? json_pack("{s:o}", "reason", tk_json_valid_text(err.message)) : answer;
}

json_t *tk_survey_devices(
        const struct tk_globals *g, const struct tk_modules *modules, bool simulated)
{
	json_t *devices = json_array();

	for (size_t i = 0; i < modules->device_count; i++) {
		const struct tk_module *layer = &modules->devices[i];
		json_int_t count = 1;

		if (!simulated && tk_device_kind_from_name(layer->name) == TK_DEVICE_NULL)
			continue;
		for (uint32_t index = 0; index < count && index < DEVICES_MAX; index++) {
			json_t *d = query(g, modules, layer, index, NULL);
			json_int_t found = json_integer_value(json_object_get(d, "count"));

			count = found > count ? found : count;
			json_object_set_new(
			        d, "available", json_boolean(!json_object_get(d, "reason")));
			json_object_set_new(d, "layer", tk_json_valid_text(layer->name));
			json_object_set_new(d, "index", json_integer(index));
			json_array_append_new(devices, d);
		}
	}
	return devices;
}

/* A worker of any device can load a backend; the answer says which device it needs. */
json_t *tk_survey_query_backend(
        const struct tk_globals *g, const struct tk_modules *modules, const char *path)
{
	const struct tk_module *layer = tk_modules_find_device(modules, "cpu");

	if (!layer && modules->device_count)
		layer = &modules->devices[0];
	return layer ? query(g, modules, layer, 0, path)
	             : json_pack("{s:s}", "reason", "no device layer can load it");
}

static json_t *query_backend(const struct tk_globals *g, const struct tk_modules *modules,
        const json_t *devices, const char *path)
{
	json_t *b = tk_survey_query_backend(g, modules, path);
	const char *kind = tk_record_text(b, "device_kind");
	const json_t *device = tk_records_find(devices, "layer", kind);

	if (!json_object_get(b, "reason") && !device)
		json_object_set_new(
		        b, "reason", json_sprintf("no device layer \"%s\"", *kind ? kind : "?"));
	else if (!json_object_get(b, "reason") && !tk_survey_is_available(device))
		json_object_set_new(b, "reason", json_sprintf("no %s device", kind));
	json_object_set_new(b, "available", json_boolean(!json_object_get(b, "reason")));
	return b;
}

json_t *tk_survey_backends(
        const struct tk_globals *g, const struct tk_modules *modules, const json_t *devices)
{
	json_t *backends = json_array();

	for (size_t i = 0; i < modules->backend_count; i++) {
		const struct tk_module *m = &modules->backends[i];
		json_t *b = query_backend(g, modules, devices, m->path);

		json_object_set_new(b, "module", tk_json_valid_text(m->name));
		json_object_set_new(b, "path", tk_json_valid_text(m->path));
		json_array_append_new(backends, b);
	}
	return backends;
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

static const char program[] = "import importlib.metadata as m\n"
                              "for i, name in enumerate('%s'.split()):\n"
                              "    try:\n"
                              "        print(i, m.version(name))\n"
                              "    except m.PackageNotFoundError:\n"
                              "        pass\n";

/* The text goes into a configuration file. */
static bool is_version(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(".+!-_", *c))
			return false;
	return *text != '\0';
}

/* A line of the program is a position in `rows` and a version. */
void tk_python_packages_find(struct tk_python_packages *p)
{
	AUTO(tk_buf) names = TK_BUF_INIT;
	char *rest, *line, *version;
	size_t count = 0;

	for (size_t i = 0; i < COUNT; i++)
		tk_buf_add_printf(&names, "%s ", rows[i].package);
	AUTO_TEXT text = tk_sprintf(program, tk_buf_cstr(&names));
	const char *const argv[] = {"python3", "-I", "-c", text, NULL};
	const struct tk_process_spec spec = {
	        .argv = argv, .deadline_s = DEADLINE_S, .capture_max = 1 << 20};

	*p = (struct tk_python_packages){0};
	if (tk_process_run(&spec, &p->result, NULL))
		return;
	rest = p->result.exit_code == 0 ? p->result.out.data : NULL;
	while (rest && count < COUNT && (line = strsep(&rest, "\n"))) {
		const size_t i = strtoul(line, &version, 10);

		if (*version++ == ' ' && i < COUNT && is_version(version))
			p->list[count++] = (struct tk_config_host_package){
			        rows[i].adapter, rows[i].package, version, rows[i].is_compiler};
	}
}

void tk_python_packages_free(struct tk_python_packages *p)
{
	tk_process_result_free(&p->result);
}

/* ---- own kernels ----------------------------------------------------------------------------- */

static bool has_program(const char *name, const char *otherwise)
{
	AUTO_TEXT path = NULL;

	return tk_process_find_program(name, &path) || (otherwise && tk_file_exists(otherwise));
}

/* A work tree of the tracker, or of a copy of it, around the configuration. */
static bool is_in_repository(const char *root)
{
	AUTO_TEXT at = tk_path_make_absolute(root);

	for (;;) {
		AUTO_TEXT git = tk_path_join(at, ".git");
		AUTO_TEXT kernels = tk_path_join(at, "kernels/CMakeLists.txt");
		char *slash = strrchr(at, '/');

		if ((tk_dir_exists(git) || tk_file_exists(git)) && tk_file_exists(kernels))
			return true;
		if (!slash || !at[1])
			return false;
		slash[slash == at] = '\0';
	}
}

/* As kernels/adapters/self/gpus decides what to build. */
static void find_compilers(struct tk_config_host *host, const char *root)
{
	bool cpu = is_in_repository(root) && has_program("git", NULL) &&
	           has_program("cmake", NULL) && has_program("cc", NULL);

	host->builds_own.cpu = cpu;
	host->builds_own.cuda = cpu && has_program("nvcc", "/usr/local/cuda/bin/nvcc") &&
	                        has_program("nvidia-smi", NULL);
	host->builds_own.hip = cpu && has_program("hipcc", "/opt/rocm/bin/hipcc");
}

/* ---- the configuration of this machine ------------------------------------------------------- */

/* Starts a worker for each module. packages: those of Python, or NULL. */
static void write_config(const struct tk_globals *g, const struct tk_modules *modules,
        const char *root, const struct tk_config_host_package *packages, struct tk_buf *out)
{
	json_auto_t *devices = tk_survey_devices(g, modules, false);
	json_auto_t *backends = tk_survey_backends(g, modules, devices);
	struct tk_config_host_device *found =
	        tk_calloc(json_array_size(devices) + 1, sizeof *found);
	const char **names = tk_calloc(json_array_size(backends) + 1, sizeof *names);
	struct tk_config_host host = {.devices = found, .backends = names, .packages = packages};
	size_t i, count = 0;
	json_t *e;

	json_array_foreach (devices, i, e)
		if (tk_survey_is_available(e))
			found[count++] = (struct tk_config_host_device){
			        tk_record_text(e, "layer"), tk_record_text(e, "arch")};
	count = 0;
	json_array_foreach (backends, i, e)
		if (tk_survey_is_available(e))
			names[count++] = tk_record_text(e, "module");
	find_compilers(&host, root);
	tk_config_write_default_file(out, &host);
	free(found);
	free(names);
}

int tk_survey_apply_defaults(
        const struct tk_globals *g, struct tk_config **config, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	AUTO_PTR(tk_modules) modules = NULL;
	struct tk_config *found = NULL;

	if ((*config)->path)
		return TK_OK;
	TRY(tk_modules_load(g->program, &modules, err));
	write_config(g, modules, (*config)->root, NULL, &text);
	TRY(tk_config_load_text((*config)->root, "default configuration", tk_buf_cstr(&text),
	        text.len, &found, err));
	tk_config_free(*config);
	*config = found;
	return TK_OK;
}

static struct {
	bool force, print;
} opt;

static const struct tk_option options[] = {
        {TK_OPT_FLAG("force", 0, &opt.force, "Overwrite an existing file")},
        {TK_OPT_FLAG("print", 0, &opt.print, "Write to the standard output instead of a file")},
        {0},
};

/* The modules may be missing: then nothing is known of this machine. */
static void write_default(const struct tk_globals *g, const char *path, struct tk_buf *out)
{
	AUTO_TEXT root = strchr(path, '/') ? tk_path_join(path, "..") : tk_strdup(".");
	AUTO_PTR(tk_modules) modules = NULL;
	AUTO(tk_python_packages) python = {0};
	struct tk_error why = {0};

	if (tk_modules_load(g->program, &modules, &why)) {
		tk_log(TK_LOG_WARN, "init", NULL,
		        "%s: the file does not depend on the devices of this machine", why.message);
		tk_config_write_default_file(out, NULL);
		return;
	}
	tk_python_packages_find(&python);
	write_config(g, modules, root, python.list, out);
}

static int run_init(struct tk_globals *g, struct tk_error *err)
{
	const char *path = g->config_path ? g->config_path : "tracker.yml";
	AUTO(tk_buf) text = TK_BUF_INIT;

	write_default(g, path, &text);
	if (opt.print) {
		fputs(tk_buf_cstr(&text), stdout);
		return TK_OK;
	}
	if (!opt.force && tk_file_exists(path))
		return tk_fail(err, TK_EUSAGE,
		        "%s already exists; --force overwrites it, --print shows what would be "
		        "written",
		        path);
	TRY(tk_file_write(path, tk_buf_cstr(&text), text.len, err));
	if (!g->quiet)
		printf("%s: written; docs/reference/configuration.md explains every key\n", path);
	return TK_OK;
}

const struct tk_command tk_command_init = {.name = "init",
        .summary = "write a commented tracker.yml",
        .usage = {.options = options,
                .surplus = "--config=FILE names the file",
                .help = "Write a commented tracker.yml (or the file of --config) with every "
                        "default, for the devices, libraries and modules of this machine.\v"
                        "Without a configuration the tracker works with the same text.\n\n"
                        "Examples:\n"
                        "  tracker init\n"
                        "  tracker init --print | less"},
        .run = run_init};
