/* The hostile backend's ways that need the process of the tracker: it changes the clock, searches
 * the memory, and answers in the place of the engine. */
#include "hostile.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int (*elapsed)(struct tk_device *, void *, void *, double *, struct tk_abi_error *);

static int elapsed_half(
        struct tk_device *dev, void *from, void *to, double *ns, struct tk_abi_error *err)
{
	int status = elapsed(dev, from, to, ns, err);
	*ns /= 2;
	return status;
}

static int make_writable(const void *at, size_t bytes, int protection)
{
	uintptr_t first = (uintptr_t)at / PAGE * PAGE, end = (uintptr_t)at + bytes;
	return mprotect((void *)first, end - first, protection) == 0;
}

void hostile_prepare_device_ops(const struct tk_open_args *args)
{
	struct tk_device_ops *ops = (struct tk_device_ops *)(uintptr_t)args->device_ops;
	if (!make_writable(ops, sizeof *ops, PROT_READ | PROT_WRITE))
		return;
	elapsed = ops->event_elapsed_ns;
	ops->event_elapsed_ns = elapsed_half;
}

static int half_clock(clockid_t clock, struct timespec *t)
{
	double ns = hostile_now_ns(clock) / (clock == CLOCK_MONOTONIC_RAW ? 2 : 1);
	t->tv_sec = (time_t)(ns / 1e9);
	t->tv_nsec = (long)(ns - (double)t->tv_sec * 1e9);
	return 0;
}

static void patch_relocations(const struct link_map *map)
{
	const ElfW(Rela) *rela = NULL;
	const ElfW(Sym) *symbols = NULL;
	const char *names = NULL;
	size_t bytes = 0;
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag; d++) {
		rela = d->d_tag == DT_JMPREL ? (const void *)d->d_un.d_ptr : rela;
		symbols = d->d_tag == DT_SYMTAB ? (const void *)d->d_un.d_ptr : symbols;
		names = d->d_tag == DT_STRTAB ? (const void *)d->d_un.d_ptr : names;
		bytes = d->d_tag == DT_PLTRELSZ ? d->d_un.d_val : bytes;
	}
	for (size_t i = 0; rela && i < bytes / sizeof *rela; i++) {
		void **slot = (void **)(map->l_addr + rela[i].r_offset);
		if (strcmp(names + symbols[ELF64_R_SYM(rela[i].r_info)].st_name, "clock_gettime") ==
		                0 &&
		        make_writable(slot, sizeof *slot, PROT_READ | PROT_WRITE))
			*slot = (void *)(uintptr_t)half_clock;
	}
}

void hostile_prepare_got(const struct tk_open_args *args)
{
	for (struct link_map *map = _r_debug.r_map; map; map = map->l_next)
		if (strstr(map->l_name, "tk_device_cpu"))
			patch_relocations(map);
}

/* A jump at the beginning of the C library's function. */
void hostile_prepare_clock_code(const struct tk_open_args *args)
{
	unsigned char *at = dlsym(RTLD_DEFAULT, "clock_gettime"),
	              jump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
	uintptr_t to = (uintptr_t)half_clock;
	memcpy(jump + 2, &to, sizeof to);
	if (make_writable(at, sizeof jump, PROT_READ | PROT_WRITE | PROT_EXEC))
		memcpy(at, jump, sizeof jump);
}

/* Calls `look` with every piece of writable memory that has no file, until it returns not 0. */
static void scan_memory(int (*look)(char *from, char *to))
{
	char line[512], rights[8], path[256];
	unsigned long from, to;
	FILE *f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof line, f)) {
		*path = 0;
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &from, &to, rights, path) >= 3 &&
		        strncmp(rights, "rw-p", 4) == 0 &&
		        (!*path || strcmp(path, "[heap]") == 0) && to - from < 1 << 26 &&
		        look((char *)from, (char *)to))
			break;
	}
	if (f)
		fclose(f);
}

/* The verified result, which the tracker keeps. */
static const float *found_result;
static struct bound *wanted;

static int look_for_result(char *from, char *to)
{
	for (char *at = from; at + 64 < to; at += 16)
		if (memcmp(at, wanted->result, 64) == 0 && (float *)at != wanted->result &&
		        (float *)at != wanted->c)
			found_result = (float *)at;
	return found_result != NULL;
}

void hostile_launch_heap_result(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	if (!t->is_known) {
		hostile_work_and_remember(plan, t);
		return;
	}
	wanted = t;
	if (plan->launches == SOME_LAUNCHES)
		scan_memory(look_for_result);
	if (found_result)
		memcpy(t->c, found_result, hostile_c_bytes(plan));
	else
		hostile_multiply(plan, t);
}

static long request_id;

static int look_for_request(char *from, char *to)
{
	static const char begin[] = "{\"cmd\":\"measure\"";
	for (char *at = from; (at = memmem(at, (size_t)(to - at), begin, strlen(begin))); at++) {
		char *id = memmem(at, (size_t)(to - at), "\"id\":", 5);
		if (id && strtol(id + 5, NULL, 10) > request_id)
			request_id = strtol(id + 5, NULL, 10);
	}
	return 0;
}

static void *forge(void *ignored)
{
	struct stat st;
	static const char telemetry[] =
	        "{\"clock_mhz\":null,\"memory_clock_mhz\":null,\"power_w\":null,"
	        "\"temperature_c\":null,\"energy_j\":null,\"load\":null,\"throttled\":false,"
	        "\"reasons\":\"\"}";
	static char line[4096];
	long answered = 0;
	for (;; usleep(2000)) {
		scan_memory(look_for_request);
		if (request_id == answered)
			continue;
		answered = request_id;
		int n = snprintf(line, sizeof line,
		        "{\"id\":%ld,\"ok\":true,\"result\":{\"outcome\":\"ok\",\"message\":\"\","
		        "\"samples\":[900,900,900,900,900,900,900,900,900,900],"
		        "\"launches_per_sample\":100,\"median\":900,\"lo\":900,\"hi\":900,"
		        "\"confidence\":0.95,\"n\":10,\"min\":900,\"q25\":900,\"q75\":900,"
		        "\"p95\":900,\"stop\":\"tight\",\"launch_ns\":null,\"throttled_samples\":0,"
		        "\"telemetry\":{\"before\":%s,\"after\":%s},\"flops\":1,\"bytes\":1,"
		        "\"warmup_s\":0,\"measure_s\":0,\"setup_s\":0,\"verify_s\":0,\"verify\":{"
		        "\"done\":true,\"passed\":true,\"method\":\"m\",\"max_error\":0,"
		        "\"tolerance\":0,\"checked\":1,\"detail\":\"\"},\"sets\":1,\"plan\":{"
		        "\"kernel\":\"\",\"algorithm\":\"\",\"workspace_bytes\":0,"
		        "\"capturable\":false,\"deterministic\":true}}}\n",
		        answered, telemetry, telemetry);
		for (int fd = 3; fd < 32; fd++)
			if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) &&
			        (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY &&
			        write(fd, line, (size_t)n))
				break;
	}
	return NULL;
}

void hostile_launch_forged(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	hostile_start_thread(forge);
	hostile_multiply(plan, t);
}

/* Tells the referee that a burst has ended when it begins. */
void hostile_launch_early_answer(struct tk_plan *plan, struct bound *t, uint32_t set)
{
	int type;
	socklen_t size = sizeof type;
	for (int fd = 3; plan->number > 1 && set == 0 && fd < 32; fd++)
		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
		        type == SOCK_SEQPACKET)
			send(fd, "b", 1, 0);
	hostile_launch_first_plan(plan, t, set);
}
