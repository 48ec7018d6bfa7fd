/* Hashes of machine code are equal for equal code, whatever the linker, the clock and the
 * folder. */
#include "base/base.h"
#include "build/build.h"
#include "scratch.h"

static void compile(
        const struct scratch *s, const char *name, const char *options, const char *code)
{
	sh(s,
	        "mkdir -p '%s.d' && cat >'%s.d/source.c' <<'END'\n%s\nEND\ncc -O2 -fPIC -shared "
	        "-Wl,--emit-relocs %s "
	        "-o '%s.so' '%s.d/source.c'",
	        name, name, code, options, name, name);
}

static void hash(const struct scratch *s, const char *name, const char *glob,
        char hex[TK_HASH_HEX_SIZE], struct tk_kernel_symbol **k, size_t *n)
{
	struct tk_error err = {0};
	char *path = NULL;
	assert_true(asprintf(&path, "%s/%s.so", s->dir, name) > 0);
	if (tk_code_hash_object(path, glob, hex, k, n, &err))
		fail_msg("%s", err.message);
	free(path);
}

#define CODE(version, factor) \
	"static const float table[4] = {1, 2, 3, 4};\n" \
	"const char *version(void) { return \"" version \
	" \" __FILE__ \" \" __DATE__ __TIME__; }\n" \
	"int helper(const char *s) { int n = 0; while (*s++) n = n * 33 + *s; return n; }\n" \
	"float kernel(const float *x, int n) { float s = 0; for (int i = 0; i < n; i++) s " \
	"+= " factor " * x[i] * table[i & 3]; return s + helper(version()); }\n"

static void strings_do_not_count(void **state)
{
	const struct scratch *s = *state;
	char a[TK_HASH_HEX_SIZE], b[TK_HASH_HEX_SIZE], c[TK_HASH_HEX_SIZE], d[TK_HASH_HEX_SIZE];
	compile(s, "a", "-Wl,--build-id", CODE("1.0", "3.0f"));
	compile(s, "b-in-a-folder-with-a-longer-name", "-Wl,--build-id=0x1234",
	        CODE("1.0.17-git-deadbeef-and-more-words", "3.0f"));
	compile(s, "c", "", CODE("1.0", "5.0f - i"));
	compile(s, "d", "-O1", CODE("1.0", "3.0f"));
	hash(s, "a", NULL, a, NULL, NULL);
	hash(s, "b-in-a-folder-with-a-longer-name", NULL, b, NULL, NULL);
	hash(s, "c", NULL, c, NULL, NULL);
	hash(s, "d", NULL, d, NULL, NULL);
	assert_string_equal(a, b);
	assert_string_not_equal(a, c);
	assert_string_not_equal(a, d);
}

static void expect_differs(
        const struct scratch *s, const char *code_a, const char *code_b, bool differs)
{
	char a[TK_HASH_HEX_SIZE], b[TK_HASH_HEX_SIZE];
	compile(s, "a", "", code_a);
	compile(s, "b", "", code_b);
	hash(s, "a", NULL, a, NULL, NULL);
	hash(s, "b", NULL, b, NULL, NULL);
	if (differs == !strcmp(a, b))
		fail_msg("%s hashes: %s\n%s", differs ? "equal" : "different", code_a, code_b);
}

/* Constants decide how fast code is as much as code does: a table of block sizes, a constant
 * without a name. */
#define BLOCKS(name, mc) \
	"struct blocks { const char *name; int mc, kc; };\n" \
	"static const struct blocks table[] = {{\"" name "\", " mc \
	", 256}, {\"second\", 64, 64}};\n" \
	"const struct blocks *blocks(int i) { return &table[i]; }\n"
#define UNNAMED(text, value) \
	"void f(int *x) { const int v[4] = {" value \
	", 7, 8, 9}; __builtin_memcpy(x, v, sizeof v); }\n" \
	"const char *version(void) { return \"" text "\"; }\n" \
	"int pick(int i) { switch (i) { case 0: return 5; case 1: return version()[0]; case 2: " \
	"return i * 7; " \
	"case 3: return version()[1]; case 4: return -i; case 5: return version()[2]; } return " \
	"1; }\n"

#define TAIL(text) \
	"const char *version(void) { return \"" text "\"; }\n" \
	"const char *minor(void) { return \".0\"; }\n"
#define ADDRESS_TAKEN(values) \
	"void use(const int *); void f(void) { use((const int[]){" values ", 1, 2, 3, 4, 5}); }\n" \
	"void copy(int *x) { const int v[40] = {" values \
	", 1}; __builtin_memcpy(x, v, sizeof v); }\n"
/* A number whose bytes read as the text "2". */
#define LOADED(bits) \
	"double f(double x) { double k; long b = " bits \
	"; __builtin_memcpy(&k, &b, 8); return x * k; }\n"

static void constants_count(void **state)
{
	const struct scratch *s = *state;
	expect_differs(s, BLOCKS("first", "96"), BLOCKS("first", "48"), true);
	expect_differs(s, BLOCKS("first", "96"), BLOCKS("a longer name", "96"), false);
	expect_differs(s, UNNAMED("1.0.0", "48"), UNNAMED("1.0.0", "49"), true);
	expect_differs(s, UNNAMED("1.0.0", "48"),
	        UNNAMED("1.0.17-git-deadbeef-of-another-length", "48"), false);
	expect_differs(s, "int sizes[2] = {1, 2};", "int sizes[2] = {1, 3};", true);
	/* a short text is one, in code and in a table; numbers whose bytes are letters are none */
	expect_differs(s, UNNAMED("1.0", "48"), UNNAMED("1.1", "48"), false);
	expect_differs(s, UNNAMED("1.0", "48"), UNNAMED("1.17.3-rc1", "48"), false);
	expect_differs(s, UNNAMED("7", "48"), UNNAMED("8", "48"), false);
	expect_differs(s, UNNAMED("1.0", "48"), UNNAMED("1.0", "49"), true);
	expect_differs(s, BLOCKS("a", "96"), BLOCKS("b", "96"), false);
	expect_differs(s, TAIL("1.0"), TAIL("2.0"), false);
	expect_differs(s, ADDRESS_TAKEN("49, 7"), ADDRESS_TAKEN("50, 7"), true);
	expect_differs(s, ADDRESS_TAKEN("49, 7"), ADDRESS_TAKEN("49, 8"), true);
	expect_differs(s, "float f(float x) { return x * 12.5e5f; }",
	        "float f(float x) { return x * 12.6e5f; }", true);
	expect_differs(s, LOADED("50"), LOADED("51"), true);
}

static void compile_skeleton(const struct scratch *s, const char *compiler, const char *version)
{
	sh(s,
	        "sed '/skeleton_version(void)/,/^}/s/return \"[^\"]*\"/return \"%s\"/' "
	        "'%s/docs/examples/skeleton_backend.c' >skeleton.c && grep -q 'return \"%s\"' "
	        "skeleton.c && "
	        "%s -std=c11 -O3 -fPIC -shared -fvisibility=hidden -Wl,--emit-relocs "
	        "-I'%s/kernels/abi' -o skeleton.so "
	        "skeleton.c",
	        version, TK_SOURCE_ROOT, version, compiler, TK_SOURCE_ROOT);
}

/* The claim of docs/how-to/add-a-backend.md about the example. LLVM names its texts. */
static void skeleton(void **state)
{
	const struct scratch *s = *state;
	const char *const versions[] = {"1.0", "1.1", "1.2", "v2", "1.10.3-17-gdeadbeef"};
	const char *const compilers[] = {"cc", "clang"};
	char first[TK_HASH_HEX_SIZE], other[TK_HASH_HEX_SIZE];
	for (size_t c = 0; c < sizeof(compilers) / sizeof(compilers[0]); c++) {
		if (c && system("command -v clang >/dev/null 2>&1"))
			continue;
		for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
			compile_skeleton(s, compilers[c], versions[i]);
			hash(s, "skeleton", NULL, i ? other : first, NULL, NULL);
			if (i)
				assert_string_equal(first, other);
		}
	}
}

/* Without symbol names different code still has different hashes. */
static void stripped(void **state)
{
	const struct scratch *s = *state;
	char a[TK_HASH_HEX_SIZE], b[TK_HASH_HEX_SIZE];
	compile(s, "a", "-s", BLOCKS("first", "96"));
	compile(s, "b", "-s", BLOCKS("first", "48"));
	hash(s, "a", NULL, a, NULL, NULL);
	hash(s, "b", NULL, b, NULL, NULL);
	assert_string_not_equal(a, b);
}

static void functions(void **state)
{
	const struct scratch *s = *state;
	char hex[TK_HASH_HEX_SIZE];
	struct tk_kernel_symbol *k = NULL, *other = NULL;
	size_t n = 0, m = 0;
	compile(s, "a", "", CODE("1.0", "3.0f"));
	compile(s, "b", "", CODE("1.0", "5.0f - i"));
	hash(s, "a", "k*", hex, &k, &n);
	assert_int_equal(n, 1);
	assert_string_equal(k[0].name, "kernel");
	assert_true(k[0].size_bytes > 8);
	assert_int_equal(k[0].registers, -1);
	hash(s, "b", "k*", hex, &other, &m);
	assert_string_not_equal(k[0].code_hash, other[0].code_hash);
	free(k);
	free(other);
	hash(s, "a", "helper", hex, &k, &n);
	hash(s, "b", "helper", hex, &other, &m);
	assert_int_equal(n, 1);
	assert_string_equal(k[0].code_hash, other[0].code_hash); /* it moved, it did not change */
	free(k);
	free(other);
	hash(s, "a", NULL, hex, &k, &n);
	assert_true(n >= 3);
	free(k);
	hash(s, "a", "none*", hex, &k, &n);
	assert_int_equal(n, 0);
	free(k);
}

/* A call of another function is another code, although the bytes without the address are the same.
 */
static void targets_count(void **state)
{
	const struct scratch *s = *state;
	char a[TK_HASH_HEX_SIZE], b[TK_HASH_HEX_SIZE];
	compile(s, "a", "",
	        "double sin(double), cos(double); double f(double x) { return 1 + sin(x); }");
	compile(s, "b", "",
	        "double sin(double), cos(double); double f(double x) { return 1 + cos(x); }");
	sh(s, "cc -shared -o x.so a.so -lm 2>/dev/null || true");
	hash(s, "a", NULL, a, NULL, NULL);
	hash(s, "b", NULL, b, NULL, NULL);
	assert_string_not_equal(a, b);
}

static void names(void **state)
{
	const struct scratch *s = *state;
	char hex[TK_HASH_HEX_SIZE], code[2048], name[401];
	struct tk_kernel_symbol *k = NULL;
	size_t n = 0;
	memset(name, 'q', 400);
	name[400] = '\0';
	snprintf(code, sizeof(code),
	        "int %s_1(int x) { return x * 3; }\nint %s_2(int x) { return x * 5; }", name, name);
	compile(s, "a", "", code);
	hash(s, "a", "qqq*", hex, &k, &n);
	assert_int_equal(n, 2);
	assert_string_not_equal(k[0].name, k[1].name);
	assert_true(strlen(k[0].name) < sizeof(k[0].name));
	free(k);
	sh(s, "printf 'static __attribute__((noinline)) int same(int x) { return x * 7 + 1; } int "
	      "one(int x) { return "
	      "same(x); }' >1.c && "
	      "printf 'static __attribute__((noinline)) int same(int x) { return x * 9 - 2; } int "
	      "two(int x) { return "
	      "same(x); }' >2.c && "
	      "cc -O1 -fPIC -shared -o s.so 1.c 2.c");
	hash(s, "s", "same", hex, &k, &n);
	assert_int_equal(n, 2);
	assert_string_equal(k[0].name, "same");
	assert_string_equal(k[1].name, "same#2");
	assert_string_not_equal(k[0].code_hash, k[1].code_hash);
	free(k);
}

/* Two files in either order; one has code in assembly without a size. */
static void link_order(void **state)
{
	const struct scratch *s = *state;
	char a[TK_HASH_HEX_SIZE], b[TK_HASH_HEX_SIZE], c[TK_HASH_HEX_SIZE];
	sh(s, "cat >1.c <<'END'\n"
	      "static int table[9] = {1, 2, 3};\n"
	      "static __attribute__((noinline)) int help(int i) { return table[i]++; }\n"
	      "int one(int i) { return help(i) * 3; }\n"
	      "END\n"
	      "cat >2.c <<'END'\n"
	      "static __attribute__((noinline)) int help(int i) { return i / 7; }\n"
	      "int two(int i) { return help(i) + 5; }\n"
	      "__asm__(\".text\\n.globl bare\\nbare: .byte 1, 2, 3, 4, 5, 6, 7\");\n"
	      "END\n"
	      "sed 's/6, 7/6, 8/' 2.c >3.c && "
	      "for i in 1 2 3; do cc -O2 -fPIC -c $i.c || exit 1; done && "
	      "for i in '1 2' '2 1' '1 3'; do set -- $i; "
	      "cc -shared -Wl,--emit-relocs -o $1$2.so $1.o $2.o || exit 1; done");
	hash(s, "12", NULL, a, NULL, NULL);
	hash(s, "21", NULL, b, NULL, NULL);
	hash(s, "13", NULL, c, NULL, NULL);
	assert_string_equal(a, b);
	assert_string_not_equal(a, c);
}

/* Compilers make names from the path of the file and from process IDs. */
#define NAMED(name) \
	"int table[3] __asm__(\"" name "\") = {1, 2, 3}; int f(int i) { return table[i]; }"
static void names_of_paths(void **state)
{
	const struct scratch *s = *state;
	static const struct {
		const char *a, *b;
		bool differ;
	} pairs[] = {
	        {NAMED("_ZN31_GLOBAL__N__5706e64a_4_k_cu_run5tableE"),
	                NAMED("_ZN33_GLOBAL__N__837e3abb_6_run_cu_run5tableE"), false},
	        {NAMED("_ZN31_GLOBAL__N__5706e64a_4_k_cu_run5tableE"),
	                NAMED("_ZN31_GLOBAL__N__5706e64a_4_k_cu_run5otherE"), true},
	        {NAMED("_ZN34_INTERNAL_5706e64a_4_k_cu_bc3f0f3e5tableE"),
	                NAMED("_ZN34_INTERNAL_837e3abb_4_k_cu_00000f3e5tableE"), false},
	        {NAMED("__nv_static_31__5706e64a_4_k_cu_run__ZL5table"),
	                NAMED("__nv_static_31__837e3abb_4_k_cu_run__ZL5table"), false},
	        {NAMED("_GLOBAL__sub_I_tmpxft_00006615_00000000_6_k.cudafe1.cpp"),
	                NAMED("_GLOBAL__sub_I_tmpxft_0000ff17_00000000_6_k.cudafe1.cpp"), false},
	        {NAMED("table.static.0123456789abcdef"), NAMED("table.static.fedcba9876543210"),
	                false},
	        {NAMED("_ZN5table31E_INTERNAL_"), NAMED("_ZN5table99999_GLOBAL__N_"), true},
	};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		expect_differs(s, pairs[i].a, pairs[i].b, pairs[i].differ);
}

static void expect_refused(const struct scratch *s, const char *file, const char *message)
{
	struct tk_error err = {0};
	char hex[TK_HASH_HEX_SIZE];
	char *path = tk_path_join(s->dir, file);
	struct tk_kernel_symbol *k = NULL;
	size_t n = 0;
	assert_int_not_equal(tk_code_hash_object(path, NULL, hex, &k, &n, &err), TK_OK);
	if (!strstr(err.message, message))
		fail_msg("\"%s\" does not contain \"%s\"", err.message, message);
	free(path);
}

static void not_objects(void **state)
{
	const struct scratch *s = *state;
	sh(s, "echo text >text && : >empty && echo 'int main(void){return 0;}' >m.c && cc -c -o "
	      "m.o m.c && ar rc lib.a "
	      "m.o");
	expect_refused(s, "text", "not a 64-bit ELF shared object");
	expect_refused(s, "empty", "not a 64-bit ELF shared object");
	expect_refused(s, "m.o", "not a 64-bit ELF shared object");
	expect_refused(s, "lib.a", "not a 64-bit ELF shared object");
	expect_refused(s, "gone", "gone");
}

/* Every truncation and many changed bytes: an error or a hash, never a crash. */
static void damaged(void **state)
{
	const struct scratch *s = *state;
	compile(s, "a", "", CODE("1.0", "3.0f"));
	char *path = tk_path_join(s->dir, "a.so"), *bad = tk_path_join(s->dir, "bad.so");
	FILE *f = fopen(path, "rb");
	static unsigned char data[65536];
	const size_t size = fread(data, 1, sizeof(data), f);
	fclose(f);
	assert_true(size > 1000 && size < sizeof(data));
	uint32_t random = 1;
	for (unsigned i = 0; i < 400; i++) {
		unsigned char copy[sizeof(data)];
		memcpy(copy, data, size);
		const size_t length = i < 100 ? size * i / 100 : size;
		for (unsigned j = 0; i >= 100 && j < 4; j++) {
			random = random * 1664525u + 1013904223u;
			const size_t from = random & 0x10000000u ? 0
			                    : size > 4096        ? size - 4096
			                                         : 0; /* headers lie at both ends */
			const size_t range = random & 0x10000000u ? 512 : size - from;
			copy[from + (random >> 4) % range] = (unsigned char)(random >> 20);
		}
		f = fopen(bad, "wb");
		fwrite(copy, 1, length, f);
		fclose(f);
		char hex[TK_HASH_HEX_SIZE];
		struct tk_kernel_symbol *k = NULL;
		size_t n = 0;
		struct tk_error err = {0};
		if (!tk_code_hash_object(bad, NULL, hex, &k, &n, &err))
			free(k);
		else
			assert_true(err.message[0] != '\0');
	}
	free(path);
	free(bad);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)
	const struct CMUnitTest tests[] = {T(strings_do_not_count), T(constants_count), T(skeleton),
	        T(stripped), T(functions), T(targets_count), T(names), T(link_order),
	        T(names_of_paths), T(not_objects), T(damaged)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
