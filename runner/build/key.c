/* The key of an artifact: a hash of everything that decides its content. */
#include "base/process.h"
#include "base/sandbox.h"
#include "build/build_internal.h"
#include "upstream/repo.h"
#include <ctype.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_MAX 65536

/* ---- lists beside `build`: one name per line, # starts a comment ---- */

/* The next name of a list, without blanks around it; NULL: the end. */
static char *next_name(char **rest)
{
	for (char *line; (line = strsep(rest, "\n"));) {
		line[strcspn(line, "#")] = '\0';
		line += strspn(line, " \t");
		for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]); n--)
			line[n - 1] = '\0';
		if (*line)
			return line;
	}
	return NULL;
}

/* The files below kernels_dir that the adapter compiles. */
static int add_inputs(
        struct tk_hash *h, const char *adapter_dir, const char *kernels_dir, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	AUTO_TEXT list = tk_path_join(adapter_dir, "inputs");
	if (!tk_file_exists(list))
		return TK_OK;
	TRY(tk_file_read(list, LIST_MAX, &text, err));
	char *rest = text.data;
	for (char *name; (name = next_name(&rest));) {
		AUTO_TEXT path = tk_path_join(kernels_dir, name);
		if (name[0] == '/' || strstr(name, ".."))
			return tk_fail(err, TK_ECONFIG,
			        "%s: \"%.80s\" is not a path below the tracker's kernels", list,
			        name);
		tk_hash_add_str(h, name);
		if (tk_hash_add_file(h, path, err))
			return tk_error_add_context(err, "%s", list);
	}
	return TK_OK;
}

/* ---- toolchain ---- */

/* $CC and $CXX replace cc and c++. */
static const char *find_program(const char *tool)
{
	const char *program = !strcmp(tool, "cc")    ? getenv("CC")
	                      : !strcmp(tool, "c++") ? getenv("CXX")
	                                             : NULL;
	return tk_text_or(program, tool);
}

/* The last word of the line that looks like a version: "12.2.0" of "cc (Debian 12.2.0-14) 12.2.0",
 * "13.0.88" of "release 13.0, V13.0.88", "6.1.40091" of "HIP version: 6.1.40091-a8dbc0c19". */
static void parse_version(const char *line, char *out, size_t size)
{
	const char *best = "";
	size_t best_len = 0;
	for (const char *p = line; *p;) {
		p += strspn(p, " (,");
		const size_t v = p[0] == 'V' && isdigit((unsigned char)p[1]);
		const size_t len = strcspn(p, " (),") - v, digits = strspn(p += v, "0123456789.");
		if ((digits == len || p[digits] == '-') && memchr(p, '.', digits) &&
		        isdigit((unsigned char)*p)) {
			best = p;
			best_len = digits;
		}
		p += len;
		p += strspn(p, ")");
	}
	snprintf(out, size, "%.*s", (int)best_len, best);
}

static const char *find_family(const char *tool, const char *line)
{
	if (strcmp(tool, "cc") && strcmp(tool, "c++"))
		return tool;
	return strstr(line, "clang") ? "clang"
	       : strstr(line, "Free Software") || strstr(line, "cc") || strstr(line, "GCC") ? "gcc"
	                                                                                    : tool;
}

/* Compilers with options ("ccache gcc-13") are split at spaces. */
static int read_version(const char *program, struct tk_buf *out, struct tk_error *err)
{
	char copy[512];
	const char *argv[16];
	size_t n = 0;
	snprintf(copy, sizeof(copy), "%s", program);
	char *rest = copy;
	for (char *word; n < 14 && (word = strsep(&rest, " "));) {
		if (*word)
			argv[n++] = word;
	}
	argv[n++] = "--version";
	argv[n] = NULL;
	const struct tk_process_spec spec = {.argv = argv, .deadline_s = 30};
	AUTO(tk_process_result) result = {0};
	TRY(tk_process_run(&spec, &result, err));
	TRY(tk_process_check(&spec, &result, err));
	tk_buf_add_str(out, tk_buf_cstr(&result.out));
	return TK_OK;
}

/* Adds a version to the hash, and to the text of all tools. "?nvcc": an optional program. */
static int add_tool(struct tk_hash *h, struct tk_buf *text, const char *tool, struct tk_error *err)
{
	const bool optional = tool[0] == '?';
	tool += optional;
	AUTO(tk_buf) answer = TK_BUF_INIT;
	char line[512], version[64] = "";
	const char *program = find_program(tool);
	if (tool[0] == '-' ||
	        tool[strspn(tool,
	                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-")])
		return tk_fail(err, TK_ECONFIG, "\"%.80s\" is not a program's name", tool);
	const int status = read_version(program, &answer, err);
	if (status == TK_ENOTFOUND && optional) {
		*err = (struct tk_error){0};
		return TK_OK;
	}
	if (status == TK_ENOTFOUND)
		return tk_fail(
		        err, TK_ENOTFOUND, "the program %s is needed and not installed", program);
	TRY(status);
	/* nvcc has it in a later line */
	char family[64] = "";
	for (const char *p = tk_buf_cstr(&answer); *p && (!*family || !*version);) {
		const size_t len = strcspn(p, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)len, p);
		parse_version(line, version, sizeof(version));
		if (!*family)
			snprintf(family, sizeof(family), "%s", find_family(tool, line));
		p += len + (p[len] == '\n');
	}
	tk_hash_add_str(h, tool);
	tk_hash_add_str(h, tk_buf_cstr(&answer));
	tk_buf_add_printf(text, "%s%s%s%s", text->len ? ", " : "", *family ? family : tool,
	        *version ? " " : "", version);
	return TK_OK;
}

static int add_toolchain(
        struct tk_hash *h, const char *adapter_dir, char **text, struct tk_error *err)
{
	AUTO(tk_buf) tools = TK_BUF_INIT, names = TK_BUF_INIT;
	AUTO_TEXT list = tk_path_join(adapter_dir, "tools");
	const bool is_listed = tk_file_exists(list);
	if (is_listed)
		TRY(tk_file_read(list, LIST_MAX, &names, err));
	else
		tk_buf_add_str(&names, "cc\ncmake");
	char *rest = names.data;
	for (char *name; (name = next_name(&rest));) {
		const int status = add_tool(h, &tools, name, err);
		if (status)
			return is_listed ? tk_error_add_context(err, "%s", list) : status;
	}
	*text = tk_strdup(tools.len ? tools.data : "none");
	return TK_OK;
}

/* ---- "native": the processor and the GPUs of this machine ---- */

static int line_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Of each file the line that begins with `field`, sorted: the order of slots does not matter. */
static int add_cards(
        struct tk_hash *h, const char *pattern, const char *field, struct tk_error *err)
{
	glob_t files = {0};
	const int found = glob(pattern, 0, NULL, &files);
	char **lines = tk_calloc(files.gl_pathc, sizeof(*lines));
	size_t n = 0;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		AUTO_TEXT line = NULL;
		size_t size = 0;
		FILE *f = fopen(files.gl_pathv[i], "re");
		while (f && getline(&line, &size, f) > 0)
			if (!strncmp(line, field, strlen(field))) {
				lines[n++] = tk_strdup(line);
				break;
			}
		if (f)
			fclose(f);
	}
	tk_sort(lines, n, sizeof(*lines), line_order);
	tk_hash_add_i64(h, (int64_t)n);
	for (size_t i = 0; i < n; i++)
		tk_hash_add_str(h, lines[i]);
	tk_names_free(lines, n);
	globfree(&files);
	return found && found != GLOB_NOMATCH ? tk_fail(err, TK_EIO, "cannot look at %s", pattern)
	                                      : TK_OK;
}

static int add_native(struct tk_hash *h, struct tk_error *err)
{
	static const char *const fields[] = {
	        "model name", "flags", "CPU part", "CPU implementer", "Features", "isa"};
	AUTO_TEXT line = NULL;
	size_t size = 0;
	FILE *f = fopen("/proc/cpuinfo", "re");
	while (f && getline(&line, &size, f) > 1) /* the first processor ends with an empty line */
		for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
			if (!strncmp(line, fields[i], strlen(fields[i])))
				tk_hash_add_str(h, line);
	if (f)
		fclose(f);
	tk_hash_add_i64(h, access("/dev/nvidiactl", F_OK) == 0);
	tk_hash_add_i64(h, access("/dev/kfd", F_OK) == 0);
	TRY(add_cards(h, "/proc/driver/nvidia/gpus/*/information", "Model:", err));
	return add_cards(
	        h, "/sys/class/kfd/kfd/topology/nodes/*/properties", "gfx_target_version", err);
}

/* ---- the key ---- */

void tk_build_key_free(struct tk_build_key *key)
{
	free(key->toolchain);
}

static int add_all(struct tk_hash *h, const struct tk_build_spec *spec, const char *kernels_dir,
        char **toolchain, struct tk_error *err)
{
	const char *arch = spec->arch ? spec->arch : "native";
	AUTO_TEXT abi = tk_path_join(kernels_dir, "abi/tracker_abi.h");
	tk_hash_add_str(
	        h, spec->repo->name); /* the manifest has it: a build belongs to one upstream */
	char *const *submodules = spec->repo->submodules;
	tk_hash_add_i64(h, submodules && *submodules);
	for (; submodules && *submodules; submodules++)
		if (strcmp(*submodules, "yes") != 0) /* keys stay as they were */
			tk_hash_add_str(h, *submodules);
	tk_hash_add_str(h, spec->flags ? spec->flags : "");
	tk_hash_add_str(h, arch);
	/* Variables that the builds get may decide what is built: which compiler, which of its
	 * options. */
	for (char *const *name = spec->env; name && *name; name++) {
		const char *value = getenv(*name);
		tk_hash_add_str(h, *name);
		tk_hash_add_str(h, value ? value : "");
	}
	if (spec->instances) /* keys stay as they were */
		tk_hash_add_i64(h, spec->instances);
	if (spec->repo->kind == TK_REPO_PACKAGE)
		tk_hash_add_str(h, tk_repo_package_name(spec->repo));
	if (spec->problems) /* keys of other adapters stay as they are */
		tk_hash_add_str(h, "problems");
	for (const char *const *p = spec->problems; p && *p; p++)
		tk_hash_add_str(h, *p);
	if (!strcmp(arch, "native"))
		TRY(add_native(h, err));
	TRY(tk_hash_add_tree(h, spec->adapter_dir, err));
	TRY(tk_hash_add_file(h, abi, err));
	TRY(add_inputs(h, spec->adapter_dir, kernels_dir, err));
	return add_toolchain(h, spec->adapter_dir, toolchain, err);
}

/* What is not part of a good build's key, and may decide whether a build succeeds. Folders have the
 * time of the last installation. */
static void hash_environment(const struct tk_build_spec *spec, char hex[TK_HASH_HEX_SIZE])
{
	static const char *const folders[] = {"/usr/include", "/usr/local/include", "/usr/lib",
	        "/usr/lib64", "/usr/local/lib", "/usr/local", "/opt", "/var/lib/dpkg/status",
	        "/var/lib/rpm", "/lib/apk/db/installed"};
	static const char *const variables[] = {
	        "PATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "CPATH"};
	struct tk_hash *h = tk_hash_new();
	struct stat st;
	tk_hash_add_str(h, tk_sandbox_method_name(tk_sandbox_method()));
	tk_hash_add_i64(h, spec->network);
	tk_hash_add_i64(h, (int64_t)spec->deadline_s);
	tk_hash_add_i64(h, (int64_t)spec->memory_limit_bytes);
	tk_hash_add_i64(h, (int64_t)spec->disk_limit_bytes);
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		tk_hash_add_i64(h, stat(folders[i], &st) ? 0 : st.st_mtim.tv_sec);
	AUTO_TEXT path = tk_strdup(getenv("PATH") ? getenv("PATH") : "");
	for (char *folder, *rest = path; (folder = strsep(&rest, ":"));)
		tk_hash_add_i64(h, stat(folder, &st) ? 0 : st.st_mtim.tv_sec);
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		tk_hash_add_str(h, getenv(variables[i]) ? getenv(variables[i]) : "");
	tk_hash_finish(h, hex);
}

int tk_build_key_compute(const struct tk_build_spec *spec, const char *kernels_dir,
        struct tk_build_key *out, struct tk_error *err)
{
	struct tk_hash *recipe = tk_hash_new(), *all = tk_hash_new();
	const int status = add_all(recipe, spec, kernels_dir, &out->toolchain, err);
	tk_hash_finish(recipe, out->recipe);
	tk_hash_add_str(all, "tracker artifact 2");
	tk_hash_add_str(all, out->recipe);
	tk_hash_add_str(all, spec->revision);
	tk_hash_finish(all, out->hex);
	hash_environment(spec, out->environment);
	return status;
}
