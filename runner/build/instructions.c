/* How often GPU kernels have the instructions that explain their speed, counted in what nvdisasm
 * prints. All kernels of a processor go into one file: starting nvdisasm takes longer than most
 * kernels. It gets the machine code alone, not the file around it, so kernels of a newer compiler
 * than nvdisasm can be read. */
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/sandbox.h"
#include "build/build_internal.h"
#include "build/device_code.h"
#include "build/elf.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "nvdisasm"
#define CODE_MAX ((size_t)16 << 20) /* of a backend; kernels beyond it are not counted */
#define OBJECT_MAX ((size_t)256 << 20)
#define OUTPUT_MAX ((size_t)1 << 30)
#define MEMORY_MAX ((uint64_t)4 << 30)
#define DEADLINE_S 120

/* In the order in which they are listed: spills, matrix units, asynchronous copies, memory,
 * synchronisation, arithmetic. */
static const char *const counted[] = {"LDL", "STL", "HGMMA", "QGMMA", "IGMMA", "UTCHMMA", "UTCQMMA",
        "UTCIMMA", "HMMA", "QMMA", "OMMA", "IMMA", "DMMA", "UTMALDG", "UTMASTG", "UBLKCP", "LDGSTS",
        "LDG", "STG", "LDS", "STS", "LDSM", "STSM", "ATOM", "RED", "BAR", "SYNCS", "SHFL", "MUFU",
        "FFMA", "HFMA2", "CALL"};
enum { COUNTED = sizeof(counted) / sizeof(*counted) };

struct part {
	struct tk_kernel_symbol *symbol;
	unsigned arch;
	size_t at, size; /* in the code of all parts */
	size_t start;    /* in the file for nvdisasm */
	unsigned total, count[COUNTED];
};

struct counter {
	struct tk_artifact_backend *backend;
	struct tk_buf code;
	struct part *parts; /* as many as the backend has symbols */
	size_t part_count;
};

/* ---- machine code ---- */

static void add_kernel(struct counter *c, const struct tk_device_kernel *k)
{
	char hash[TK_HASH_HEX_SIZE];
	tk_hash_bytes((const char *)k->code, k->size, hash);
	for (size_t i = 0; i < c->backend->kernel_count; i++) {
		struct tk_kernel_symbol *s = &c->backend->kernels[i];
		unsigned arch;
		size_t known = 0;
		if (strcmp(s->code_hash, hash) || sscanf(s->name, "sm_%u", &arch) != 1)
			continue;
		while (known < c->part_count && c->parts[known].symbol != s)
			known++;
		if (known < c->part_count || k->size > CODE_MAX - c->code.len)
			continue;
		c->parts[c->part_count++] = (struct part){
		        .symbol = s, .arch = arch, .at = c->code.len, .size = k->size};
		tk_buf_add(&c->code, k->code, k->size);
	}
}

static void add_code(struct counter *c, struct tk_device_code *code)
{
	for (size_t i = 0; i < code->kernel_count; i++)
		add_kernel(c, &code->kernels[i]);
	tk_device_code_free(code);
}

static int read_object(struct counter *c, struct tk_error *err)
{
	struct tk_device_code code;
	struct tk_elf e;
	int status = tk_elf_open(c->backend->path, &e, err);
	for (size_t i = 0; !status && i < e.section_count; i++) {
		const struct tk_elf_section *s = &e.sections[i];
		if (s->kind != TK_ELF_DEVICE_CODE)
			continue;
		status = tk_device_code_read(s->name, s->data, s->size, &code, err);
		if (!status)
			add_code(c, &code);
	}
	tk_elf_close(&e);
	return status;
}

/* The processor of a code object is in the names of its kernels' symbols. */
static int read_package(struct counter *c, struct tk_error *err)
{
	char **names = NULL;
	size_t count = 0;
	int status = tk_dir_list(c->backend->path, &names, &count, err);
	for (size_t i = 0; !status && i < count; i++) {
		struct tk_buf bytes = TK_BUF_INIT;
		struct tk_device_code code;
		char *path = tk_path_join(c->backend->path, names[i]);
		status = tk_file_read(path, OBJECT_MAX, &bytes, err);
		if (!status && bytes.len)
			status = tk_device_code_read_object(
			        "sm_", (unsigned char *)bytes.data, bytes.len, &code, err);
		if (!status && bytes.len)
			add_code(c, &code);
		tk_buf_free(&bytes);
		free(path);
	}
	tk_names_free(names, count);
	return status;
}

/* ---- what nvdisasm prints ---- */

static struct part *find_part(struct counter *c, unsigned arch, size_t offset)
{
	for (size_t i = 0; i < c->part_count; i++)
		if (c->parts[i].arch == arch && offset - c->parts[i].start < c->parts[i].size)
			return &c->parts[i];
	return NULL;
}

static bool is_named(const char *text, size_t length, const char *name)
{
	return strlen(name) == length && !memcmp(name, text, length);
}

/* Address between comment signs, perhaps a predicate, instruction: 0a40 @!P0 BAR.SYNC 0x0 ; */
static void count_line(struct counter *c, unsigned arch, const char *line)
{
	size_t length = 0;
	char *end;
	line += strspn(line, " \t");
	if (strncmp(line, "/*", 2))
		return;
	const size_t offset = strtoul(line + 2, &end, 16);
	struct part *p = strncmp(end, "*/", 2) ? NULL : find_part(c, arch, offset);
	if (!p)
		return;
	line = end + 2 + strspn(end + 2, " \t{");
	if (*line == '@') {
		line += strcspn(line, " \t;");
		line += strspn(line, " \t");
	}
	while (isalnum((unsigned char)line[length]))
		length++;
	p->total += length > 0 && !is_named(line, length, "NOP"); /* padding */
	for (size_t i = 0; i < COUNTED; i++)
		p->count[i] += is_named(line, length, counted[i]);
}

static void count_text(struct counter *c, unsigned arch, char *text)
{
	for (char *line, *rest = text; (line = strsep(&rest, "\n"));)
		count_line(c, arch, line);
}

/* The code of all parts for `arch`, one after the other. */
static int write_code(struct counter *c, unsigned arch, const char *path, struct tk_error *err)
{
	struct tk_buf file = TK_BUF_INIT;
	for (size_t i = 0; i < c->part_count; i++) {
		struct part *p = &c->parts[i];
		if (p->arch != arch)
			continue;
		p->start = file.len;
		tk_buf_add(&file, c->code.data + p->at, p->size);
	}
	int status = tk_buf_status(&file, err);
	if (!status)
		status = tk_file_write(path, file.data, file.len, err);
	tk_buf_free(&file);
	return status;
}

/* From Hopper on, the instructions of "sm_90a" include those of "sm_90". */
static int disassemble(struct counter *c, unsigned arch, const char *path, struct tk_error *err)
{
	char processor[24];
	snprintf(processor, sizeof(processor), "SM%u%s", arch, arch >= 90 ? "a" : "");
	const char *const argv[] = {PROGRAM, "-ndf", "-b", processor, path, NULL};
	const char *const readable[] = {path, NULL};
	const struct tk_sandbox_policy policy = {.readable = readable};
	struct tk_process_spec spec = {.argv = argv,
	        .capture_max = OUTPUT_MAX,
	        .deadline_s = DEADLINE_S,
	        .memory_limit_bytes = MEMORY_MAX};
	struct tk_process_result result = {0};
	int status = write_code(c, arch, path, err);
	if (!status) /* the code is the build's, which is not trusted */
		status = tk_sandbox_new(&policy, &spec.sandbox, err);
	if (!status)
		status = tk_process_run(&spec, &result, err);
	if (!status)
		status = tk_process_check(&spec, &result, err);
	if (!status && result.out.len)
		count_text(c, arch, result.out.data);
	tk_process_result_free(&result);
	tk_sandbox_free(spec.sandbox);
	return status;
}

/* ---- results ---- */

static void write_counts(const struct part *p)
{
	char *out = p->symbol->instructions;
	const size_t size = sizeof(p->symbol->instructions);
	if (!p->total)
		return;
	size_t n = (size_t)snprintf(out, size, "total=%u", p->total);
	for (size_t i = 0; i < COUNTED && n < size - 24; i++)
		if (p->count[i])
			n += (size_t)snprintf(out + n, size - n, " %s=%u", counted[i], p->count[i]);
}

/* One processor after the other. */
static int count_parts(struct counter *c, const char *path, struct tk_error *err)
{
	int status = TK_OK;
	for (size_t i = 0; !status && i < c->part_count; i++) {
		size_t first = 0;
		while (c->parts[first].arch != c->parts[i].arch)
			first++;
		if (first == i)
			status = disassemble(c, c->parts[i].arch, path, err);
	}
	for (size_t i = 0; !status && i < c->part_count; i++)
		write_counts(&c->parts[i]);
	return status;
}

static int count_backend(struct tk_artifact_backend *b, const char *path, struct tk_error *err)
{
	struct counter c = {.backend = b, .parts = tk_calloc(b->kernel_count, sizeof(*c.parts))};
	int status = tk_dir_exists(b->path) ? read_package(&c, err) : read_object(&c, err);
	if (!status)
		status = tk_buf_status(&c.code, err);
	if (!status)
		status = count_parts(&c, path, err);
	tk_buf_free(&c.code);
	free(c.parts);
	return status;
}

static bool has_nvidia_kernels(const struct tk_artifact_backend *b)
{
	for (size_t i = 0; i < b->kernel_count; i++)
		if (!strncmp(b->kernels[i].name, "sm_", 3))
			return true;
	return false;
}

int tk_artifact_count_instructions(struct tk_artifact *a, const char *tmp, struct tk_error *err)
{
	char *program = NULL, *path = NULL;
	int status = TK_OK;
	if (!tk_process_find_program(PROGRAM, &program))
		return TK_OK;
	free(program);
	path = tk_path_join(tmp, "instructions.bin");
	for (size_t i = 0; !status && i < a->backend_count; i++)
		if (has_nvidia_kernels(&a->backends[i]))
			status = count_backend(&a->backends[i], path, err);
	free(path);
	return status;
}
