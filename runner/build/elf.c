/* Reads code, data, symbols, relocations and the run path of a shared object. The file may come
 * from another machine: every number in it is checked before it is used. */
#include "build/elf.h"
#include "base/error.h"
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tk_elf_file {
	int fd;
	Elf *elf;
	GElf_Half machine;
};

/* ---- sections
 * ---------------------------------------------------------------------------------------------- */

static const char *section_name(Elf *elf, const GElf_Shdr *sh)
{
	size_t strings = 0;
	const char *name = NULL;
	if (!elf_getshdrstrndx(elf, &strings))
		name = elf_strptr(elf, strings, sh->sh_name);
	return name ? name : "";
}

static bool starts_with(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/* Which of the kinds a section is; false: none of them (tables of the linker, notes, debug
 * information). */
static bool kind_of(Elf *elf, const GElf_Shdr *sh, enum tk_elf_kind *kind)
{
	static const char *const data[] = {".rodata", ".data", ".tdata", ".lrodata", ".ldata"};
	const char *name = section_name(elf, sh);
	if (sh->sh_type != SHT_PROGBITS || !(sh->sh_flags & SHF_ALLOC))
		return false;
	if (sh->sh_flags & SHF_EXECINSTR) {
		*kind = TK_ELF_CODE;
		return starts_with(name, ".text");
	}
	*kind = TK_ELF_DEVICE_CODE;
	if (starts_with(name, ".nv_fatbin") || starts_with(name, ".hip_fatbin"))
		return true;
	*kind = TK_ELF_DATA;
	for (size_t i = 0; i < sizeof(data) / sizeof(*data); i++) {
		if (starts_with(name, data[i]))
			return true;
	}
	return false;
}

static int read_sections(struct tk_elf *e, struct tk_error *err)
{
	Elf *elf = e->file->elf;
	bool code = false;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		enum tk_elf_kind kind;
		if (!gelf_getshdr(scn, &sh) || !kind_of(elf, &sh, &kind) || !sh.sh_size)
			continue;
		const Elf_Data *data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || data->d_size != sh.sh_size ||
		        sh.sh_addr + sh.sh_size < sh.sh_addr)
			return tk_fail(err, TK_EDATA, "a section of code or data is cut off");
		struct tk_elf_section *more =
		        realloc(e->sections, (e->section_count + 1) * sizeof(*more));
		if (!more)
			return tk_fail(err, TK_ENOMEM, "no memory");
		e->sections = more;
		e->sections[e->section_count++] = (struct tk_elf_section){
		        sh.sh_addr, data->d_buf, data->d_size, section_name(elf, &sh), kind};
		code = code || kind == TK_ELF_CODE;
	}
	return code ? TK_OK : tk_fail(err, TK_EDATA, "there is no machine code in it");
}

const struct tk_elf_section *tk_elf_find_section(
        const struct tk_elf *e, uint64_t address, uint64_t size)
{
	for (size_t i = 0; i < e->section_count; i++) {
		const struct tk_elf_section *s = &e->sections[i];
		if (address >= s->address && size <= s->size &&
		        address - s->address <= s->size - size)
			return s;
	}
	return NULL;
}

/* ---- symbols
 * -----------------------------------------------------------------------------------------------
 */

static int by_address(const void *a, const void *b)
{
	const struct tk_elf_symbol *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->exported != y->exported)
		return x->exported ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The list that a symbol belongs into; NULL: none. */
static struct tk_elf_symbols *list_of(struct tk_elf *e, const GElf_Sym *sym)
{
	const struct tk_elf_section *s =
	        sym->st_size ? tk_elf_find_section(e, sym->st_value, sym->st_size) : NULL;
	const int type = GELF_ST_TYPE(sym->st_info);
	if (s && s->kind == TK_ELF_CODE && type == STT_FUNC)
		return &e->functions;
	if (s && s->kind == TK_ELF_DATA && type == STT_OBJECT)
		return &e->objects;
	return NULL;
}

static int make_room(struct tk_elf_symbols *s, size_t n, struct tk_error *err)
{
	struct tk_elf_symbol *more = realloc(s->list, (s->count + n + 1) * sizeof(*more));
	if (!more)
		return tk_fail(err, TK_ENOMEM, "no memory");
	s->list = more;
	return TK_OK;
}

/* LLVM gives texts without a name one of its own. */
static const char literal_of_llvm[] = ".L.str";

static int read_symbols(struct tk_elf *e, Elf_Scn *scn, const GElf_Shdr *sh, struct tk_error *err)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const size_t n = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	if (make_room(&e->functions, n, err) || make_room(&e->objects, n, err))
		return TK_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		GElf_Sym sym;
		struct tk_elf_symbols *to =
		        gelf_getsym(data, (int)i, &sym) ? list_of(e, &sym) : NULL;
		const char *name = to ? elf_strptr(e->file->elf, sh->sh_link, sym.st_name) : NULL;
		if (name && *name && !starts_with(name, literal_of_llvm))
			to->list[to->count++] = (struct tk_elf_symbol){
			        name, sym.st_value, sym.st_size, sh->sh_type == SHT_DYNSYM};
	}
	return TK_OK;
}

static void sort_symbols(struct tk_elf_symbols *s)
{
	if (!s->count)
		return;
	qsort(s->list, s->count, sizeof(*s->list), by_address);
	size_t kept = 1;
	for (size_t i = 1; i < s->count; i++) {
		if (s->list[i].address != s->list[kept - 1].address)
			s->list[kept++] = s->list[i];
	}
	s->count = kept;
}

/* Both tables: .symtab names what is hidden, .dynsym says what is exported. */
static int read_all_symbols(struct tk_elf *e, struct tk_error *err)
{
	int status = TK_OK;
	e->stripped = true;
	for (Elf_Scn *scn = NULL; !status && (scn = elf_nextscn(e->file->elf, scn));) {
		GElf_Shdr sh;
		if (!gelf_getshdr(scn, &sh) ||
		        (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		status = read_symbols(e, scn, &sh, err);
		if (sh.sh_type == SHT_SYMTAB)
			e->stripped = false;
	}
	sort_symbols(&e->functions);
	sort_symbols(&e->objects);
	return status;
}

/* Index of the first symbol behind `address`. */
static size_t symbol_behind(const struct tk_elf_symbols *s, uint64_t address)
{
	size_t lo = 0, hi = s->count;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (s->list[mid].address <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct tk_elf_symbol *symbol_at(const struct tk_elf_symbols *s, uint64_t address)
{
	const size_t behind = symbol_behind(s, address);
	if (!behind || address - s->list[behind - 1].address >= s->list[behind - 1].size)
		return NULL;
	return &s->list[behind - 1];
}

/* ---- relocations
 * ------------------------------------------------------------------------------------------- */

static uint32_t width_x86_64(uint32_t type)
{
	switch (type) {
	case R_X86_64_NONE:
	case R_X86_64_TLSDESC_CALL:
		return 0;
	case R_X86_64_64:
	case R_X86_64_PC64:
	case R_X86_64_GOTOFF64:
	case R_X86_64_DTPOFF64:
	case R_X86_64_TPOFF64:
		return 8;
	case R_X86_64_16:
	case R_X86_64_PC16:
		return 2;
	case R_X86_64_8:
	case R_X86_64_PC8:
		return 1;
	default:
		return 4;
	}
}

/* On other machines the address is a part of a 4-byte instruction: the whole instruction stands for
 * it. */
static uint32_t fixup_width(GElf_Half machine, uint32_t type)
{
	return machine == EM_X86_64 ? width_x86_64(type) : type ? 4 : 0;
}

/* The bytes between the place and the end of the instruction, which a PC-relative addend is short
 * by (when no immediate follows). */
static uint64_t rest_of_instruction(GElf_Half machine, uint32_t type)
{
	return machine == EM_X86_64 && (type == R_X86_64_PC32 || type == R_X86_64_PLT32) ? 4 : 0;
}

size_t tk_elf_stem_length(const char *name)
{
	const char *dot = strrchr(name, '.');
	if (!dot || dot == name || !dot[1] || strspn(dot + 1, "0123456789") != strlen(dot + 1))
		return strlen(name);
	return (size_t)(dot - name);
}

static char *name_and_offset(const struct tk_elf_symbol *s, uint64_t address)
{
	char *text = NULL;
	return asprintf(&text, "%.*s+%llu", (int)tk_elf_stem_length(s->name), s->name,
	               (unsigned long long)(address - s->address)) < 0
	               ? NULL
	               : text;
}

/* Fills in `target`; for data without a name only `unnamed`, and `target` when all fixups are
 * known. */
static bool describe_target(const struct tk_elf *e, Elf_Data *symbols, const GElf_Shdr *sh,
        const GElf_Rela *rela, struct tk_elf_reloc *f)
{
	GElf_Sym sym;
	GElf_Shdr target;
	if (!gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &sym))
		return (f->target = strdup("?"));
	const char *name = elf_strptr(e->file->elf, sh->sh_link, sym.st_name);
	if (GELF_ST_TYPE(sym.st_info) != STT_SECTION && name && *name && !starts_with(name, ".L"))
		return (f->target = strndup(name, tk_elf_stem_length(name)));
	const uint64_t address = sym.st_value + (uint64_t)rela->r_addend +
	                         rest_of_instruction(e->file->machine, f->type);
	const struct tk_elf_symbol *s = symbol_at(&e->functions, address);
	if (!s)
		s = symbol_at(&e->objects, address);
	if (s)
		return (f->target = name_and_offset(s, address));
	if (tk_elf_find_section(e, address, 1)) {
		f->unnamed = address;
		return true;
	}
	Elf_Scn *scn = sym.st_shndx < SHN_LORESERVE ? elf_getscn(e->file->elf, sym.st_shndx) : NULL;
	return (f->target = strdup(scn && gelf_getshdr(scn, &target)
	                                   ? section_name(e->file->elf, &target)
	                                   : "?"));
}

static int read_relocations(
        struct tk_elf *e, Elf_Scn *scn, const GElf_Shdr *sh, struct tk_error *err)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Scn *symbol_scn = elf_getscn(e->file->elf, sh->sh_link);
	GElf_Shdr symbol_sh;
	Elf_Data *symbols = symbol_scn && gelf_getshdr(symbol_scn, &symbol_sh)
	                            ? elf_getdata(symbol_scn, NULL)
	                            : NULL;
	const size_t n = data && symbols && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	struct tk_elf_reloc *more = realloc(e->fixups, (e->fixup_count + n + 1) * sizeof(*more));
	if (!more)
		return tk_fail(err, TK_ENOMEM, "no memory");
	e->fixups = more;
	for (size_t i = 0; i < n; i++) {
		GElf_Rela rela;
		if (!gelf_getrela(data, (int)i, &rela))
			continue;
		const uint32_t type = (uint32_t)GELF_R_TYPE(rela.r_info),
		               width = fixup_width(e->file->machine, type);
		if (!width || !tk_elf_find_section(e, rela.r_offset, width))
			continue;
		struct tk_elf_reloc f = {.address = rela.r_offset, .width = width, .type = type};
		if (!describe_target(e, symbols, &symbol_sh, &rela, &f))
			return tk_fail(err, TK_ENOMEM, "no memory");
		e->fixups[e->fixup_count++] = f;
	}
	return TK_OK;
}

static int fixup_order(const void *a, const void *b)
{
	const struct tk_elf_reloc *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

static int read_fixups(struct tk_elf *e, struct tk_error *err)
{
	Elf *elf = e->file->elf;
	int status = TK_OK;
	enum tk_elf_kind kind;
	for (Elf_Scn *scn = NULL; !status && (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh, target;
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA || !sh.sh_info)
			continue;
		Elf_Scn *of = elf_getscn(elf, sh.sh_info);
		if (of && gelf_getshdr(of, &target) && kind_of(elf, &target, &kind))
			status = read_relocations(e, scn, &sh, err);
	}
	if (!status && e->fixup_count)
		qsort(e->fixups, e->fixup_count, sizeof(*e->fixups), fixup_order);
	return status;
}

size_t tk_elf_find_reloc(const struct tk_elf *e, uint64_t address)
{
	size_t lo = 0, hi = e->fixup_count;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (e->fixups[mid].address < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* ---- data without a name
 * ----------------------------------------------------------------------------------- */

enum { CONTENT_MAX = 64, TEXT_MIN = 4, PADDING_MAX = 32 }; /* bytes */

static int address_order(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Where something else begins: the next thing that is referred to, or that has a name, or the
 * section's end. */
static uint64_t end_of_unnamed(
        const struct tk_elf *e, const uint64_t *starts, size_t count, uint64_t address)
{
	const struct tk_elf_section *s = tk_elf_find_section(e, address, 1);
	uint64_t end = s->address + s->size;
	if (end - address > CONTENT_MAX)
		end = address + CONTENT_MAX;
	size_t lo = 0, hi = count;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (starts[mid] <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < count && starts[lo] < end)
		end = starts[lo];
	const size_t object = symbol_behind(&e->objects, address);
	if (object < e->objects.count && e->objects.list[object].address < end)
		end = e->objects.list[object].address;
	return end;
}

/* Whether a place stands for the address of what it refers to, not for its content: a pointer in
 * data, or the instruction that loads an address (lea). Numbers are loaded, texts have their
 * address taken. */
static bool takes_address(const struct tk_elf *e, const struct tk_elf_reloc *f)
{
	const struct tk_elf_section *s = tk_elf_find_section(e, f->address, f->width);
	if (e->file->machine == EM_AARCH64)
		return f->type == R_AARCH64_ADD_ABS_LO12_NC || f->type == R_AARCH64_ABS64;
	if (e->file->machine != EM_X86_64)
		return false;
	if (f->type != R_X86_64_PC32 || f->address - s->address < 3)
		return f->type == R_X86_64_64;
	const unsigned char *at =
	        s->data + (f->address - s->address); /* REX.W 8d, rip + what the linker filled in */
	return (at[-3] & 0xf8) == 0x48 && at[-2] == 0x8d && (at[-1] & 0xc7) == 0x05;
}

/* A literal is looked at as far as its end, however far that is. A shorter one could as well be a
 * number: it is a text where its address is taken and nothing but padding, or the tail that another
 * text shares with it, follows. */
static bool is_text(
        const struct tk_elf_section *s, uint64_t address, uint64_t end, bool address_taken)
{
	const unsigned char *from = s->data + (address - s->address), *limit = s->data + s->size,
	                    *p = from;
	while (p < limit && ((*p >= ' ' && *p < 0x7f) || (*p >= '\t' && *p <= '\r') || *p >= 0x80))
		p++;
	if (p == from || p == limit || *p)
		return false;
	if (p - from >= TEXT_MIN)
		return true;
	const unsigned char *text_end = p, *next = s->data + (end - s->address);
	while (p < next && !*p)
		p++;
	return address_taken && p >= next && p - text_end <= PADDING_MAX;
}

/* Texts all look alike (versions, paths and dates are texts); constants by their bytes without
 * those that the linker filled in and without the padding behind them. */
static char *describe_content(
        const struct tk_elf *e, uint64_t address, uint64_t end, bool address_taken)
{
	const struct tk_elf_section *s = tk_elf_find_section(e, address, 1);
	char hex[2 * CONTENT_MAX + 1] = "", *text = NULL;
	size_t n = 0;
	if (is_text(s, address, end, address_taken))
		return asprintf(&text, "%s:text", s->name) < 0 ? NULL : text;
	size_t next = tk_elf_find_reloc(e, address);
	for (uint64_t at = address; at < end; at++) {
		while (next < e->fixup_count &&
		        e->fixups[next].address + e->fixups[next].width <= at)
			next++;
		const bool filled_in = next < e->fixup_count && e->fixups[next].address <= at;
		n += (size_t)snprintf(hex + n, sizeof(hex) - n, filled_in ? ".." : "%02x",
		        s->data[at - s->address]);
	}
	while (n >= 2 && !memcmp(hex + n - 2, "00", 2))
		n -= 2;
	return asprintf(&text, "%s:%.*s", s->name, (int)n, hex) < 0 ? NULL : text;
}

/* What has no name is described alike wherever it is referred to. */
static int describe_unnamed(struct tk_elf *e, struct tk_error *err)
{
	uint64_t *starts = calloc(e->fixup_count + 1, sizeof(*starts));
	uint64_t *taken = calloc(e->fixup_count + 1, sizeof(*taken));
	size_t count = 0, taken_count = 0;
	int status = starts && taken ? TK_OK : tk_fail(err, TK_ENOMEM, "no memory");
	for (size_t i = 0; !status && i < e->fixup_count; i++) {
		const struct tk_elf_reloc *f = &e->fixups[i];
		if (f->unnamed)
			starts[count++] = f->unnamed;
		if (f->unnamed && takes_address(e, f))
			taken[taken_count++] = f->unnamed;
	}
	if (!status) {
		qsort(starts, count, sizeof(*starts), address_order);
		qsort(taken, taken_count, sizeof(*taken), address_order);
	}
	for (size_t i = 0; !status && i < e->fixup_count; i++) {
		struct tk_elf_reloc *f = &e->fixups[i];
		if (f->target)
			continue;
		const bool address_taken =
		        bsearch(&f->unnamed, taken, taken_count, sizeof(*taken), address_order);
		f->target = describe_content(
		        e, f->unnamed, end_of_unnamed(e, starts, count, f->unnamed), address_taken);
		if (!f->target)
			status = tk_fail(err, TK_ENOMEM, "no memory");
	}
	free(starts);
	free(taken);
	return status;
}

/* ---- the run path
 * ------------------------------------------------------------------------------------------ */

static int read_run_path(struct tk_elf *e, struct tk_error *err)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(e->file->elf, scn));) {
		GElf_Shdr sh;
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNAMIC)
			continue;
		Elf_Data *data = elf_getdata(scn, NULL);
		const size_t n = data && sh.sh_entsize ? data->d_size / sh.sh_entsize : 0;
		for (size_t i = 0; i < n; i++) {
			GElf_Dyn dyn;
			if (!gelf_getdyn(data, (int)i, &dyn) ||
			        (dyn.d_tag != DT_RPATH && dyn.d_tag != DT_RUNPATH))
				continue;
			const char *path = elf_strptr(e->file->elf, sh.sh_link, dyn.d_un.d_val);
			if (path && !e->run_path && !(e->run_path = strdup(path)))
				return tk_fail(err, TK_ENOMEM, "no memory");
		}
	}
	return TK_OK;
}

/* ---- the object
 * -------------------------------------------------------------------------------------------- */

static int open_file(const char *path, struct tk_elf *e, struct tk_error *err)
{
	GElf_Ehdr header;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return tk_fail(err, TK_EINTERNAL, "libelf is too old");
	if (!(e->file = calloc(1, sizeof(*e->file))))
		return tk_fail(err, TK_ENOMEM, "no memory");
	e->file->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (e->file->fd < 0)
		return tk_fail_errno(err, "%s", path);
	e->file->elf = elf_begin(e->file->fd, ELF_C_READ, NULL);
	if (!e->file->elf || elf_kind(e->file->elf) != ELF_K_ELF ||
	        !gelf_getehdr(e->file->elf, &header) || gelf_getclass(e->file->elf) != ELFCLASS64 ||
	        header.e_type != ET_DYN)
		return tk_fail(err, TK_EDATA, "it is not a 64-bit ELF shared object");
	e->file->machine = header.e_machine;
	return TK_OK;
}

int tk_elf_open(const char *path, struct tk_elf *elf, struct tk_error *err)
{
	*elf = (struct tk_elf){0};
	int status = open_file(path, elf, err);
	if (!status)
		status = read_sections(elf, err);
	if (!status)
		status = read_all_symbols(elf, err);
	if (!status)
		status = read_fixups(elf, err);
	if (!status)
		status = describe_unnamed(elf, err);
	if (!status)
		status = read_run_path(elf, err);
	return status == TK_EDATA ? tk_error_add_context(err, "%s", path) : status;
}

void tk_elf_close(struct tk_elf *elf)
{
	for (size_t i = 0; i < elf->fixup_count; i++)
		free(elf->fixups[i].target);
	free(elf->fixups);
	free(elf->functions.list);
	free(elf->objects.list);
	free(elf->sections);
	free(elf->run_path);
	if (elf->file) {
		elf_end(elf->file->elf);
		if (elf->file->fd >= 0)
			close(elf->file->fd);
		free(elf->file);
	}
	*elf = (struct tk_elf){0};
}

bool tk_elf_has_export(const struct tk_elf *elf, const char *symbol)
{
	for (size_t i = 0; i < elf->functions.count; i++) {
		if (elf->functions.list[i].exported && !strcmp(elf->functions.list[i].name, symbol))
			return true;
	}
	return false;
}
