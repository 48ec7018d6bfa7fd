/* Names of functions and data, from .symtab and .dynsym. */
#include "build/elf_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"

static int compare_symbols(const void *a, const void *b)
{
	const struct tk_elf_symbol *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->exported != y->exported)
		return x->exported ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The list for a symbol; NULL: neither function nor data. */
static struct tk_elf_symbols *find_list(struct tk_elf *e, const GElf_Sym *sym)
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

static void reserve_symbols(struct tk_elf_symbols *s, size_t n)
{
	s->list = tk_realloc(s->list, (s->count + n + 1) * sizeof(*s->list));
}

/* The names that LLVM gives to unnamed texts. */
static const char literal_of_llvm[] = ".L.str";

static void read_symbol_table(struct tk_elf *e, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const size_t n = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	reserve_symbols(&e->functions, n);
	reserve_symbols(&e->objects, n);
	for (size_t i = 0; i < n; i++) {
		GElf_Sym sym;
		struct tk_elf_symbols *to =
		        gelf_getsym(data, (int)i, &sym) ? find_list(e, &sym) : NULL;
		const char *name = to ? elf_strptr(e->file->elf, sh->sh_link, sym.st_name) : NULL;
		if (name && *name && !has_prefix(name, literal_of_llvm))
			to->list[to->count++] = (struct tk_elf_symbol){
			        name, sym.st_value, sym.st_size, sh->sh_type == SHT_DYNSYM};
	}
}

static void sort_symbols(struct tk_elf_symbols *s)
{
	if (!s->count)
		return;
	qsort(s->list, s->count, sizeof(*s->list), compare_symbols);
	size_t kept = 1;
	for (size_t i = 1; i < s->count; i++) {
		if (s->list[i].address != s->list[kept - 1].address)
			s->list[kept++] = s->list[i];
	}
	s->count = kept;
}

/* .symtab has the hidden names, .dynsym the exported ones. */
int tk_elf_read_symbols(struct tk_elf *e, struct tk_error *err)
{
	e->stripped = true;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(e->file->elf, scn));) {
		GElf_Shdr sh;
		if (!gelf_getshdr(scn, &sh) ||
		        (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM))
			continue;
		read_symbol_table(e, scn, &sh);
		if (sh.sh_type == SHT_SYMTAB)
			e->stripped = false;
	}
	sort_symbols(&e->functions);
	sort_symbols(&e->objects);
	return TK_OK;
}

size_t tk_elf_find_symbol_after(const struct tk_elf_symbols *s, uint64_t address)
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

const struct tk_elf_symbol *tk_elf_find_symbol(const struct tk_elf_symbols *s, uint64_t address)
{
	const size_t behind = tk_elf_find_symbol_after(s, address);
	if (!behind || address - s->list[behind - 1].address >= s->list[behind - 1].size)
		return NULL;
	return &s->list[behind - 1];
}
