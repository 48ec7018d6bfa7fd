/* Reads a shared object. Every number of an object is checked before it is used: it may come from
 * another machine. */
#include "build/build_internal.h"
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

/* The next section of a type, with its header; scn NULL: the first. NULL: no more. */
static Elf_Scn *next_section(Elf *elf, Elf_Scn *scn, uint32_t type, GElf_Shdr *sh)
{
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, sh) && sh->sh_type == type)
			return scn;
	return NULL;
}

/* The entries of a table; *count is 0 where it cannot be read. */
static Elf_Data *get_table(Elf_Scn *scn, const GElf_Shdr *sh, size_t *count)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	*count = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	return data;
}

/* Index of the first element whose address is above `address`, in a sorted list. */
static size_t find_above(const void *list, size_t count, size_t stride, uint64_t address)
{
	size_t lo = 0, hi = count;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		uint64_t at;
		memcpy(&at, (const char *)list + mid * stride, sizeof at);
		if (at <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int compare_u64(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

/* ---- sections ---- */

static const char *section_name(Elf *elf, const GElf_Shdr *sh)
{
	size_t strings = 0;
	const char *name = NULL;
	if (!elf_getshdrstrndx(elf, &strings))
		name = elf_strptr(elf, strings, sh->sh_name);
	return name ? name : "";
}

/* false: not one of the kinds (tables of the linker, notes, debug information) */
static bool classify_section(Elf *elf, const GElf_Shdr *sh, enum tk_elf_kind *kind)
{
	static const struct {
		const char *prefix;
		enum tk_elf_kind kind;
	} kinds[] = {{".text", TK_ELF_CODE}, {".nv_fatbin", TK_ELF_DEVICE_CODE},
	        {".hip_fatbin", TK_ELF_DEVICE_CODE}, {".rodata", TK_ELF_DATA},
	        {".data", TK_ELF_DATA}, {".tdata", TK_ELF_DATA}, {".lrodata", TK_ELF_DATA},
	        {".ldata", TK_ELF_DATA}};
	const char *name = section_name(elf, sh);
	const bool is_code = sh->sh_flags & SHF_EXECINSTR;
	if (sh->sh_type != SHT_PROGBITS || !(sh->sh_flags & SHF_ALLOC))
		return false;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (tk_has_prefix(name, kinds[i].prefix)) {
			*kind = kinds[i].kind;
			return is_code == (*kind == TK_ELF_CODE);
		}
	return false;
}

static int read_sections(struct tk_elf *e, struct tk_error *err)
{
	bool code = false;
	GElf_Shdr sh;
	for (Elf_Scn *scn = NULL; (scn = next_section(e->elf, scn, SHT_PROGBITS, &sh));) {
		enum tk_elf_kind kind;
		if (!classify_section(e->elf, &sh, &kind) || !sh.sh_size)
			continue;
		const Elf_Data *data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || data->d_size != sh.sh_size ||
		        sh.sh_addr + sh.sh_size < sh.sh_addr)
			return tk_fail(err, TK_EDATA, "a section of code or data is cut off");
		e->sections =
		        tk_reallocarray(e->sections, e->section_count + 1, sizeof *e->sections);
		e->sections[e->section_count++] = (struct tk_elf_section){
		        sh.sh_addr, data->d_buf, data->d_size, section_name(e->elf, &sh), kind};
		code = code || kind == TK_ELF_CODE;
	}
	return code ? TK_OK : tk_fail(err, TK_EDATA, "contains no machine code");
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

static void read_run_path(struct tk_elf *e)
{
	GElf_Shdr sh;
	for (Elf_Scn *scn = NULL; (scn = next_section(e->elf, scn, SHT_DYNAMIC, &sh));) {
		size_t n;
		Elf_Data *data = get_table(scn, &sh, &n);
		for (size_t i = 0; i < n && !e->run_path; i++) {
			GElf_Dyn dyn;
			if (gelf_getdyn(data, (int)i, &dyn) &&
			        (dyn.d_tag == DT_RPATH || dyn.d_tag == DT_RUNPATH))
				e->run_path = elf_strptr(e->elf, sh.sh_link, dyn.d_un.d_val);
		}
	}
}

/* ---- symbols ---- */

static int compare_symbols(const void *a, const void *b)
{
	const struct tk_elf_symbol *x = a, *y = b;
	if (x->address != y->address)
		return compare_u64(x->address, y->address);
	if (x->exported != y->exported)
		return x->exported ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The list for a symbol; NULL: neither code nor data. */
static struct tk_elf_symbols *find_list(struct tk_elf *e, const GElf_Sym *sym)
{
	const struct tk_elf_section *s =
	        tk_elf_find_section(e, sym->st_value, sym->st_size ? sym->st_size : 1);
	const int type = GELF_ST_TYPE(sym->st_info);
	if (!sym->st_size)
		return s && s->kind == TK_ELF_CODE && (type == STT_FUNC || type == STT_NOTYPE)
		               ? &e->labels
		               : NULL;
	if (s && s->kind == TK_ELF_CODE && type == STT_FUNC)
		return &e->functions;
	if (s && s->kind == TK_ELF_DATA && type == STT_OBJECT)
		return &e->objects;
	return NULL;
}

static void read_symbol_tables(struct tk_elf *e, uint32_t type)
{
	struct tk_elf_symbols *const lists[] = {&e->functions, &e->objects, &e->labels};
	GElf_Shdr sh;
	for (Elf_Scn *scn = NULL; (scn = next_section(e->elf, scn, type, &sh));) {
		size_t n;
		Elf_Data *data = get_table(scn, &sh, &n);
		for (int i = 0; i < 3; i++)
			lists[i]->list = tk_reallocarray(
			        lists[i]->list, lists[i]->count + n + 1, sizeof *lists[i]->list);
		for (size_t i = 0; i < n; i++) {
			GElf_Sym sym;
			struct tk_elf_symbols *to =
			        gelf_getsym(data, (int)i, &sym) ? find_list(e, &sym) : NULL;
			const char *name = to ? elf_strptr(e->elf, sh.sh_link, sym.st_name) : NULL;
			if (name && *name &&
			        !tk_has_prefix(name, ".L.str")) /* LLVM: unnamed texts */
				to->list[to->count++] = (struct tk_elf_symbol){sym.st_value,
				        sym.st_size, tk_stable_name(name), type == SHT_DYNSYM};
		}
		e->stripped = e->stripped && type != SHT_SYMTAB;
	}
}

static void sort_symbols(struct tk_elf_symbols *s)
{
	size_t kept = 0;
	tk_sort(s->list, s->count, sizeof *s->list, compare_symbols);
	for (size_t i = 0; i < s->count; i++)
		if (!kept || s->list[i].address != s->list[kept - 1].address)
			s->list[kept++] = s->list[i];
		else
			free(s->list[i].name);
	s->count = kept;
}

/* .symtab has the hidden names, .dynsym the exported ones. */
static void read_symbols(struct tk_elf *e)
{
	e->stripped = true;
	read_symbol_tables(e, SHT_SYMTAB);
	read_symbol_tables(e, SHT_DYNSYM);
	sort_symbols(&e->functions);
	sort_symbols(&e->objects);
	sort_symbols(&e->labels);
}

/* The symbol that holds `address`; NULL: none. */
static const struct tk_elf_symbol *find_symbol(const struct tk_elf_symbols *s, uint64_t address)
{
	const size_t above = find_above(s->list, s->count, sizeof *s->list, address);
	const struct tk_elf_symbol *found = above ? &s->list[above - 1] : NULL;
	return found && address - found->address < found->size ? found : NULL;
}

/* ---- relocations: places that the linker filled in ---- */

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

size_t tk_elf_stem_length(const char *name)
{
	const char *dot = strrchr(name, '.');
	if (!dot || dot == name || !dot[1] || strspn(dot + 1, "0123456789") != strlen(dot + 1))
		return strlen(name);
	return (size_t)(dot - name);
}

/* Fills in `target`, or `unnamed` for data without a name. */
static void describe_target(const struct tk_elf *e, Elf_Data *symbols, const GElf_Shdr *sh,
        const GElf_Rela *rela, struct tk_elf_reloc *f)
{
	GElf_Sym sym;
	GElf_Shdr target;
	if (!gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &sym)) {
		f->target = tk_strdup("?");
		return;
	}
	const char *name = elf_strptr(e->elf, sh->sh_link, sym.st_name);
	if (GELF_ST_TYPE(sym.st_info) != STT_SECTION && name && *name &&
	        !tk_has_prefix(name, ".L")) {
		f->target = tk_stable_name(name);
		f->target[tk_elf_stem_length(f->target)] = '\0';
		return;
	}
	/* A PC-relative addend lacks the bytes from the place to the end of the instruction (unless
	 * an immediate follows). */
	const bool is_relative =
	        e->machine == EM_X86_64 && (f->type == R_X86_64_PC32 || f->type == R_X86_64_PLT32);
	const uint64_t address = sym.st_value + (uint64_t)rela->r_addend + (is_relative ? 4 : 0);
	const struct tk_elf_symbol *s = find_symbol(&e->functions, address);
	if (!s)
		s = find_symbol(&e->objects, address);
	Elf_Scn *scn = sym.st_shndx < SHN_LORESERVE ? elf_getscn(e->elf, sym.st_shndx) : NULL;
	if (s)
		f->target = tk_sprintf("%.*s+%llu", (int)tk_elf_stem_length(s->name), s->name,
		        (unsigned long long)(address - s->address));
	else if (tk_elf_find_section(e, address, 1))
		f->unnamed = address;
	else
		f->target = tk_strdup(
		        scn && gelf_getshdr(scn, &target) ? section_name(e->elf, &target) : "?");
}

static void read_reloc_section(struct tk_elf *e, Elf_Scn *scn, const GElf_Shdr *sh)
{
	size_t n;
	Elf_Data *data = get_table(scn, sh, &n), *symbols = NULL;
	Elf_Scn *symbol_scn = elf_getscn(e->elf, sh->sh_link);
	GElf_Shdr symbol_sh;
	if (symbol_scn && gelf_getshdr(symbol_scn, &symbol_sh))
		symbols = elf_getdata(symbol_scn, NULL);
	n = symbols ? n : 0;
	e->relocs = tk_reallocarray(e->relocs, e->reloc_count + n + 1, sizeof *e->relocs);
	for (size_t i = 0; i < n; i++) {
		GElf_Rela rela;
		if (!gelf_getrela(data, (int)i, &rela))
			continue;
		/* Elsewhere the address is part of a 4-byte instruction: all of it counts. */
		const uint32_t type = (uint32_t)GELF_R_TYPE(rela.r_info),
		               width = e->machine == EM_X86_64 ? width_x86_64(type)
		                       : type                  ? 4
		                                               : 0;
		if (!width || !tk_elf_find_section(e, rela.r_offset, width))
			continue;
		struct tk_elf_reloc f = {.address = rela.r_offset, .width = width, .type = type};
		describe_target(e, symbols, &symbol_sh, &rela, &f);
		e->relocs[e->reloc_count++] = f;
	}
}

static int compare_relocs(const void *a, const void *b)
{
	const struct tk_elf_reloc *x = a, *y = b;
	return x->address != y->address ? compare_u64(x->address, y->address)
	                                : compare_u64(x->type, y->type);
}

static void read_relocs(struct tk_elf *e)
{
	enum tk_elf_kind kind;
	GElf_Shdr sh, target;
	for (Elf_Scn *scn = NULL; (scn = next_section(e->elf, scn, SHT_RELA, &sh));) {
		Elf_Scn *of = sh.sh_info ? elf_getscn(e->elf, sh.sh_info) : NULL;
		if (of && gelf_getshdr(of, &target) && classify_section(e->elf, &target, &kind))
			read_reloc_section(e, scn, &sh);
	}
	tk_sort(e->relocs, e->reloc_count, sizeof *e->relocs, compare_relocs);
}

size_t tk_elf_find_reloc(const struct tk_elf *e, uint64_t address)
{
	return address ? find_above(e->relocs, e->reloc_count, sizeof *e->relocs, address - 1) : 0;
}

/* ---- data without a name, described by its content ---- */

enum { CONTENT_MAX = 64, TEXT_MIN = 4, PADDING_MAX = 32 }; /* bytes */

struct unnamed {
	uint64_t address;
	bool address_taken; /* by any reference to it */
};

/* Those whose address is taken come first. */
static int compare_unnamed(const void *a, const void *b)
{
	const struct unnamed *x = a, *y = b;
	return x->address != y->address ? compare_u64(x->address, y->address)
	                                : y->address_taken - x->address_taken;
}

/* Whether the place holds the address of its target: a pointer in data, or an instruction that
 * loads an address (lea). Code loads the value of a number, but takes the address of a text. */
static bool is_address_taken(const struct tk_elf *e, const struct tk_elf_reloc *f)
{
	const struct tk_elf_section *s = tk_elf_find_section(e, f->address, f->width);
	if (e->machine == EM_AARCH64)
		return f->type == R_AARCH64_ADD_ABS_LO12_NC || f->type == R_AARCH64_ABS64;
	if (e->machine != EM_X86_64)
		return false;
	if (f->type != R_X86_64_PC32 || f->address - s->address < 3)
		return f->type == R_X86_64_64;
	/* REX.W 8d, rip + relocated offset */
	const unsigned char *at = s->data + (f->address - s->address);
	return (at[-3] & 0xf8) == 0x48 && at[-2] == 0x8d && (at[-1] & 0xc7) == 0x05;
}

/* Short bytes could be a number as well: they are a text where their address is taken and only
 * padding, or the tail that another text shares with them, follows. */
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

/* All texts count as equal, because versions, paths and dates are texts. Constants are their bytes,
 * without relocated ones and without padding at the end. */
static char *describe_content(
        const struct tk_elf *e, uint64_t address, uint64_t end, bool address_taken)
{
	const struct tk_elf_section *s = tk_elf_find_section(e, address, 1);
	char hex[2 * CONTENT_MAX + 1] = "";
	size_t n = 0, next = tk_elf_find_reloc(e, address);
	/* a table of places in the code (switch) may look like a text, depending on where it is */
	const bool is_table = next < e->reloc_count && e->relocs[next].address == address;
	if (!is_table && is_text(s, address, end, address_taken))
		return tk_sprintf("%s:text", s->name);
	for (uint64_t at = address; at < end; at++) {
		while (next < e->reloc_count &&
		        e->relocs[next].address + e->relocs[next].width <= at)
			next++;
		const bool filled_in = next < e->reloc_count && e->relocs[next].address <= at;
		n += (size_t)snprintf(hex + n, sizeof(hex) - n, filled_in ? ".." : "%02x",
		        s->data[at - s->address]);
	}
	while (n >= 2 && !memcmp(hex + n - 2, "00", 2))
		n -= 2;
	return tk_sprintf("%s:%.*s", s->name, (int)n, hex);
}

/* Unnamed data gets the same description wherever it is referred to. It ends at the next address
 * that is referred to or named, or with its section. */
static void describe_unnamed(struct tk_elf *e)
{
	struct unnamed *list = tk_calloc(e->reloc_count + 1, sizeof *list);
	size_t count = 0;
	for (size_t i = 0; i < e->reloc_count; i++)
		if (e->relocs[i].unnamed)
			list[count++] = (struct unnamed){
			        e->relocs[i].unnamed, is_address_taken(e, &e->relocs[i])};
	tk_sort(list, count, sizeof *list, compare_unnamed);
	for (size_t i = 0; i < e->reloc_count; i++) {
		const uint64_t address = e->relocs[i].unnamed;
		if (e->relocs[i].target)
			continue;
		const struct tk_elf_section *s = tk_elf_find_section(e, address, 1);
		const struct tk_elf_symbols *o = &e->objects;
		const size_t first = find_above(list, count, sizeof *list, address - 1),
		             next = find_above(list, count, sizeof *list, address),
		             named = find_above(o->list, o->count, sizeof *o->list, address);
		uint64_t end = s->address + s->size;
		if (end - address > CONTENT_MAX)
			end = address + CONTENT_MAX;
		if (next < count && list[next].address < end)
			end = list[next].address;
		if (named < o->count && o->list[named].address < end)
			end = o->list[named].address;
		e->relocs[i].target = describe_content(e, address, end, list[first].address_taken);
	}
	free(list);
}

/* ---- all of it ---- */

static int open_file(const char *path, struct tk_elf *e, struct tk_error *err)
{
	GElf_Ehdr header;
	elf_version(EV_CURRENT);
	e->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (e->fd < 0)
		return tk_fail_errno(err, "%s", path);
	e->elf = elf_begin(e->fd, ELF_C_READ, NULL);
	if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &header) ||
	        gelf_getclass(e->elf) != ELFCLASS64 || header.e_type != ET_DYN)
		return tk_fail(err, TK_EDATA, "not a 64-bit ELF shared object");
	e->machine = header.e_machine;
	return TK_OK;
}

int tk_elf_open(const char *path, struct tk_elf *e, struct tk_error *err)
{
	*e = (struct tk_elf){0};
	int status = open_file(path, e, err);
	if (!status)
		status = read_sections(e, err);
	if (status)
		return status == TK_EDATA ? tk_error_add_context(err, "%s", path) : status;
	read_symbols(e);
	read_relocs(e);
	describe_unnamed(e);
	read_run_path(e);
	return TK_OK;
}

static void free_symbols(struct tk_elf_symbols *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->list[i].name);
	free(s->list);
}

void tk_elf_free(struct tk_elf *e)
{
	for (size_t i = 0; i < e->reloc_count; i++)
		free(e->relocs[i].target);
	free(e->relocs);
	free_symbols(&e->functions);
	free_symbols(&e->objects);
	free_symbols(&e->labels);
	free(e->sections);
	elf_end(e->elf);
	if (e->fd >= 0)
		close(e->fd);
}
