/* Reads code, functions, relocations and the run path of a shared object. The file may come from another machine: every
 * number in it is checked before it is used. */
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

/* ---- sections ---------------------------------------------------------------------------------------------- */

static const char *section_name(Elf *elf, const GElf_Shdr *sh)
{
	size_t strings = 0;
	const char *name = NULL;
	if (!elf_getshdrstrndx(elf, &strings))
		name = elf_strptr(elf, strings, sh->sh_name);
	return name ? name : "";
}

static bool is_text(Elf *elf, const GElf_Shdr *sh)
{
	return sh->sh_type == SHT_PROGBITS && (sh->sh_flags & SHF_EXECINSTR) &&
	       !strncmp(section_name(elf, sh), ".text", 5);
}

static int read_texts(struct tk_elf *e, struct tk_error *err)
{
	Elf *elf = e->file->elf;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;
		if (!gelf_getshdr(scn, &sh) || !is_text(elf, &sh))
			continue;
		const Elf_Data *data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || data->d_size != sh.sh_size)
			return tk_fail(err, TK_EDATA, "a section of code is cut off");
		struct tk_elf_text *more = realloc(e->texts, (e->text_count + 1) * sizeof(*more));
		if (!more)
			return tk_fail(err, TK_ENOMEM, "no memory");
		e->texts = more;
		e->texts[e->text_count++] = (struct tk_elf_text){sh.sh_addr, data->d_buf, data->d_size};
	}
	return e->text_count ? TK_OK : tk_fail(err, TK_EDATA, "there is no machine code in it");
}

static bool in_text(const struct tk_elf *e, uint64_t address, uint64_t size)
{
	for (size_t i = 0; i < e->text_count; i++) {
		const struct tk_elf_text *t = &e->texts[i];
		if (address >= t->address && size <= t->size && address - t->address <= t->size - size)
			return true;
	}
	return false;
}

/* ---- functions --------------------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const struct tk_elf_function *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->exported != y->exported)
		return x->exported ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int read_symbols(struct tk_elf *e, Elf_Scn *scn, const GElf_Shdr *sh, struct tk_error *err)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const size_t n = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	struct tk_elf_function *more = realloc(e->functions, (e->function_count + n + 1) * sizeof(*more));
	if (!more)
		return tk_fail(err, TK_ENOMEM, "no memory");
	e->functions = more;
	for (size_t i = 0; i < n; i++) {
		GElf_Sym sym;
		if (!gelf_getsym(data, (int)i, &sym) || GELF_ST_TYPE(sym.st_info) != STT_FUNC || !sym.st_size ||
		        !in_text(e, sym.st_value, sym.st_size))
			continue;
		const char *name = elf_strptr(e->file->elf, sh->sh_link, sym.st_name);
		if (name && *name)
			e->functions[e->function_count++] =
			        (struct tk_elf_function){name, sym.st_value, sym.st_size, sh->sh_type == SHT_DYNSYM};
	}
	return TK_OK;
}

/* Both tables: .symtab names the hidden functions, .dynsym says which are exported. */
static int read_functions(struct tk_elf *e, struct tk_error *err)
{
	int status = TK_OK;
	for (Elf_Scn *scn = NULL; !status && (scn = elf_nextscn(e->file->elf, scn));) {
		GElf_Shdr sh;
		if (gelf_getshdr(scn, &sh) && (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM))
			status = read_symbols(e, scn, &sh, err);
	}
	if (status || !e->function_count)
		return status;
	qsort(e->functions, e->function_count, sizeof(*e->functions), by_address);
	size_t kept = 1;
	for (size_t i = 1; i < e->function_count; i++) {
		if (e->functions[i].address != e->functions[kept - 1].address)
			e->functions[kept++] = e->functions[i];
	}
	e->function_count = kept;
	return TK_OK;
}

static const struct tk_elf_function *function_at(const struct tk_elf *e, uint64_t address)
{
	size_t lo = 0, hi = e->function_count;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		if (e->functions[mid].address <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || address - e->functions[lo - 1].address >= e->functions[lo - 1].size)
		return NULL;
	return &e->functions[lo - 1];
}

/* ---- relocations ------------------------------------------------------------------------------------------- */

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

/* On other machines the address is a part of a 4-byte instruction: the whole instruction stands for it. */
static uint32_t fixup_width(GElf_Half machine, uint32_t type)
{
	return machine == EM_X86_64 ? width_x86_64(type) : type ? 4 : 0;
}

/* Compilers number what has no name of its own ("CSWTCH.12", "table.345"): the number is layout, not meaning. */
static size_t stable_length(const char *name)
{
	const char *dot = strrchr(name, '.');
	if (!dot || dot == name || !dot[1] || strspn(dot + 1, "0123456789") != strlen(dot + 1))
		return strlen(name);
	return (size_t)(dot - name);
}

static char *describe_target(const struct tk_elf *e, Elf_Data *symbols, const GElf_Shdr *sh, const GElf_Rela *rela)
{
	GElf_Sym sym;
	char *text = NULL;
	if (!gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &sym))
		return strdup("?");
	const char *name = elf_strptr(e->file->elf, sh->sh_link, sym.st_name);
	if (GELF_ST_TYPE(sym.st_info) != STT_SECTION && name && *name)
		return strndup(name, stable_length(name));
	/* Relative to a section: a function has a name, data has none that lasts. PC-relative addends are short by the
	 * instruction's rest. */
	const uint64_t address = sym.st_value + (uint64_t)rela->r_addend;
	const struct tk_elf_function *f = function_at(e, address + 4);
	GElf_Shdr target;
	if (f)
		return asprintf(&text, "%.*s+%llu", (int)stable_length(f->name), f->name,
		               (unsigned long long)(address - f->address)) < 0
		               ? NULL
		               : text;
	Elf_Scn *scn = sym.st_shndx < SHN_LORESERVE ? elf_getscn(e->file->elf, sym.st_shndx) : NULL;
	return strdup(scn && gelf_getshdr(scn, &target) ? section_name(e->file->elf, &target) : "?");
}

static int read_relocations(struct tk_elf *e, Elf_Scn *scn, const GElf_Shdr *sh, struct tk_error *err)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Scn *symbol_scn = elf_getscn(e->file->elf, sh->sh_link);
	GElf_Shdr symbol_sh;
	Elf_Data *symbols = symbol_scn && gelf_getshdr(symbol_scn, &symbol_sh) ? elf_getdata(symbol_scn, NULL) : NULL;
	const size_t n = data && symbols && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	struct tk_elf_fixup *more = realloc(e->fixups, (e->fixup_count + n + 1) * sizeof(*more));
	if (!more)
		return tk_fail(err, TK_ENOMEM, "no memory");
	e->fixups = more;
	for (size_t i = 0; i < n; i++) {
		GElf_Rela rela;
		if (!gelf_getrela(data, (int)i, &rela))
			continue;
		const uint32_t type = (uint32_t)GELF_R_TYPE(rela.r_info), width = fixup_width(e->file->machine, type);
		if (!width || !in_text(e, rela.r_offset, width))
			continue;
		char *target = describe_target(e, symbols, &symbol_sh, &rela);
		if (!target)
			return tk_fail(err, TK_ENOMEM, "no memory");
		e->fixups[e->fixup_count++] = (struct tk_elf_fixup){rela.r_offset, width, type, target};
	}
	return TK_OK;
}

static int fixup_order(const void *a, const void *b)
{
	const struct tk_elf_fixup *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

static int read_fixups(struct tk_elf *e, struct tk_error *err)
{
	Elf *elf = e->file->elf;
	int status = TK_OK;
	for (Elf_Scn *scn = NULL; !status && (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh, target;
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA || !sh.sh_info)
			continue;
		Elf_Scn *of = elf_getscn(elf, sh.sh_info);
		if (of && gelf_getshdr(of, &target) && is_text(elf, &target))
			status = read_relocations(e, scn, &sh, err);
	}
	if (!status && e->fixup_count)
		qsort(e->fixups, e->fixup_count, sizeof(*e->fixups), fixup_order);
	return status;
}

/* ---- the run path ------------------------------------------------------------------------------------------ */

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
			if (!gelf_getdyn(data, (int)i, &dyn) || (dyn.d_tag != DT_RPATH && dyn.d_tag != DT_RUNPATH))
				continue;
			const char *path = elf_strptr(e->file->elf, sh.sh_link, dyn.d_un.d_val);
			if (path && !e->run_path && !(e->run_path = strdup(path)))
				return tk_fail(err, TK_ENOMEM, "no memory");
		}
	}
	return TK_OK;
}

/* ---- the object -------------------------------------------------------------------------------------------- */

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
	if (!e->file->elf || elf_kind(e->file->elf) != ELF_K_ELF || !gelf_getehdr(e->file->elf, &header) ||
	        gelf_getclass(e->file->elf) != ELFCLASS64 || header.e_type != ET_DYN)
		return tk_fail(err, TK_EDATA, "it is not a 64-bit ELF shared object");
	e->file->machine = header.e_machine;
	return TK_OK;
}

int tk_elf_open(const char *path, struct tk_elf *elf, struct tk_error *err)
{
	*elf = (struct tk_elf){0};
	int status = open_file(path, elf, err);
	if (!status)
		status = read_texts(elf, err);
	if (!status)
		status = read_functions(elf, err);
	if (!status)
		status = read_fixups(elf, err);
	if (!status)
		status = read_run_path(elf, err);
	return status == TK_EDATA ? tk_context(err, "%s", path) : status;
}

void tk_elf_close(struct tk_elf *elf)
{
	for (size_t i = 0; i < elf->fixup_count; i++)
		free(elf->fixups[i].target);
	free(elf->fixups);
	free(elf->functions);
	free(elf->texts);
	free(elf->run_path);
	if (elf->file) {
		elf_end(elf->file->elf);
		if (elf->file->fd >= 0)
			close(elf->file->fd);
		free(elf->file);
	}
	*elf = (struct tk_elf){0};
}

bool tk_elf_exports(const struct tk_elf *elf, const char *symbol)
{
	for (size_t i = 0; i < elf->function_count; i++) {
		if (elf->functions[i].exported && !strcmp(elf->functions[i].name, symbol))
			return true;
	}
	return false;
}
