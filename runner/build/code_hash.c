/* Hashes of machine code and its constants that do not depend on addresses: equal code has equal
 * hashes, whatever the commit. */
#include "base/base.h"
#include "build/build_internal.h"
#include <elf.h>
#include <fnmatch.h>

/* Adds the bytes of [address, address + size); a relocated place counts as its offset, type and
 * target. */
static void add_bytes(struct tk_hash *h, const struct tk_elf *e, const struct tk_elf_section *s,
        uint64_t address, uint64_t size)
{
	const uint64_t end = address + size;
	uint64_t at = address;
	for (size_t i = tk_elf_find_reloc(e, address);
	        i < e->reloc_count && e->relocs[i].address < end; i++) {
		const struct tk_elf_reloc *f = &e->relocs[i];
		if (f->address > at)
			tk_hash_add(h, s->data + (at - s->address), f->address - at);
		tk_hash_add_i64(h, (int64_t)(f->address - address));
		tk_hash_add_i64(h, f->type);
		tk_hash_add_str(h, f->target);
		if (f->address + f->width > at)
			at = f->address + f->width;
	}
	if (at < end)
		tk_hash_add(h, s->data + (at - s->address), end - at);
}

static int hash_order(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void hash_bytes(const struct tk_elf *e, const char *name, uint64_t address, uint64_t size,
        char hex[TK_HASH_HEX_SIZE])
{
	const struct tk_elf_section *s = tk_elf_find_section(e, address, size);
	struct tk_hash *h = tk_hash_new();
	if (name)
		tk_hash_add(h, name, tk_elf_stem_length(name));
	add_bytes(h, e, s, address, size);
	tk_hash_finish(h, hex);
}

/* Hashes that count whatever their order. */
struct hash_set {
	char (*list)[TK_HASH_HEX_SIZE];
	size_t count;
};

static char *add_hash(struct hash_set *s)
{
	s->list = tk_reallocarray(s->list, s->count + 1, sizeof *s->list);
	return s->list[s->count++];
}

static void finish_set(struct hash_set *s, struct tk_hash *h)
{
	tk_sort(s->list, s->count, sizeof *s->list, hash_order);
	for (size_t i = 0; i < s->count; i++)
		tk_hash_add_str(h, s->list[i]);
	free(s->list);
}

/* nvcc's own text of a file's path and hash. */
static bool is_module_id(const struct tk_elf_symbol *s)
{
	return strstr(s->name, "__module_id_str") != NULL;
}

/* Functions, or constant tables and initialised variables: the linker chooses their order. */
static void add_symbols(
        struct hash_set *set, const struct tk_elf *e, const struct tk_elf_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++) {
		const struct tk_elf_symbol *o = &symbols->list[i];
		if (!is_module_id(o))
			hash_bytes(e, o->name, o->address, o->size, add_hash(set));
	}
}

enum { ALIGNMENT_MAX = 64 }; /* bytes */

/* Bytes that the assembler or the linker puts between functions, from the start of [p, p + n). */
static size_t measure_padding(const struct tk_elf *e, const unsigned char *p, size_t n)
{
	static const unsigned char nop_aarch64[4] = {0x1f, 0x20, 0x03, 0xd5}, zero[4];
	/* of a long nop by the low bits of its ModRM: with a displacement of none, 1 or 4 bytes */
	static const size_t displacement[] = {0, 1, 4};
	size_t at = 0;
	while (e->machine != EM_X86_64 && at + 4 <= n &&
	        (!memcmp(p + at, nop_aarch64, 4) || !memcmp(p + at, zero, 4)))
		at += 4;
	while (e->machine == EM_X86_64 && at < n) {
		size_t i = at;
		while (i + 1 < n && (p[i] == 0x66 || p[i] == 0x2e))
			i++;
		if (p[i] == 0x90 || p[i] == 0xcc || p[i] == 0)
			i++;
		else if (i + 2 < n && p[i] == 0x0f && p[i + 1] == 0x1f && p[i + 2] >> 6 < 3)
			i += 3 + ((p[i + 2] & 7) == 4) + displacement[p[i + 2] >> 6];
		else
			break;
		if (i > n)
			break;
		at = i;
	}
	return at;
}

/* Without the padding around it. */
static void add_unsized(struct hash_set *set, const struct tk_elf *e,
        const struct tk_elf_section *s, uint64_t from, uint64_t to)
{
	const unsigned char *p = s->data + (from - s->address);
	const size_t n = to - from, start = measure_padding(e, p, n);
	size_t end = n - start > ALIGNMENT_MAX ? n - ALIGNMENT_MAX : start;
	while (end < n && measure_padding(e, p + end, n - end) < n - end)
		end++;
	if (end > start)
		hash_bytes(e, NULL, from + start, end - start, add_hash(set));
}

/* Code of no known function, such as assembly without sizes: a part from each label on. *label:
 * the first one that may be there, and then the first one after it. */
static void add_gap(struct hash_set *set, const struct tk_elf *e, const struct tk_elf_section *s,
        uint64_t from, uint64_t to, size_t *label)
{
	for (; *label < e->labels.count && e->labels.list[*label].address < to; ++*label) {
		const uint64_t at = e->labels.list[*label].address;
		if (at <= from)
			continue;
		add_unsized(set, e, s, from, at);
		from = at;
	}
	if (from < to)
		add_unsized(set, e, s, from, to);
}

static void add_gaps(struct hash_set *set, const struct tk_elf *e, const struct tk_elf_section *s)
{
	const uint64_t end = s->address + s->size;
	uint64_t at = s->address;
	size_t label = 0;
	for (size_t i = 0; i < e->functions.count; i++) {
		const struct tk_elf_symbol *f = &e->functions.list[i];
		if (f->address < s->address || f->address >= end)
			continue;
		add_gap(set, e, s, at, f->address, &label);
		if (f->address + f->size > at)
			at = f->address + f->size;
	}
	add_gap(set, e, s, at, end, &label);
}

/* The code of a GPU without the names and notes around it, which hold paths. Where an image cannot
 * be read, every byte counts. */
static void add_device_code(
        struct tk_hash *h, const struct tk_elf *e, const struct tk_elf_section *s)
{
	AUTO(tk_device_code) c;
	tk_device_code_read(s->name, s->data, s->size, &c);
	if (!c.kernel_count || c.unreadable_count)
		add_bytes(h, e, s, s->address, s->size);
	else
		tk_device_code_hash(&c, h);
}

/* Everything that affects what the object does. Without symbol names all code and data is hashed in
 * order, including texts: a different hash for the same code is better than the same hash for
 * different code. */
static void hash_object(const struct tk_elf *e, char hex[TK_HASH_HEX_SIZE])
{
	struct tk_hash *h = tk_hash_new();
	struct hash_set set = {.count = 0};
	for (size_t i = 0; i < e->section_count; i++) {
		const struct tk_elf_section *s = &e->sections[i];
		if (s->kind == TK_ELF_DEVICE_CODE)
			add_device_code(h, e, s);
		else if (e->stripped)
			add_bytes(h, e, s, s->address, s->size);
		else if (s->kind == TK_ELF_CODE)
			add_gaps(&set, e, s);
	}
	if (!e->stripped) {
		add_symbols(&set, e, &e->functions);
		add_symbols(&set, e, &e->objects);
	}
	finish_set(&set, h);
	tk_hash_finish(h, hex);
}

/* ---- functions ---- */

/* Exported ones first, then by size. */
static int larger_first(const void *a, const void *b)
{
	const struct tk_elf_symbol *const *x = a, *const *y = b;
	if ((*x)->exported != (*y)->exported)
		return (*x)->exported ? -1 : 1;
	if ((*x)->size != (*y)->size)
		return (*x)->size > (*y)->size ? -1 : 1;
	const int order = strcmp((*x)->name, (*y)->name);
	return order ? order : (*x)->address < (*y)->address ? -1 : 1;
}

void tk_kernel_symbol_set(
        struct tk_kernel_symbol *list, size_t index, const char *name, size_t size)
{
	struct tk_kernel_symbol *k = &list[index];
	char hex[TK_HASH_HEX_SIZE];
	const size_t len = strlen(name), room = sizeof(k->name) - 16;
	if (len < room) {
		snprintf(k->name, sizeof(k->name), "%s", name);
	} else {
		tk_hash_bytes(name, len, hex);
		snprintf(k->name, sizeof(k->name), "%.*s~%.8s", (int)(room - 16), name, hex);
	}
	const size_t base = strlen(k->name);
	size_t i = 0;
	for (unsigned copy = 2; i < index; i++)
		if (!strcmp(list[i].name, k->name)) {
			snprintf(k->name + base, sizeof(k->name) - base, "#%u", copy++);
			i = (size_t)-1; /* from the beginning again */
		}
	k->size_bytes = (int64_t)size;
	k->registers = k->spill_bytes = k->shared_bytes = k->threads = k->occupancy_percent = -1;
}

/* GPU kernels come before the functions of the host, with their processor before the name:
 * "sm_90 NAME". */
static void hash_device_kernels(
        const struct tk_elf_section *s, const char *glob, struct tk_kernel_symbol *list, size_t *n)
{
	AUTO(tk_device_code) c;
	tk_device_code_read(s->name, s->data, s->size, &c);
	for (size_t i = 0; i < c.kernel_count && *n < TK_CODE_KERNELS_MAX; i++) {
		const struct tk_device_kernel *k = &c.kernels[i];
		if (glob && fnmatch(glob, k->name, 0))
			continue;
		AUTO_TEXT name = tk_sprintf("%s %s", k->processor, k->name);
		tk_hash_bytes(k->code, k->size, list[*n].code_hash);
		tk_kernel_symbol_set(list, (*n)++, name, k->size);
	}
}

static void hash_functions(
        const struct tk_elf *e, const char *glob, struct tk_kernel_symbol **kernels, size_t *count)
{
	const struct tk_elf_symbol **chosen = tk_calloc(e->functions.count + 1, sizeof(*chosen));
	struct tk_kernel_symbol *list =
	        tk_calloc(TK_CODE_KERNELS_MAX + TK_CODE_FUNCTIONS_MAX, sizeof(*list));
	size_t n = 0, device = 0;
	for (size_t i = 0; i < e->section_count; i++)
		if (e->sections[i].kind == TK_ELF_DEVICE_CODE)
			hash_device_kernels(&e->sections[i], glob, list, &device);
	for (size_t i = 0; i < e->functions.count; i++)
		if (!glob || !fnmatch(glob, e->functions.list[i].name, 0))
			chosen[n++] = &e->functions.list[i];
	tk_sort(chosen, n, sizeof(*chosen), larger_first);
	if (n > TK_CODE_FUNCTIONS_MAX)
		n = TK_CODE_FUNCTIONS_MAX;
	for (size_t i = 0; i < n; i++) {
		tk_kernel_symbol_set(list, device + i, chosen[i]->name, chosen[i]->size);
		hash_bytes(
		        e, NULL, chosen[i]->address, chosen[i]->size, list[device + i].code_hash);
	}
	free(chosen);
	*kernels = list;
	*count = device + n;
}

int tk_code_hash_object(const char *so_path, const char *symbol_glob, char hex[TK_HASH_HEX_SIZE],
        struct tk_kernel_symbol **kernels, size_t *count, struct tk_error *err)
{
	AUTO(tk_elf) e;
	TRY(tk_elf_open(so_path, &e, err));
	hash_object(&e, hex);
	if (kernels)
		hash_functions(&e, symbol_glob, kernels, count);
	return TK_OK;
}
