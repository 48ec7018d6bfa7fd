/* What is made from the table of keys: the commented tracker.yml that `tracker init` writes, with
 * the parts that depend on the machine, and docs/reference/configuration.md. */
#include <ctype.h>
#include <string.h>

#include "config/internal.h"

#define LINE_MAX_CHARS 100
#define COMMENT_COLUMN 30

/* `first` before the first line, `rest` before the others. */
static void add_wrapped(struct tk_buf *out, const char *first, const char *rest, const char *text)
{
	for (const char *prefix = first; *text; prefix = rest) {
		const size_t width = LINE_MAX_CHARS - strlen(prefix);
		size_t len = strlen(text);

		if (len > width)
			for (len = width; len > 1 && text[len] != ' ';)
				len--;
		tk_buf_add_printf(out, "%s%.*s\n", prefix, (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
}

/* ---- what is measured where nobody has written a tracker.yml --------------------------------- */

/* Libraries: one upstream each, whose revision is the version that the library reports. */
static const struct library {
	const char *backend, *reason;
} libraries[] = {
        {"openblas", "the installed OpenBLAS; its revision is its version"},
        {"blis", "the installed BLIS; its revision is its version"},
        {"mkl", "the installed oneMKL; its revision is its version"},
        {"cublas", "NVIDIA's BLAS, which chooses the kernel itself"},
        {"cublaslt", "NVIDIA's matrix products of every type, first choice of its ranking"},
        {"cudnn", "NVIDIA's attention, forward and backward"},
        {"rocblas", "AMD's BLAS, which chooses the kernel itself"},
        {"hipblaslt", "AMD's matrix products of every type, first choice of its ranking"},
        {"cublas_native", "attention without a fused kernel, by cuBLAS: what fusing gains"},
        {"rocblas_native", "attention without a fused kernel, by rocBLAS: what fusing gains"},
};

/* The tracker's own kernels. */
static const struct own {
	const char *backend, *kind;
	const char *arch; /* NULL: any */
	const char *reason;
} own_kernels[] = {
        {"cpu", "cpu", NULL, "GEMM, attention and sparse attention on the processor"},
        {"gemm_naive_cuda", "cuda", NULL, "GEMM, step 1: one thread an element"},
        {"gemm_shared_cuda", "cuda", NULL, "GEMM, step 2: tiles in shared memory"},
        {"gemm_register_cuda", "cuda", NULL, "GEMM, step 3: tiles in registers"},
        {"gemm_pipelined_cuda", "cuda", NULL, "GEMM, step 4: copies while it multiplies"},
        {"gemm_matrix_cuda", "cuda", NULL, "GEMM, step 5: matrix units"},
        {"flash_cuda", "cuda", NULL, "attention on any NVIDIA GPU"},
        {"nsa_cuda", "cuda", NULL, "sparse attention on any NVIDIA GPU"},
        {"hopper_gemm", "cuda", "sm_90", "GEMM by Hopper's instructions"},
        {"hopper_flash", "cuda", "sm_90", "attention by Hopper's instructions"},
        {"hopper_nsa", "cuda", "sm_90", "sparse attention by Hopper's instructions"},
        {"gemm_naive_hip", "hip", NULL, "GEMM, step 1: one thread an element"},
        {"gemm_shared_hip", "hip", NULL, "GEMM, step 2: tiles in shared memory"},
        {"gemm_register_hip", "hip", NULL, "GEMM, step 3: tiles in registers"},
        {"gemm_pipelined_hip", "hip", NULL, "GEMM, step 4: copies while it multiplies"},
        {"gemm_matrix_hip", "hip", NULL, "GEMM, step 5: matrix units"},
        {"flash_hip", "hip", NULL, "attention on AMD GPUs"},
        {"nsa_hip", "hip", NULL, "sparse attention on AMD GPUs"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What a machine is assumed to have that nobody has looked at. */
static const char *const assumed_backends[] = {"openblas", NULL};
static const struct tk_config_host_device assumed_devices[] = {{"cpu", ""}, {NULL, NULL}};
static const struct tk_config_host assumed = {
        .devices = assumed_devices, .backends = assumed_backends, .builds_own = {.cpu = true}};

static bool has_backend(const struct tk_config_host *host, const char *name)
{
	for (const char *const *b = host->backends; *b; b++)
		if (strcmp(*b, name) == 0)
			return true;
	return false;
}

static bool has_device(const struct tk_config_host *host, const char *kind, const char *arch)
{
	for (const struct tk_config_host_device *d = host->devices; d->kind; d++)
		if (strcmp(d->kind, kind) == 0 &&
		        (!arch || strncmp(d->arch, arch, strlen(arch)) == 0))
			return true;
	return false;
}

static bool is_built_from_source(const struct tk_config_host *host, const char *kind)
{
	switch (tk_device_kind_from_name(kind)) {
	case TK_DEVICE_CPU:
		return host->builds_own.cpu;
	case TK_DEVICE_CUDA:
		return host->builds_own.cuda;
	default:
		return host->builds_own.hip;
	}
}

/* "[smoke]", "[cpu:smoke, cuda:first-gpu]" */
static void add_suites(struct tk_buf *out, const struct tk_config_host *host)
{
	static const struct {
		const char *kind, *suite;
	} suites[] = {{"cpu", "smoke"}, {"cuda", "first-gpu"}, {"hip", "first-gpu"}};
	const char *separator = "[";

	if (!has_device(host, "cuda", NULL) && !has_device(host, "hip", NULL)) {
		tk_buf_add_str(out, "[smoke]");
		return;
	}
	for (size_t i = 0; i < COUNT(suites); i++)
		if (has_device(host, suites[i].kind, NULL)) {
			tk_buf_add_printf(
			        out, "%s%s:%s", separator, suites[i].kind, suites[i].suite);
			separator = ", ";
		}
	tk_buf_add_str(out, "]");
}

static void add_self(struct tk_buf *out, const struct tk_config_host *host)
{
	bool any = false;

	for (size_t i = 0; i < COUNT(own_kernels); i++) {
		const struct own *o = &own_kernels[i];

		if (!has_device(host, o->kind, o->arch) || !is_built_from_source(host, o->kind))
			continue;
		if (!any)
			tk_buf_add_str(out, "  # The tracker's own kernels, at HEAD of the "
			                    "repository around it\n"
			                    "  - name: self\n"
			                    "    kind: self\n"
			                    "    adapter: self\n"
			                    "    backends:\n");
		tk_buf_add_printf(out, "      - %-20s # %s\n", o->backend, o->reason);
		any = true;
	}
}

static void add_system(struct tk_buf *out, const char *backend, const char *reason)
{
	tk_buf_add_printf(out, "  # %c%s\n  - name: %s\n    kind: system\n    adapter: %s\n",
	        *reason >= 'a' && *reason <= 'z' ? *reason - 'a' + 'A' : *reason, reason + 1,
	        backend, backend);
	tk_buf_add_printf(out, "    backends: [%s]\n", backend);
}

void tk_config_write_default_upstreams(struct tk_buf *out, const struct tk_config_host *host)
{
	const size_t before = out->len;

	host = host ? host : &assumed;
	add_self(out, host);
	for (size_t i = 0; i < COUNT(libraries); i++)
		if (has_backend(host, libraries[i].backend))
			add_system(out, libraries[i].backend, libraries[i].reason);
	for (size_t i = 0; i < COUNT(own_kernels); i++) {
		const struct own *o = &own_kernels[i];
		char reason[160];

		if (!has_device(host, o->kind, o->arch) || is_built_from_source(host, o->kind) ||
		        !has_backend(host, o->backend))
			continue;
		snprintf(reason, sizeof reason, "own kernels as built: %s", o->reason);
		add_system(out, o->backend, reason);
	}
	if (out->len == before) /* an empty list would be refused */
		tk_buf_add_str(out, "  # No other backend can be measured here\n"
		                    "  - name: builtin\n    kind: builtin\n");
}

/* ---- the file of `tracker init` -------------------------------------------------------------- */

/* "# Text" from the column `indent`, wrapped. */
static void add_comment(struct tk_buf *out, int indent, const char *text)
{
	AUTO_TEXT prefix = tk_sprintf("%*s# ", indent, "");
	AUTO_TEXT sentence = tk_strdup(text);

	*sentence = (char)toupper((unsigned char)*text);
	add_wrapped(out, prefix, prefix, sentence);
}

/* The line of a key: its default, or its example commented out. */
static void add_line(struct tk_buf *out, int indent, const struct tk_config_key *key,
        const char *value, bool list)
{
	char line[256];
	int used = snprintf(line, sizeof line, "%*s%s%s: %s%s%s", indent, "",
	        key->fallback ? "" : "# ", key->name, list ? "[" : "", value, list ? "]" : "");
	int column = used < COMMENT_COLUMN ? COMMENT_COLUMN : used + 2;

	if (indent && column + 2 + strlen(key->summary) <= LINE_MAX_CHARS) {
		tk_buf_add_printf(out, "%-*s# %s\n", column, line, key->summary);
		return;
	}
	add_comment(out, indent, key->summary);
	tk_buf_add_printf(out, "%s\n", line);
}

static void add_default(struct tk_buf *out, int indent, const struct tk_config_key *key,
        const struct tk_config_host *host)
{
	const char *value = key->fallback ? key->fallback : key->example;
	AUTO(tk_buf) suites = TK_BUF_INIT;

	if (!indent && strcmp(key->name, "suites") == 0) {
		add_suites(&suites, host);
		add_line(out, indent, key, tk_buf_cstr(&suites), false);
	} else {
		add_line(out, indent, key, value, tk_config_is_list(key));
	}
}

static void add_keys(
        struct tk_buf *out, const struct tk_config_section *s, const struct tk_config_host *host)
{
	for (const struct tk_config_key *key = s->keys; key->name; key++) {
		if (!*s->name)
			tk_buf_add_str(out, "\n");
		if (key->fallback || key->example)
			add_default(out, *s->name ? 2 : 0, key, host);
	}
}

/* The lines of an example that begin with "  ", commented out. */
static void add_commented_items(struct tk_buf *out, const char *example)
{
	for (const char *end; *example; example = end) {
		end = strchr(example, '\n') + 1;
		if (strncmp(example, "  # ", 4) == 0)
			tk_buf_add_printf(out, "%.*s", (int)(end - example), example);
		else if (strncmp(example, "  ", 2) == 0)
			tk_buf_add_printf(out, "  # %.*s", (int)(end - example - 2), example + 2);
	}
}

/* Commented out: a night would download their newest release. */
static void add_packages(struct tk_buf *out, const struct tk_config_host_package *p)
{
	if (p && p->name)
		tk_buf_add_str(out,
		        "  # Python packages that are installed here; a night downloads "
		        "their newest release:\n");
	for (; p && p->name; p++) {
		tk_buf_add_printf(out, "  # - name: %-20s # %s is here\n  #   kind: package\n",
		        p->name, p->version);
		if (strcmp(p->name, p->package) != 0)
			tk_buf_add_printf(out, "  #   package: %s\n", p->package);
	}
}

static void add_upstreams(
        struct tk_buf *out, const struct tk_config_section *s, const struct tk_config_host *host)
{
	tk_config_write_default_upstreams(out, host);
	add_packages(out, host->packages);
	tk_buf_add_str(out, "  # More examples:\n");
	add_commented_items(out, s->example);
}

void tk_config_write_default_file(struct tk_buf *out, const struct tk_config_host *host)
{
	host = host ? host : &assumed;
	tk_buf_add_str(out, "# tracker.yml: what is measured on this machine, how, and what "
	                    "happens with the results.\n"
	                    "# Every key is described in docs/reference/configuration.md. A key "
	                    "that is left out has the\n"
	                    "# value that is shown here. Durations: 500ms 30s 15m 2h 7d; sizes: "
	                    "512MiB 4GiB; percentages:\n"
	                    "# 2% or 0.02.\n");
	for (const struct tk_config_section *s = tk_config_sections; s->name; s++) {
		if (*s->name) {
			tk_buf_add_str(out, "\n");
			add_comment(out, 0, s->summary);
			tk_buf_add_printf(out, "%s:\n", s->name);
		}
		if (tk_config_is_list_section(s))
			add_upstreams(out, s, host);
		else
			add_keys(out, s, host);
	}
}

/* ---- the reference --------------------------------------------------------------------------- */

static const char about[] =
        "`tracker` reads `tracker.yml` in the folder it works in (`-C DIR` changes the folder, "
        "`--config=FILE` the file). Without a file it uses the defaults below. `tracker init` "
        "writes them as a commented file; `tracker init --print` shows them.";

static const char *const rules[] = {
        "A key that is left out or has no value has its default. A list replaces the default list "
        "as a whole.",
        "An unknown key is an error. Every error is `file:line:column: what is wrong; what was "
        "expected`, with exit code 2: `tracker.yml:2:3: unknown key \"nigth\" in budgets; did you "
        "mean \"night\"?`",
        "A duration is written `200ns` `50us` `1.5ms` `30s` `15m` `2h` `7d` `2w`; a number without "
        "a unit is in seconds. A time (below a minute) needs its unit.",
        "A size is written `512MiB` `4GiB` `100GB`; a number without a unit is in bytes.",
        "A percentage is written `2%`, or as the fraction `0.02`. A number of 1 or more needs the "
        "`%`.",
        "Paths are relative to the file's folder; `~/` is the home folder.",
        "YAML aliases (`*name`) are not accepted.",
        "Options of the command line use the same units.",
        NULL,
};

static void add_reference_default(struct tk_buf *out, const struct tk_config_key *key)
{
	bool list = tk_config_is_list(key);

	if (key->fallback_note)
		tk_buf_add_str(out, key->fallback_note);
	else
		tk_buf_add_printf(out, "`%s%s%s`", list ? "[" : "", key->fallback, list ? "]" : "");
}

/* "| `budgets.night` | duration, 1s to 7d | `4h` | Wall time ... |" */
static void add_row(
        struct tk_buf *out, const struct tk_config_section *s, const struct tk_config_key *key)
{
	char type[TK_CONFIG_TYPE_SIZE];

	tk_buf_add_printf(out, "| `%s%s%s` | %s | ", s->name, *s->name ? "." : "", key->name,
	        tk_config_describe_type(key, type));
	add_reference_default(out, key);
	tk_buf_add_printf(out, " | %c%s%s%s |\n", toupper((unsigned char)key->summary[0]),
	        key->summary + 1, key->details ? ". " : "", key->details ? key->details : "");
}

static void add_section(struct tk_buf *out, const struct tk_config_section *s)
{
	if (s->title)
		tk_buf_add_printf(out, "\n## %s\n", s->title);
	if (s->summary)
		tk_buf_add_printf(out, "\n`%s`: %s.\n", s->name, s->summary);
	tk_buf_add_str(out, "\n| key | type | default | meaning |\n| --- | --- | --- | --- |\n");
	for (const struct tk_config_key *key = s->keys; key->name; key++)
		add_row(out, s, key);
	if (s->note)
		tk_buf_add_printf(out, "\n%s\n", s->note);
	if (s->example)
		tk_buf_add_printf(out, "\n```yaml\n%s```\n", s->example);
}

void tk_config_write_reference(struct tk_buf *out)
{
	tk_buf_add_str(out,
	        "# Configuration: tracker.yml\n\n"
	        "<!-- Made by `tracker manual configuration` from runner/config/keys.c; "
	        "do not edit. -->\n\n");
	add_wrapped(out, "", "", about);
	tk_buf_add_str(out, "\n");
	for (const char *const *rule = rules; *rule; rule++)
		add_wrapped(out, "- ", "  ", *rule);
	for (const struct tk_config_section *s = tk_config_sections; s->name; s++)
		add_section(out, s);
}
