/* Opening a shared object: its sections, its exports and its run path. */
#include "build/elf_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

const char *tk_elf_section_name(Elf *elf, const GElf_Shdr *sh)
{
	size_t strings = 0;
	const char *name = NULL;
	if (!elf_getshdrstrndx(elf, &strings))
		name = elf_strptr(elf, strings, sh->sh_name);
	return name ? name : "";
}

bool tk_elf_classify_section(Elf *elf, const GElf_Shdr *sh, enum tk_elf_kind *kind)
{
	static const char *const data[] = {".rodata", ".data", ".tdata", ".lrodata", ".ldata"};
	const char *name = tk_elf_section_name(elf, sh);
	if (sh->sh_type != SHT_PROGBITS || !(sh->sh_flags & SHF_ALLOC))
		return false;
	if (sh->sh_flags & SHF_EXECINSTR) {
		*kind = TK_ELF_CODE;
		return has_prefix(name, ".text");
	}
	*kind = TK_ELF_DEVICE_CODE;
	if (has_prefix(name, ".nv_fatbin") || has_prefix(name, ".hip_fatbin"))
		return true;
	*kind = TK_ELF_DATA;
	for (size_t i = 0; i < sizeof(data) / sizeof(*data); i++) {
		if (has_prefix(name, data[i]))
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
		if (!gelf_getshdr(scn, &sh) || !tk_elf_classify_section(elf, &sh, &kind) ||
		        !sh.sh_size)
			continue;
		const Elf_Data *data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || data->d_size != sh.sh_size ||
		        sh.sh_addr + sh.sh_size < sh.sh_addr)
			return tk_fail(err, TK_EDATA, "a section of code or data is cut off");
		struct tk_elf_section *more =
		        tk_realloc(e->sections, (e->section_count + 1) * sizeof(*more));
		e->sections = more;
		e->sections[e->section_count++] = (struct tk_elf_section){
		        sh.sh_addr, data->d_buf, data->d_size, tk_elf_section_name(elf, &sh), kind};
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
			if (path && !e->run_path)
				e->run_path = tk_strdup(path);
		}
	}
}

static int open_file(const char *path, struct tk_elf *e, struct tk_error *err)
{
	GElf_Ehdr header;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return tk_fail(err, TK_EINTERNAL, "libelf is too old");
	e->file = tk_calloc(1, sizeof(*e->file));
	e->file->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (e->file->fd < 0)
		return tk_fail_errno(err, "%s", path);
	e->file->elf = elf_begin(e->file->fd, ELF_C_READ, NULL);
	if (!e->file->elf || elf_kind(e->file->elf) != ELF_K_ELF ||
	        !gelf_getehdr(e->file->elf, &header) || gelf_getclass(e->file->elf) != ELFCLASS64 ||
	        header.e_type != ET_DYN)
		return tk_fail(err, TK_EDATA, "not a 64-bit ELF shared object");
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
		status = tk_elf_read_symbols(elf, err);
	if (!status)
		status = tk_elf_read_relocs(elf, err);
	if (!status)
		status = tk_elf_describe_unnamed(elf, err);
	if (!status)
		read_run_path(elf);
	return status == TK_EDATA ? tk_error_add_context(err, "%s", path) : status;
}

void tk_elf_close(struct tk_elf *elf)
{
	for (size_t i = 0; i < elf->reloc_count; i++)
		free(elf->relocs[i].target);
	free(elf->relocs);
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
