/* Compiled kernel packages as backends of an artifact.
 *
 * scale.cubin is made by nvcc 13.0: nvcc -cubin -arch=sm_90a of
 *   extern "C" __global__ void scale(float *to, const float *from, float factor, int n)
 *   { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) to[i] = factor * from[i]; } */
#include "project.h"
#include <math.h>

/* %s: the hash of the code object */
#define MANIFEST \
	"{\"format\":1,\"producer\":{\"name\":\"triton\",\"version\":\"3.6.0\"},\"target\":\"sm_" \
	"90a\",\"problem\":\"gemm:m=1\",\"configuration\":\"tiny\",\"code_object\":\"a.cubin\"," \
	"\"sha256\":\"%s\",\"launches\":[{\"entry\":\"scale\"}]}"

/* An adapter that leaves a package with this manifest; then `more` is run in its folder. */
static void write_package_adapter(const struct project *p, const char *manifest, const char *more)
{
	char script[3000];
	snprintf(script, sizeof script,
	        "d=$TK_OUT/lib/tk_backend_toy.cuda; mkdir -p $d; cd $d\n"
	        "cp '" TK_SOURCE_ROOT "/tests/unit/build/scale.cubin' a.cubin\n"
	        "hash=$(sha256sum a.cubin | cut -d' ' -f1)\n"
	        "sed \"s/%%s/$hash/\" >a.json <<'END'\n%s\nEND\n%s",
	        manifest, more);
	write_adapter(p, script);
}

static void a_package_is_a_backend(void **state)
{
	struct project *p = *state;
	write_package_adapter(p, MANIFEST, "");
	struct tk_artifact *a = build_newest(p);
	if (a->status != TK_BUILD_OK)
		fail_msg("%s", a->message);
	assert_int_equal(a->backend_count, 1);
	assert_string_equal(a->backends[0].name, "toy");
	assert_non_null(strstr(a->backends[0].path, "/lib/tk_backend_toy.cuda"));
	assert_int_equal(a->backends[0].kernel_count, 1);
	const struct tk_kernel_symbol *k = &a->backends[0].kernels[0];
	assert_string_equal(k->name, "sm_90 scale gemm:m=1 tiny");
	assert_true(k->registers > 0 && k->registers < 64);
	assert_int_equal(k->spill_bytes, 0);
	assert_true(k->size_bytes > 0);
	tk_artifact_free(a);
}

/* The compiler's version and notes beside the code are not part of the hash, the launch is. */
static void the_code_hash_is_that_of_the_code(void **state)
{
	static const char *const changes[] = {"", "sed -i 's/3.6.0/3.7.1/' a.json",
	        "sed -i 's/\"entry\":\"scale\"/\"entry\":\"scale\",\"grid\":[2,1,1]/' a.json"};
	char hashes[3][TK_HASH_HEX_SIZE];
	struct project *p = *state;
	for (int i = 0; i < 3; i++) {
		write_package_adapter(p, MANIFEST, changes[i]);
		struct tk_artifact *a = build_newest(p);
		assert_int_equal(a->status, TK_BUILD_OK);
		memcpy(hashes[i], a->backends[0].code_hash, TK_HASH_HEX_SIZE);
		tk_artifact_free(a);
	}
	assert_string_equal(hashes[0], hashes[1]);
	assert_string_not_equal(hashes[0], hashes[2]);
}

/* Of a package for CPUs, a code object is a shared library and counts as one kernel. */
static void code_of_a_cpu_is_hashed(void **state)
{
	static const char *const sources[] = {"3", "3 /* the same */", "4"};
	char hashes[3][TK_HASH_HEX_SIZE], script[1500];
	struct project *p = *state;
	for (int i = 0; i < 3; i++) {
		snprintf(script, sizeof script,
		        "d=$TK_OUT/lib/tk_backend_toy.cpu; mkdir -p $d; cd $d\n"
		        "echo 'int scale(int x) { return %s * x; }' >a.c\n"
		        "cc -O2 -shared -fPIC -nostdlib -o a.so a.c; rm a.c\n"
		        "hash=$(sha256sum a.so | cut -d' ' -f1)\n"
		        "sed \"s/%%s/$hash/; s/a.cubin/a.so/; s/sm_90a/x86-64-v3/\" >a.json "
		        "<<'END'\n%s\nEND\n",
		        sources[i], MANIFEST);
		write_adapter(p, script);
		struct tk_artifact *a = build_newest(p);
		if (a->status != TK_BUILD_OK)
			fail_msg("%s", a->message);
		assert_int_equal(a->backends[0].kernel_count, 1);
		const struct tk_kernel_symbol *k = &a->backends[0].kernels[0];
		assert_string_equal(k->name, "x86-64-v3 scale gemm:m=1 tiny");
		assert_true(k->size_bytes > 0);
		assert_int_equal(k->registers, -1);
		memcpy(hashes[i], a->backends[0].code_hash, TK_HASH_HEX_SIZE);
		tk_artifact_free(a);
	}
	assert_string_equal(hashes[0], hashes[1]);
	assert_string_not_equal(hashes[0], hashes[2]);
}

static void the_compile_time_is_read(void **state)
{
	struct project *p = *state;
	write_package_adapter(p, MANIFEST,
	        "sed -i 's/\"format\":1/\"format\":1,\"compile_seconds\":0.25/' a.json\n"
	        "sed 's/tiny/other/; s/0.25/\"long\"/' a.json >b.json\necho '{' >c.txt");
	struct tk_artifact *a = build_newest(p);
	assert_int_equal(a->status, TK_BUILD_OK);
	const char *package = a->backends[0].path;
	assert_true(tk_kernel_package_compile_ns(package, "gemm:m=1", "tiny") == 0.25e9);
	assert_true(isnan(tk_kernel_package_compile_ns(package, "gemm:m=1", "other")));
	assert_true(isnan(tk_kernel_package_compile_ns(package, "gemm:m=2", "tiny")));
	assert_true(isnan(tk_kernel_package_compile_ns("/nowhere.cuda", "gemm:m=1", "tiny")));
	tk_artifact_free(a);
}

static void broken_packages_fail_the_build(void **state)
{
	static const struct {
		const char *more, *message;
	} cases[] = {
	        {"rm a.json", "has no manifest"},
	        {"echo '{' >a.json", "a.json: 2:0:"},
	        {"sed -i s/problem/puzzle/ a.json", "a.json: \"problem\" is missing"},
	        {"sed -i s/launches/lunches/ a.json", "\"launches\" is missing"},
	        {"printf x >>a.cubin", "a.cubin does not have the hash"},
	        {"rm a.cubin", "a.cubin"},
	        {"sed -i 's:\"a.cubin\":\"../a.cubin\":' a.json", "not the name of a file"},
	        {"cp -r ../tk_backend_toy.cuda ../tk_backend_toy.hip",
	                "two files for the backend \"toy\""},
	};
	struct project *p = *state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		write_package_adapter(p, MANIFEST, cases[i].more);
		struct tk_artifact *a = build_newest(p);
		if (a->status != TK_BUILD_FAILED || !strstr(a->message, cases[i].message))
			fail_msg("%s: \"%s\"", cases[i].more, a->message);
		tk_artifact_free(a);
	}
}

static void a_problem_without_code_is_kept(void **state)
{
	struct project *p = *state;
	write_package_adapter(p, MANIFEST,
	        "sed 's/\"code_object\".*/\"error\":\"too large\"}/; s/tiny/huge/' a.json >b.json");
	struct tk_artifact *a = build_newest(p);
	if (a->status != TK_BUILD_OK)
		fail_msg("%s", a->message);
	assert_int_equal(a->backends[0].kernel_count, 1);
	tk_artifact_free(a);
}

static void packages_travel_in_bundles(void **state)
{
	struct project *p = *state;
	write_package_adapter(p, MANIFEST, "");
	struct tk_artifact *a = build_newest(p), *b = NULL;
	char *file = tk_path_join(p->s->dir, "b.tar.zst"),
	     *there = tk_path_join(p->s->dir, "cache2");
	struct tk_error why = {0};
	size_t n = 0;
	OK(tk_artifact_export(p->s->cache, (const char *const[]){a->key}, 1, file, err));
	OK(tk_artifact_import(there, file, &n, NULL, NULL, err));
	OK(tk_artifact_load(there, a->key, &b, err));
	assert_non_null(strstr(b->backends[0].path, "cache2"));
	assert_non_null(strstr(b->backends[0].path, "tk_backend_toy.cuda"));
	assert_string_equal(b->backends[0].code_hash, a->backends[0].code_hash);
	sh(p->s,
	        "mkdir x && cp -r cache/artifacts/%s x/ && cd x && echo "
	        ">>%s/lib/tk_backend_toy.cuda/a.json && tar -cf ../bad.tar *",
	        a->key, a->key);
	free(file);
	file = tk_path_join(p->s->dir, "bad.tar");
	free(there);
	there = tk_path_join(p->s->dir, "cache3");
	assert_int_equal(tk_artifact_import(there, file, &n, NULL, NULL, &why), TK_EDATA);
	assert_non_null(strstr(why.message, "does not match the file hash"));
	tk_artifact_free(b);
	tk_artifact_free(a);
	free(file);
	free(there);
}

int main(void)
{
#define PROJECT(test) cmocka_unit_test_setup_teardown(test, project_open, project_close)
	const struct CMUnitTest tests[] = {PROJECT(a_package_is_a_backend),
	        PROJECT(the_code_hash_is_that_of_the_code), PROJECT(code_of_a_cpu_is_hashed),
	        PROJECT(the_compile_time_is_read), PROJECT(broken_packages_fail_the_build),
	        PROJECT(a_problem_without_code_is_kept), PROJECT(packages_travel_in_bundles)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
