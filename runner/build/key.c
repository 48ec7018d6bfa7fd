/* The key of an artifact: a hash of everything that decides its content. */
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/try.h"
#include "build/build_internal.h"
#include "upstream/repo.h"
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_MAX 65536

/* ---- lists beside `build`: one name per line, # starts a comment ---- */

/* Calls use(name) for every line of <dir>/<file>; *there is set to whether the file exists. */
static int each_line(const char *dir, const char *file, bool *there,
        int (*use)(void *, const char *, struct tk_error *), void *arg, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	AUTO_TEXT path = tk_path_join(dir, file);
	int status = TK_OK;
	*there = tk_file_exists(path);
	if (*there)
		status = tk_file_read(path, LIST_MAX, &text, err);
	AUTO_TEXT copy = *there && !status ? tk_strdup(tk_buf_cstr(&text)) : NULL;
	char *rest = copy;
	for (char *line; !status && rest && (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "#")] = '\0';
		line += strspn(line, " \t");
		for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]); n--)
			line[n - 1] = '\0';
		if (*line && (status = use(arg, line, err)))
			tk_error_add_context(err, "%s", path);
	}
	return status;
}

struct inputs {
	const char *kernels_dir;
	struct tk_hash *hash;
};

static int add_input(void *arg, const char *name, struct tk_error *err)
{
	const struct inputs *in = arg;
	if (name[0] == '/' || strstr(name, ".."))
		return tk_fail(err, TK_ECONFIG,
		        "\"%.80s\" is not a path below the tracker's kernels", name);
	AUTO_TEXT path = tk_path_join(in->kernels_dir, name);
	tk_hash_add_str(in->hash, name);
	return tk_hash_add_file(in->hash, path, err);
}

/* ---- toolchain ---- */

struct tools {
	struct tk_hash *hash;
	struct tk_buf text;
};

/* $CC and $CXX replace cc and c++. */
static const char *find_program(const char *tool)
{
	const char *program = !strcmp(tool, "cc")    ? getenv("CC")
	                      : !strcmp(tool, "c++") ? getenv("CXX")
	                                             : NULL;
	return program && *program ? program : tool;
}

/* The first word of the line that looks like a version: "12.2.0" of "cc (Debian 12.2.0-14) 12.2.0".
 */
static void parse_version(const char *line, char *out, size_t size)
{
	const char *best = "";
	size_t best_len = 0;
	for (const char *p = line; *p;) {
		p += strspn(p, " (,");
		const size_t len = strcspn(p, " (),"), digits = strspn(p, "0123456789.");
		if (digits == len && memchr(p, '.', len) && isdigit((unsigned char)*p)) {
			best = p;
			best_len = len;
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

/* "?nvcc": an optional program. */
static int add_tool(void *arg, const char *tool, struct tk_error *err)
{
	struct tools *t = arg;
	const bool optional = tool[0] == '?';
	tool += optional;
	struct tk_buf answer = TK_BUF_INIT;
	char line[512], version[64];
	const char *program = find_program(tool);
	if (tool[0] == '-' ||
	        tool[strspn(tool,
	                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-")])
		return tk_fail(err, TK_ECONFIG, "\"%.80s\" is not a program's name", tool);
	int status = read_version(program, &answer, err);
	if (status == TK_ENOTFOUND && optional) {
		*err = (struct tk_error){0};
		tk_buf_free(&answer);
		return TK_OK;
	}
	if (status == TK_ENOTFOUND)
		status = tk_fail(
		        err, TK_ENOTFOUND, "the program %s is needed and not installed", program);
	if (!status) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(tk_buf_cstr(&answer), "\n"),
		        tk_buf_cstr(&answer));
		parse_version(line, version, sizeof(version));
		tk_hash_add_str(t->hash, tool);
		tk_hash_add_str(t->hash, tk_buf_cstr(&answer));
		tk_buf_add_printf(&t->text, "%s%s%s%s", t->text.len ? ", " : "",
		        find_family(tool, line), *version ? " " : "", version);
	}
	tk_buf_free(&answer);
	return status;
}

static int add_toolchain(
        struct tk_hash *h, const char *adapter_dir, char **text, struct tk_error *err)
{
	struct tools t = {.hash = h};
	bool there = false;
	int status = each_line(adapter_dir, "tools", &there, add_tool, &t, err);
	if (!status && !there)
		status = add_tool(&t, "cc", err);
	if (!status && !there)
		status = add_tool(&t, "cmake", err);
	if (!status && !t.text.len)
		tk_buf_add_str(&t.text, "none");
	if (!status)
		*text = tk_buf_detach(&t.text, err);
	tk_buf_free(&t.text);
	return status;
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
	if (found && found != GLOB_NOMATCH) {
		globfree(&files);
		return tk_fail(err, TK_EIO, "cannot look at %s", pattern);
	}
	char **lines = tk_calloc(files.gl_pathc + 1, sizeof(*lines));
	size_t n = 0, size = 0;
	char *line = NULL;
	for (size_t i = 0; lines && i < files.gl_pathc; i++) {
		FILE *f = fopen(files.gl_pathv[i], "re");
		while (f && getline(&line, &size, f) > 0) {
			if (strncmp(line, field, strlen(field)))
				continue;
			lines[n++] = line;
			line = NULL;
			size = 0;
			break;
		}
		if (f)
			fclose(f);
	}
	free(line);
	if (n)
		qsort(lines, n, sizeof(*lines), line_order);
	tk_hash_add_i64(h, (int64_t)n);
	for (size_t i = 0; i < n; i++) {
		tk_hash_add_str(h, lines[i]);
		free(lines[i]);
	}
	free(lines);
	globfree(&files);
	return TK_OK;
}

static int add_native(struct tk_hash *h, struct tk_error *err)
{
	static const char *const fields[] = {
	        "model name", "flags", "CPU part", "CPU implementer", "Features", "isa"};
	char *line = NULL;
	size_t size = 0;
	FILE *f = fopen("/proc/cpuinfo", "re");
	for (ssize_t n; f && (n = getline(&line, &size, f)) >
	                             1;) { /* the first processor ends with an empty line */
		for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
			if (!strncmp(line, fields[i], strlen(fields[i])))
				tk_hash_add_str(h, line);
		}
	}
	if (f)
		fclose(f);
	free(line);
	tk_hash_add_i64(h, access("/dev/nvidiactl", F_OK) == 0);
	tk_hash_add_i64(h, access("/dev/kfd", F_OK) == 0);
	const int status = add_cards(h, "/proc/driver/nvidia/gpus/*/information", "Model:", err);
	return status ? status
	              : add_cards(h, "/sys/class/kfd/kfd/topology/nodes/*/properties",
	                        "gfx_target_version", err);
}

/* ---- the key ---- */

static int add_trees(struct tk_hash *h, const struct tk_build_spec *spec, const char *kernels_dir,
        struct tk_error *err)
{
	struct inputs in = {kernels_dir, h};
	bool there;
	AUTO_TEXT abi = tk_path_join(kernels_dir, "abi/tracker_abi.h");
	TRY(tk_hash_add_tree(h, spec->adapter_dir, err));
	TRY(tk_hash_add_file(h, abi, err));
	return each_line(spec->adapter_dir, "inputs", &there, add_input, &in, err);
}

/* Variables that the builds get may decide what is built: which compiler, which of its options. */
static void add_env(struct tk_hash *h, char *const *names)
{
	for (; names && *names; names++) {
		const char *value = getenv(*names);
		tk_hash_add_str(h, *names);
		tk_hash_add_str(h, value ? value : "");
	}
}

int tk_build_key_compute(const struct tk_build_spec *spec, const char *kernels_dir,
        struct tk_build_key *out, struct tk_error *err)
{
	const char *arch = spec->arch ? spec->arch : "native";
	char *toolchain = NULL;
	struct tk_hash *h = tk_hash_new();
	tk_hash_add_str(h, "tracker artifact 1");
	tk_hash_add_str(
	        h, spec->repo->name); /* the manifest has it: a build belongs to one upstream */
	tk_hash_add_str(h, spec->revision);
	tk_hash_add_i64(h, spec->repo->submodules);
	tk_hash_add_str(h, spec->flags ? spec->flags : "");
	tk_hash_add_str(h, arch);
	add_env(h, spec->env);
	if (spec->repo->kind == TK_REPO_PACKAGE)
		tk_hash_add_str(h, tk_repo_package_name(spec->repo));
	tk_build_problems_hash(h, spec->problems);
	int status = strcmp(arch, "native") ? TK_OK : add_native(h, err);
	if (!status)
		status = add_trees(h, spec, kernels_dir, err);
	if (!status)
		status = add_toolchain(h, spec->adapter_dir, &toolchain, err);
	if (status) {
		tk_hash_free(h);
		free(toolchain);
		return status;
	}
	tk_hash_finish(h, out->hex);
	out->toolchain = toolchain;
	return TK_OK;
}
