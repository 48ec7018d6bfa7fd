/* The launcher of compiled kernel packages, with a driver that records what it is given. */
#include "arguments.h"
#include "base/file.h"
#include "base/hash.h"
#include "launcher_stub.h"
#include "package.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PROBLEM "gemm:a=f16,acc=f32,b=f16,c=f16,k=64,m=128,n=32,ta=n,tb=n"

/* ---- manifests ---- */

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
static const char good[] =
        "{\"format\":1,\"producer\":{\"name\":\"triton\",\"version\":\"3.6.0\"},"
        "\"target\":\"sm_90a\",\"problem\":\"" PROBLEM "\",\"configuration\":\"128x32\","
        "\"code_object\":\"gemm.cubin\",\"sha256\":\"" HASH "\","
        "\"launches\":[{\"entry\":\"gemm\",\"grid\":[4,2,1],\"block\":[128,1,1],"
        "\"cluster\":[2,1,1],\"shared_bytes\":49152,\"cooperative\":false,\"args\":["
        "{\"tensor\":\"A\"},{\"tensor\":\"c\"},{\"value\":-5,\"type\":\"i32\"},"
        "{\"value\":0.5,\"type\":\"f32\"},{\"value\":1,\"type\":\"f64\"},"
        "{\"scratch\":\"global\",\"bytes\":256},"
        "{\"tensormap\":\"B\",\"type\":\"f16\",\"dims\":[32,64],\"strides_bytes\":[64],"
        "\"box\":[32,64],\"swizzle\":64,\"l2_promotion\":128,\"oob_fill\":\"nan\"}]}]}";

static int parse(const char *text, struct launcher_manifest **out, struct tk_abi_error *err)
{
	*err = (struct tk_abi_error){.size = sizeof *err};
	return launcher_manifest_parse(text, strlen(text), out, err);
}

static void scratch_of_one_name_is_shared(void **state)
{
	static const char several[] =
	        "{\"format\":1,\"producer\":{\"name\":\"x\",\"version\":\"1\"},"
	        "\"target\":\"any\",\"problem\":\"" PROBLEM "\",\"configuration\":\"c\","
	        "\"code_object\":\"a.so\",\"sha256\":\"" HASH "\",\"launches\":["
	        "{\"entry\":\"pack\",\"grid\":[4,2,1],\"block\":[1,1,1],\"shared_bytes\":0,"
	        "\"args\":[{\"scratch\":\"a\",\"bytes\":64},{\"scratch\":\"b\",\"bytes\":8}]},"
	        "{\"entry\":\"use\",\"grid\":[4,2,1],\"block\":[1,1,1],\"shared_bytes\":0,"
	        "\"args\":[{\"scratch\":\"a\",\"bytes\":128}]}]}";
	struct launcher_manifest *m = NULL;
	struct tk_abi_error err;
	if (parse(several, &m, &err))
		fail_msg("%s", err.message);
	assert_int_equal(m->scratch_count, 2);
	assert_int_equal(m->scratches[0].bytes, 128);
	assert_int_equal(m->scratches[1].bytes, 8);
	assert_int_equal(m->launches[0].args[1].scratch, 1);
	assert_int_equal(m->launches[1].args[0].scratch, 0);
	assert_int_equal(m->launches[0].args[0].scratch_bytes, 64);
	launcher_manifest_free(m);
}

static void a_manifest_is_read(void **state)
{
	struct launcher_manifest *m = NULL;
	struct tk_abi_error err;
	int n = -5;
	float f = 0.5f;
	if (parse(good, &m, &err))
		fail_msg("%s", err.message);
	const struct launcher_launch *l = m->launches;
	assert_string_equal(m->producer, "triton 3.6.0");
	assert_string_equal(m->problem, PROBLEM);
	assert_string_equal(m->config, "128x32");
	assert_true(m->deterministic);
	assert_int_equal(m->launch_count, 1);
	assert_int_equal(l->grid[0] * l->grid[1] * l->grid[2], 8);
	assert_int_equal(l->cluster[0], 2);
	assert_int_equal(l->shared_bytes, 49152);
	assert_int_equal(l->arg_count, 7);
	assert_int_equal(l->args[1].tensor, TK_T_C);
	assert_memory_equal(l->args[2].value, &n, 4);
	assert_int_equal(l->args[2].bytes, 4);
	assert_memory_equal(l->args[3].value, &f, 4);
	assert_int_equal(l->args[4].bytes, 8);
	assert_int_equal(l->args[5].scratch_bytes, 256);
	assert_int_equal(m->scratch_count, 1);
	assert_int_equal(m->scratches[0].bytes, 256);
	assert_int_equal(l->args[6].bytes, LAUNCHER_TENSOR_MAP_BYTES);
	assert_int_equal(l->args[6].map.strides_bytes[0], 2);
	assert_int_equal(l->args[6].map.swizzle_bytes, 64);
	assert_true(l->args[6].map.nan_fill);
	launcher_manifest_free(m);
}

/* `good` with the first `from` replaced. The caller frees it. */
static char *replace(const char *from, const char *to)
{
	const char *at = strstr(good, from);
	char *text = NULL;
	assert_non_null(at);
	assert_true(asprintf(&text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from)) > 0);
	return text;
}

static void wrong_manifests_are_refused(void **state)
{
	/* clang-format off */
	static const struct { const char *from, *to, *message; } cases[] = {
		{"{\"format\"", "[\"format\"", "1:"},
		{"\"format\":1", "\"format\":2", "newer tracker"},
		{"\"format\":1", "\"format\":1,\"format\":1", "duplicate"},
		{"\"sm_90a\"", "90", "\"target\" is missing or not a text"},
		{"\"sm_90a\"", "\"sm\\n90\"", "control character"},
		{"\"producer\":{\"name\":\"triton\"", "\"producer\":{\"nome\":\"triton\"",
			"\"name\" is missing"},
		{"gemm.cubin", "../gemm.cubin", "not the name of a file"},
		{"gemm.cubin", ".cubin", "not the name of a file"},
		{HASH, "0123", "not 64 hexadecimal digits"},
		{"\"launches\":[", "\"launches\":[],\"other\":[", "not a list of 1 to 16"},
		{"[4,2,1]", "[4,2]", "\"grid\" is missing or not a list of 3"},
		{"[4,2,1]", "[4,0,1]", "from 1 to 2147483647"},
		{"[4,2,1]", "[5,2,1]", "not a multiple of the cluster"},
		{"[128,1,1]", "[128,16,1]", "more than 1024 threads"},
		{"\"shared_bytes\":49152", "\"shared_bytes\":-1",
			"\"shared_bytes\" is missing or not"},
		{"\"cooperative\":false", "\"cooperative\":0", "not true or false"},
		{"\"cooperative\":false", "\"prefer_shared\":1", "not true or false"},
		{"{\"tensor\":\"A\"}", "{\"tensor\":\"Q\"}", "argument 0: \"Q\" is not a tensor"},
		{"{\"tensor\":\"A\"}", "{\"tensor\":\"A\",\"value\":1}", "exactly one of"},
		{"{\"tensor\":\"A\"}", "{}", "exactly one of"},
		{"{\"tensor\":\"A\"}", "3", "exactly one of"},
		{"\"value\":-5", "\"value\":4294967296", "does not fit into its type i32"},
		{"\"value\":-5", "\"value\":0.5", "does not fit"},
		{"\"type\":\"i32\"", "\"type\":\"bf16\"", "the type of a value"},
		{"\"value\":0.5", "\"value\":\"a\"", "not a number"},
		{"\"bytes\":256", "\"bytes\":-1", "\"bytes\" is missing"},
		{"\"dims\":[32,64]", "\"dims\":[]", "0 \"dims\", expected 1 to 5"},
		{"\"strides_bytes\":[64]", "\"strides_bytes\":[60]", "not a multiple of 16"},
		{"\"box\":[32,64]", "\"box\":[32,512]", "from 1 to 256"},
		{"\"swizzle\":64", "\"swizzle\":32", "larger than shared memory or the swizzle"},
		{"\"oob_fill\":\"nan\"", "\"oob_fill\":1", "\"oob_fill\" is not"},
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct launcher_manifest *m = NULL;
		struct tk_abi_error err;
		char *text = replace(cases[i].from, cases[i].to);
		int status = parse(text, &m, &err);
		if (status != TK_ABI_INVALID || m || !strstr(err.message, cases[i].message))
			fail_msg("%s -> %s: status %d, \"%s\"", cases[i].from, cases[i].to, status,
			        err.message);
		free(text);
	}
}

static void every_truncation_is_refused(void **state)
{
	for (size_t len = 0; len < sizeof good - 1; len++) {
		struct launcher_manifest *m = NULL;
		struct tk_abi_error err = {.size = sizeof err};
		assert_int_equal(launcher_manifest_parse(good, len, &m, &err), TK_ABI_INVALID);
	}
}

/* ---- arguments ---- */

static char memory[3][16384];

static void fill_tensors(struct tk_tensor *t)
{
	static const size_t bytes[] = {128 * 64 * 2, 64 * 32 * 2, 128 * 32 * 2};
	for (int i = 0; i < 3; i++)
		t[i] = (struct tk_tensor){.size = sizeof *t, .data = memory[i], .bytes = bytes[i]};
}

static void arguments_are_packed(void **state)
{
	struct launcher_manifest *m = NULL;
	struct launcher_arguments a;
	struct tk_abi_error err;
	struct tk_tensor t[3];
	void *scratch[1] = {&launcher_stub};
	void *pointer;
	double one = 1;
	fill_tensors(t);
	assert_int_equal(parse(good, &m, &err), TK_ABI_OK);
	if (launcher_arguments_pack(&a, m->launches, t, 3, scratch, &err))
		fail_msg("%s", err.message);
	memcpy(&pointer, a.params[1], sizeof pointer);
	assert_ptr_equal(pointer, memory[TK_T_C]);
	assert_memory_equal(a.params[4], &one, 8);
	memcpy(&pointer, a.params[5], sizeof pointer);
	assert_ptr_equal(pointer, &launcher_stub);
	memcpy(&pointer, a.params[6], sizeof pointer);
	assert_ptr_equal(pointer, memory[TK_T_B]);
	assert_int_equal((uintptr_t)a.params[6] % 64, 0);
	launcher_arguments_free(&a);

	assert_int_equal(
	        launcher_arguments_pack(&a, m->launches, t, 2, scratch, &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "argument 1 of gemm: the problem has 2 tensors"));
	launcher_arguments_free(&a);
	t[TK_T_B].bytes--;
	assert_int_equal(
	        launcher_arguments_pack(&a, m->launches, t, 3, scratch, &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "reaches beyond the 4095 bytes"));
	launcher_arguments_free(&a);
	launcher_manifest_free(m);
}

/* ---- a package ---- */

struct rig {
	char *dir;
	struct tk_backend_ctx *ctx;
	struct tk_problem problem;
	struct tk_gemm gemm;
};

static void write_file(const char *dir, const char *name, const void *data, size_t len)
{
	char *path = tk_path_join(dir, name);
	assert_int_equal(tk_file_write_nosync(path, data, len, NULL), 0);
	free(path);
}

static void write_code(const struct rig *r, char hex[TK_HASH_HEX_SIZE])
{
	char code[64] = "\177ELF and what follows";
	tk_hash_bytes(code, sizeof code, hex);
	write_file(r->dir, "gemm.cubin", code, sizeof code);
}

/* members: others of the manifest, each with a comma after it. */
static void write_manifest_with(const struct rig *r, const char *name, const char *config,
        const char *entry, const char *hash, const char *members)
{
	char text[2000];
	snprintf(text, sizeof text,
	        "{%s\"format\":1,\"producer\":{\"name\":\"triton\",\"version\":\"3.6.0\"},"
	        "\"target\":\"sm_90a\",\"problem\":\"" PROBLEM "\",\"configuration\":\"%s\","
	        "\"code_object\":\"gemm.cubin\",\"sha256\":\"%s\",\"launches\":[{\"entry\":\"%s\","
	        "\"grid\":[4,1,1],\"block\":[128,1,1],\"shared_bytes\":0,\"args\":[{\"tensor\":"
	        "\"A\"},{\"tensor\":\"B\"},{\"tensor\":\"C\"},{\"value\":64,\"type\":\"i32\"},"
	        "{\"scratch\":\"global\",\"bytes\":0},{\"scratch\":\"profile\",\"bytes\":512}]}]}",
	        members, config, hash, entry);
	write_file(r->dir, name, text, strlen(text));
}

static void write_manifest(const struct rig *r, const char *name, const char *config,
        const char *entry, const char *hash)
{
	write_manifest_with(r, name, config, entry, hash, "");
}

static int alloc(struct tk_device *dev, size_t bytes, void **out, struct tk_abi_error *err)
{
	*out = malloc(bytes);
	return *out ? TK_ABI_OK : TK_ABI_NO_MEMORY;
}

static void release(struct tk_device *dev, void *at)
{
	free(at);
}

static int open_package(struct rig *r, const char *arch, struct tk_abi_error *err)
{
	static const struct tk_device_ops ops = {
	        .size = sizeof ops, .alloc = alloc, .release = release};
	struct tk_open_args args = {
	        .size = sizeof args, .device_ops = &ops, .options = "", .package = r->dir};
	snprintf(args.device_info.arch, sizeof args.device_info.arch, "%s", arch);
	*err = (struct tk_abi_error){.size = sizeof *err};
	return tk_backend_entry()->open(&args, &r->ctx, err);
}

static int set_up(void **state)
{
	struct rig *r = calloc(1, sizeof *r);
	char hex[TK_HASH_HEX_SIZE];
	memset(&launcher_stub, 0, sizeof launcher_stub);
	assert_int_equal(tk_dir_create_temp("/tmp", "launcher-", &r->dir, NULL), 0);
	write_code(r, hex);
	write_manifest(r, "a.json", "first", "gemm", hex);
	write_manifest(r, "b.json", "second", "gemm", hex);
	r->gemm = (struct tk_gemm){.size = sizeof r->gemm, .m = 128, .n = 32, .k = 64};
	r->problem = (struct tk_problem){
	        .size = sizeof r->problem, .op = TK_OP_GEMM, .text = PROBLEM, .gemm = &r->gemm};
	*state = r;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *r = *state;
	tk_backend_entry()->close(r->ctx);
	tk_dir_remove(r->dir, NULL);
	free(r->dir);
	free(r);
	return launcher_stub.loaded; /* every module is unloaded */
}

static int plan(struct rig *r, const char *config, struct tk_plan **out, struct tk_abi_error *err)
{
	struct tk_plan_info info = {.size = sizeof info};
	return tk_backend_entry()->plan(r->ctx, &r->problem, config, 2, out, &info, err);
}

static void a_kernel_is_launched(void **state)
{
	struct rig *r = *state;
	const struct tk_backend *b = tk_backend_entry();
	struct tk_abi_error err;
	struct tk_plan *p = NULL;
	struct tk_plan_info info = {.size = sizeof info};
	struct tk_tensor t[3];
	void *pointer;
	int k = 64, stream = 0;
	fill_tensors(t);
	launcher_stub.param_count = 6;
	memcpy(launcher_stub.param_bytes, (size_t[]){8, 8, 8, 4, 8, 8}, 6 * sizeof(size_t));
	assert_int_equal(open_package(r, "sm_90", &err), TK_ABI_OK);
	if (b->plan(r->ctx, &r->problem, NULL, 2, &p, &info, &err))
		fail_msg("%s", err.message);
	assert_string_equal(info.kernel, "gemm");
	assert_string_equal(info.algorithm, "first");
	assert_int_equal(info.workspace_bytes, 512);
	assert_int_equal(info.capturable, 1);
	assert_int_equal(b->bind(p, 1, t, 3, &err), TK_ABI_OK);
	assert_int_equal(b->bind(p, 1, t, 3, &err), TK_ABI_OK); /* again: nothing leaks */
	assert_int_equal(b->bind(p, 2, t, 3, &err), TK_ABI_INVALID);
	assert_int_equal(b->launch(p, &stream, 1, &err), TK_ABI_OK);
	assert_int_equal(launcher_stub.launches, 1);
	assert_ptr_equal(launcher_stub.stream, &stream);
	memcpy(&pointer, launcher_stub.values[TK_T_B], sizeof pointer);
	assert_ptr_equal(pointer, memory[TK_T_B]);
	assert_memory_equal(launcher_stub.values[3], &k, 4);
	memcpy(&pointer, launcher_stub.values[4], sizeof pointer);
	assert_null(pointer);
	memcpy(&pointer, launcher_stub.values[5], sizeof pointer);
	assert_non_null(pointer);
	b->unplan(p);
}

static void configurations_are_listed(void **state)
{
	struct rig *r = *state;
	struct tk_abi_error err;
	struct tk_plan *p = NULL;
	const char *const *names;
	uint32_t count = 0;
	assert_int_equal(open_package(r, "sm_90", &err), TK_ABI_OK);
	assert_int_equal(
	        tk_backend_entry()->configs(r->ctx, &r->problem, &names, &count, &err), TK_ABI_OK);
	assert_int_equal(count, 2);
	assert_string_equal(names[1], "second");
	assert_int_equal(plan(r, "second", &p, &err), TK_ABI_OK);
	tk_backend_entry()->unplan(p);
	assert_int_equal(plan(r, "third", &p, &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "unknown configuration \"third\""));
}

static void parameters_are_a_space(void **state)
{
	static const int64_t expected[] = {128, 8}, other[] = {64, 8}, none[] = {128, 4};
	struct rig *r = *state;
	const struct tk_backend *b = tk_backend_entry();
	const struct tk_space *space = NULL;
	struct tk_abi_error err;
	struct tk_plan *p = NULL;
	char hex[TK_HASH_HEX_SIZE];
	write_code(r, hex);
	write_manifest_with(r, "a.json", "first", "gemm", hex,
	        "\"parameters\":{\"block_m\":128,\"num_warps\":8},");
	write_manifest_with(r, "b.json", "second", "gemm", hex,
	        "\"parameters\":{\"num_warps\":8,\"block_m\":64},");
	write_manifest_with(r, "c.json", "third", "gemm", hex,
	        "\"parameters\":{\"block_m\":64,\"num_warps\":4},");
	if (open_package(r, "sm_90", &err) || b->space(r->ctx, &r->problem, &space, &err))
		fail_msg("%s", err.message);
	assert_int_equal(b->space(r->ctx, &r->problem, &space, &err), TK_ABI_OK); /* again */
	assert_int_equal(space->count, 2);
	assert_string_equal(space->parameters[0].name, "block_m");
	assert_int_equal(space->parameters[0].count, 2);
	assert_int_equal(space->parameters[0].values[0], 64);
	assert_int_equal(space->parameters[0].values[1], 128);
	assert_int_equal(space->parameters[1].values[0], 4);
	assert_memory_equal(space->best, expected, sizeof expected);
	assert_true(space->allows(r->ctx, &r->problem, expected));
	assert_true(space->allows(r->ctx, &r->problem, other));
	assert_false(space->allows(r->ctx, &r->problem, none));

	/* a point is a configuration, and so is its name */
	static const char *const configs[] = {"block_m=64,num_warps=8", "second"};
	for (int i = 0; i < 2; i++) {
		struct tk_plan_info info = {.size = sizeof info};
		if (b->plan(r->ctx, &r->problem, configs[i], 2, &p, &info, &err))
			fail_msg("%s", err.message);
		assert_string_equal(info.algorithm, "second");
		b->unplan(p);
	}
	assert_int_equal(plan(r, "block_m=128,num_warps=4", &p, &err), TK_ABI_INVALID);
	assert_int_equal(plan(r, "num_warps=8,block_m=64", &p, &err), TK_ABI_INVALID);
}

static void a_package_without_parameters_has_no_space(void **state)
{
	struct rig *r = *state;
	const struct tk_space *space = NULL;
	struct tk_abi_error err;
	assert_int_equal(open_package(r, "sm_90", &err), TK_ABI_OK);
	assert_int_equal(
	        tk_backend_entry()->space(r->ctx, &r->problem, &space, &err), TK_ABI_UNSUPPORTED);
}

static void parameters_that_do_not_fit_each_other(void **state)
{
	/* clang-format off */
	static const struct { const char *parameters, *message; } cases[] = {
		{"", "other names than those of the configuration \"first\""},
		{"\"parameters\":{\"block_m\":64},", "other names than"},
		{"\"parameters\":{\"block_m\":64,\"stages\":3},", "other names than"},
		{"\"parameters\":{\"block_m\":64,\"num_warps\":8,\"z\":1},", "other names than"},
		{"\"parameters\":{\"num_warps\":8,\"block_m\":128},",
			"configuration \"first\" of this problem has the same \"parameters\""},
		{"\"parameters\":{},", "not an object with 1 to 16 members"},
		{"\"parameters\":3,", "not an object with 1 to 16 members"},
		{"\"parameters\":{\"Block\":1},", "the name \"Block\" in"},
		{"\"parameters\":{\"block_m\":true},", "\"block_m\" is not a whole number"},
	};
	/* clang-format on */
	struct rig *r = *state;
	char hex[TK_HASH_HEX_SIZE];
	write_code(r, hex);
	write_manifest_with(r, "a.json", "first", "gemm", hex,
	        "\"parameters\":{\"block_m\":128,\"num_warps\":8},");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_abi_error err;
		write_manifest_with(r, "b.json", "second", "gemm", hex, cases[i].parameters);
		if (open_package(r, "sm_90", &err) != TK_ABI_INVALID ||
		        !strstr(err.message, "b.json") || !strstr(err.message, cases[i].message))
			fail_msg("%s: \"%s\"", cases[i].parameters, err.message);
	}
}

static void a_point_is_a_short_text(void **state)
{
	struct rig *r = *state;
	struct tk_abi_error err;
	char hex[TK_HASH_HEX_SIZE], members[600] = "\"parameters\":{";
	write_code(r, hex);
	for (int i = 0; i < 6; i++)
		snprintf(members + strlen(members), sizeof members - strlen(members),
		        "%s\"a_parameter_with_a_name_%d\":1", i ? "," : "", i);
	strcat(members, "},");
	write_manifest_with(r, "a.json", "first", "gemm", hex, members);
	assert_int_equal(open_package(r, "sm_90", &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "more than 127 bytes as text: a_parameter_with_a_na"));
}

static void other_problems_and_devices_are_unsupported(void **state)
{
	struct rig *r = *state;
	struct tk_abi_error err;
	assert_int_equal(open_package(r, "sm_80", &err), TK_ABI_OK);
	assert_int_equal(
	        tk_backend_entry()->supports(r->ctx, &r->problem, &err), TK_ABI_UNSUPPORTED);
	assert_non_null(strstr(err.message, "compiled for sm_90a, this device has sm_80"));
	r->problem.text = "gemm:other";
	assert_int_equal(
	        tk_backend_entry()->supports(r->ctx, &r->problem, &err), TK_ABI_UNSUPPORTED);
	assert_non_null(strstr(err.message, "no kernel for this problem"));
}

static void changed_code_is_refused(void **state)
{
	struct rig *r = *state;
	struct tk_abi_error err;
	struct tk_plan *p = NULL;
	char code[64] = "\177ELF and something else", *link;
	assert_int_equal(open_package(r, "sm_90", &err), TK_ABI_OK);
	write_file(r->dir, "gemm.cubin", code, sizeof code);
	assert_int_equal(plan(r, NULL, &p, &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "does not have the SHA-256 hash"));
	write_file(r->dir, "gemm.cubin", code, 5);
	assert_int_equal(plan(r, NULL, &p, &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "not an ELF file"));
	link = tk_path_join(r->dir, "gemm.cubin");
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	assert_int_equal(plan(r, NULL, &p, &err), TK_ABI_INVALID);
	free(link);
	assert_int_equal(launcher_stub.loaded, 0);
}

static void other_parameters_are_refused(void **state)
{
	static const struct {
		uint32_t count;
		size_t third;
		const char *message;
	} cases[] = {{5, 4, "has 5 parameters, its manifest has 6 arguments"},
	        {7, 4, "more parameters than the 6 arguments"},
	        {6, 8, "parameter 3 of gemm has 8 bytes, its manifest says 4"}};
	struct rig *r = *state;
	struct tk_abi_error err;
	struct tk_plan *p = NULL;
	assert_int_equal(open_package(r, "sm_90", &err), TK_ABI_OK);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		launcher_stub.param_count = cases[i].count;
		for (int k = 0; k < 8; k++)
			launcher_stub.param_bytes[k] = k == 3 ? cases[i].third : 8;
		assert_int_equal(plan(r, NULL, &p, &err), TK_ABI_INVALID);
		if (!strstr(err.message, cases[i].message))
			fail_msg("%s", err.message);
	}
}

static void packages_that_cannot_be_used(void **state)
{
	struct rig *r = *state;
	struct tk_abi_error err;
	char hex[TK_HASH_HEX_SIZE];
	write_code(r, hex);
	write_manifest(r, "c.json", "first", "gemm", hex);
	assert_int_equal(open_package(r, "sm_90", &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "c.json: the package has the configuration \"first\""));
	write_file(r->dir, "c.json", "{}", 2);
	assert_int_equal(open_package(r, "sm_90", &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "c.json: \"format\" is missing"));
	char *dir = r->dir, absent[] = "/tmp/there is no such package";
	r->dir = NULL;
	assert_int_equal(open_package(r, "sm_90", &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "needs a compiled kernel package"));
	r->dir = absent;
	assert_int_equal(open_package(r, "sm_90", &err), TK_ABI_INVALID);
	r->dir = dir;
}

static void a_problem_that_did_not_compile_is_a_failure(void **state)
{
	static const char text[] =
	        "{\"format\":1,\"producer\":{\"name\":\"triton\",\"version\":\"3.6.0\"},"
	        "\"target\":\"sm_90a\",\"problem\":\"gemm:m=1\",\"configuration\":\"x\","
	        "\"error\":\"OutOfResources: shared memory\"}";
	struct rig *r = *state;
	struct tk_abi_error err;
	struct tk_plan *p = NULL;
	write_file(r->dir, "c.json", text, strlen(text));
	assert_int_equal(open_package(r, "sm_90", &err), TK_ABI_OK);
	r->problem.text = "gemm:m=1";
	assert_int_equal(tk_backend_entry()->supports(r->ctx, &r->problem, &err), TK_ABI_OK);
	assert_int_equal(plan(r, NULL, &p, &err), TK_ABI_INTERNAL);
	assert_string_equal(
	        err.message, "triton 3.6.0 could not compile it: OutOfResources: shared memory");
}

int main(void)
{
#define WITH_PACKAGE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_manifest_is_read),
	        cmocka_unit_test(scratch_of_one_name_is_shared),
	        cmocka_unit_test(wrong_manifests_are_refused),
	        cmocka_unit_test(every_truncation_is_refused),
	        cmocka_unit_test(arguments_are_packed),
	        WITH_PACKAGE(a_kernel_is_launched),
	        WITH_PACKAGE(configurations_are_listed),
	        WITH_PACKAGE(parameters_are_a_space),
	        WITH_PACKAGE(a_package_without_parameters_has_no_space),
	        WITH_PACKAGE(parameters_that_do_not_fit_each_other),
	        WITH_PACKAGE(a_point_is_a_short_text),
	        WITH_PACKAGE(other_problems_and_devices_are_unsupported),
	        WITH_PACKAGE(changed_code_is_refused),
	        WITH_PACKAGE(other_parameters_are_refused),
	        WITH_PACKAGE(packages_that_cannot_be_used),
	        WITH_PACKAGE(a_problem_that_did_not_compile_is_a_failure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
