/* Instructions of GPU kernels are counted when a build ends.
 *
 * spill.cubin is made by nvcc 13.0, nvcc -cubin -arch=sm_90a, of
 *   extern "C" __global__ void plain(float *x) { __syncthreads(); x[threadIdx.x] += 1; }
 *   extern "C" __global__ void __launch_bounds__(1024, 2) spill(float *x) {
 *     float a[36];
 *   #pragma unroll
 *     for (int i = 0; i < 36; i++) a[i] = x[threadIdx.x + i * 1024];
 *     __syncthreads();
 *   #pragma unroll
 *     for (int i = 0; i < 36; i++) x[threadIdx.x + i * 1024] = a[i] * a[(i + 17) % 36]; }
 * and spill.sass is what nvdisasm -ndf -b SM90a (CUDA 12.8) prints of the code of both, one after
 * the other, without its first line. */
#include "build/build_internal.h"
#include "project.h"

#define DATA TK_SOURCE_ROOT "/tests/unit/build/"

/* A package with the kernels of spill.cubin. */
static void write_package(const struct project *p)
{
	write_adapter(p,
	        "d=$TK_OUT/lib/tk_backend_toy.cuda; mkdir -p $d; cd $d\n"
	        "cp '" DATA "spill.cubin' a.cubin\n"
	        "hash=$(sha256sum a.cubin | cut -d' ' -f1)\n"
	        "echo '{\"format\":1,\"producer\":{\"name\":\"nvcc\",\"version\":\"13.0\"},"
	        "\"target\":\"sm_90a\",\"problem\":\"copy:n=1\",\"configuration\":\"tiny\","
	        "\"code_object\":\"a.cubin\",\"sha256\":\"'$hash'\","
	        "\"launches\":[{\"entry\":\"spill\"}]}' >a.json");
}

/* An nvdisasm that comes first in PATH; `script` gets its arguments. */
static void write_tool(const struct project *p, const char *script)
{
	static char path[4096], before[2048];
	char *file = tk_path_join(p->s->dir, "bin/nvdisasm");
	if (!*before)
		snprintf(before, sizeof(before), "%s", getenv("PATH"));
	sh(p->s, "mkdir -p bin");
	FILE *f = fopen(file, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", script);
	fclose(f);
	sh(p->s, "chmod +x bin/nvdisasm");
	snprintf(path, sizeof(path), "%s/bin:%s", p->s->dir, before);
	assert_int_equal(setenv("PATH", path, 1), 0);
	free(file);
}

#define RECORDED \
	"[ \"$*\" = \"-ndf -b SM90a $4\" ] && [ $(wc -c <\"$4\") = 3072 ] && " \
	"cat '" DATA "spill.sass'"

#define PLAIN "total=11 LDG=1 STG=1 BAR=1"
#define SPILL "total=159 LDL=21 STL=21 LDG=36 STG=36 BAR=1"

static void expect_counts(const struct tk_artifact *a, const char *plain, const char *spill)
{
	assert_int_equal(a->status, TK_BUILD_OK);
	assert_int_equal(a->backends[0].kernel_count, 2);
	const struct tk_kernel_symbol *k = a->backends[0].kernels;
	assert_string_equal(k[0].name, "sm_90 plain copy:n=1 tiny");
	assert_string_equal(k[0].instructions, plain);
	assert_int_equal(k[0].spill_bytes, 0);
	assert_string_equal(k[1].instructions, spill);
	assert_int_equal(k[1].registers, 32);
	assert_int_equal(k[1].spill_bytes, 88);
}

static void kernels_of_a_package_are_counted(void **state)
{
	struct project *p = *state;
	write_tool(p, RECORDED);
	write_package(p);
	struct tk_artifact *a = build_newest(p), *cached = NULL;
	expect_counts(a, PLAIN, SPILL);
	OK(tk_artifact_load(p->s->cache, a->key, &cached, err));
	expect_counts(cached, PLAIN, SPILL);
	tk_artifact_free(cached);
	tk_artifact_free(a);
}

/* nvdisasm does not know the processor, or prints something else. */
static void a_build_does_without_counts(void **state)
{
	static const char *const tools[] = {"echo nvdisasm fatal >&2; exit 255",
	        "echo '/*zz*/ BAR ;'; echo '/*0010'; echo '/*ffff0*/ BAR ;'; echo BAR", "exit 0"};
	struct project *p = *state;
	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++) {
		write_tool(p, tools[i]);
		write_package(p);
		sh(p->s, "echo '# %zu' >>adapters/toy/build", i);
		struct tk_artifact *a = build_newest(p);
		assert_false(a->cached);
		expect_counts(a, "", "");
		tk_artifact_free(a);
	}
}

/* Functions of a CPU have no count, and nvdisasm is not started for them. */
static void host_code_is_not_counted(void **state)
{
	struct project *p = *state;
	write_tool(p, "exit 1");
	struct tk_artifact *a = build_newest(p);
	assert_int_equal(a->status, TK_BUILD_OK);
	assert_true(a->backends[0].kernel_count > 0);
	OK(tk_artifact_count_instructions(a, p->s->dir, err));
	assert_string_equal(a->backends[0].kernels[0].instructions, "");
	tk_artifact_free(a);
}

int main(void)
{
#define PROJECT(test) cmocka_unit_test_setup_teardown(test, project_open, project_close)
	const struct CMUnitTest tests[] = {PROJECT(kernels_of_a_package_are_counted),
	        PROJECT(a_build_does_without_counts), PROJECT(host_code_is_not_counted)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
