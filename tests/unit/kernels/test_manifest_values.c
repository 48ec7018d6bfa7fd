/* The limits of each value of a manifest: the last that is taken, the first that is refused. */
#include "manifest.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../quoted_json.h"

/* A manifest with these members instead of those, or beside them. */
#define ROOT(target, problem, config, more) \
	"{'format': 1, 'producer': {'name': 'p', 'version': '1'}, 'target': '" target \
	"', 'problem': '" problem "', 'configuration': '" config "'" more "}"
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define CODE(launches) \
	", 'code_object': 'a.cubin', 'sha256': '" HASH "', 'launches': [" launches "]"
#define LAUNCH(sizes, args) "{'entry': 'e', " sizes ", 'args': [" args "]}"
#define SIZES "'grid': [1, 1, 1], 'block': [1, 1, 1], 'shared_bytes': 0"
#define GEMM(launches) ROOT("sm_90", "gemm:k=1", "c", CODE(launches))

static int parse(const char *text, struct launcher_manifest **out, struct tk_abi_error *err)
{
	const char *json = quoted(text);

	*out = NULL;
	*err = (struct tk_abi_error){.size = sizeof *err};
	return launcher_manifest_parse(json, strlen(json), out, err);
}

/* words NULL: it is taken. */
static void expect(const char *text, const char *words)
{
	struct launcher_manifest *m;
	struct tk_abi_error err;
	int status = parse(text, &m, &err);

	if (!words && status)
		fail_msg("%s: %s", text, err.message);
	if (words && (status != TK_ABI_INVALID || m || !strstr(err.message, words)))
		fail_msg("%s: status %d, \"%s\" instead of \"%s\"", text, status, err.message,
		        words);
	launcher_manifest_free(m);
}

static void expect_launch(const char *launch, const char *words)
{
	char text[2048];

	snprintf(text, sizeof text, GEMM("%s"), launch);
	expect(text, words);
}

static void sizes_of_a_launch(void **state)
{
	static const struct {
		const char *sizes, *words;
	} cases[] = {
	        {SIZES, NULL},
	        {"'grid': [2147483647, 1, 1], 'block': [1024, 1, 1], 'shared_bytes': 1048576",
	                NULL},
	        {"'grid': [2147483648, 1, 1], 'block': [1, 1, 1], 'shared_bytes': 0", "\"grid\""},
	        {"'grid': [1, 1, 1], 'block': [1025, 1, 1], 'shared_bytes': 0", "\"block\""},
	        {"'grid': [1, 1, 1], 'block': [32, 32, 1], 'shared_bytes': 0", NULL},
	        {"'grid': [1, 1, 1], 'block': [32, 16, 3], 'shared_bytes': 0", "1024 threads"},
	        {"'grid': [1, 1, 1], 'block': [1, 0, 1], 'shared_bytes': 0", "\"block\""},
	        {"'grid': [1, 1, 1], 'block': [1, 1, 1], 'shared_bytes': 1048577",
	                "\"shared_bytes\""},
	        {"'grid': [1, 1, 1], 'block': [1, 1, 1]", "\"shared_bytes\" is missing"},
	        {"'grid': [1, 1, 1], 'block': [1, 1, 1], 'shared_bytes': 1.0", "\"shared_bytes\""},
	        {"'grid': [16, 1, 1], 'block': [1, 1, 1], 'shared_bytes': 0, 'cluster': [16, 1, 1]",
	                NULL},
	        {"'grid': [4, 4, 2], 'block': [1, 1, 1], 'shared_bytes': 0, 'cluster': [4, 4, 2]",
	                "more than 16 blocks"},
	        {"'grid': [4, 3, 1], 'block': [1, 1, 1], 'shared_bytes': 0, 'cluster': [1, 2, 1]",
	                "not a multiple of the cluster"},
	        {"'grid': [17, 1, 1], 'block': [1, 1, 1], 'shared_bytes': 0, 'cluster': [17, 1, 1]",
	                "\"cluster\""},
	        {"'grid': [1, 1, 1], 'shared_bytes': 0", "\"block\" is missing"},
	        {SIZES ", 'cooperative': true, 'prefer_shared': false", NULL},
	        {SIZES ", 'cooperative': null", "not true or false"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char launch[512];

		snprintf(launch, sizeof launch, LAUNCH("%s", ""), cases[i].sizes);
		expect_launch(launch, cases[i].words);
	}
}

static void flags_and_sides_are_kept(void **state)
{
	struct launcher_manifest *m;
	struct tk_abi_error err;

	(void)state;
	assert_int_equal(
	        parse(ROOT("gfx942", "copy:bytes=1", "c",
	                      ", 'deterministic': false" CODE(LAUNCH(
	                              "'grid': [6, 4, 2], 'block': [32, 2, 1], 'cluster': [3, 2, "
	                              "1], "
	                              "'shared_bytes': 7, 'cooperative': true, 'prefer_shared': "
	                              "true",
	                              "{'tensor': 'OUT'}") "," LAUNCH(SIZES, "{'tensor': 'in'}"))),
	                &m, &err),
	        TK_ABI_OK);
	const struct launcher_launch *l = m->launches;

	assert_false(m->deterministic);
	assert_string_equal(m->target, "gfx942");
	assert_int_equal(m->launch_count, 2);
	assert_int_equal(l[0].grid[2], 2);
	assert_int_equal(l[0].block[1], 2);
	assert_int_equal(l[0].cluster[0], 3);
	assert_int_equal(l[0].shared_bytes, 7);
	assert_true(l[0].cooperative && l[0].prefer_shared);
	assert_int_equal(l[0].args[0].tensor, 1);
	assert_int_equal(l[1].args[0].tensor, 0);
	assert_int_equal(l[1].cluster[0], 1);
	assert_false(l[1].cooperative || l[1].prefer_shared);
	launcher_manifest_free(m);
}

static void values_of_each_type(void **state)
{
	static const struct {
		const char *type, *value, *words;
		int64_t bits;
		uint32_t bytes;
	} cases[] = {
	        {"i8", "255", NULL, 255, 1},
	        {"i8", "-128", NULL, 0x80, 1},
	        {"i8", "256", "does not fit into its type i8", 0, 0},
	        {"i8", "-129", "does not fit", 0, 0},
	        {"i16", "65535", NULL, 65535, 2},
	        {"i16", "-32768", NULL, 0x8000, 2},
	        {"i16", "-32769", "does not fit into its type i16", 0, 0},
	        {"i32", "4294967295", NULL, 4294967295, 4},
	        {"i32", "-2147483648", NULL, 0x80000000, 4},
	        {"i32", "-2147483649", "does not fit", 0, 0},
	        {"i64", "9223372036854775807", NULL, INT64_MAX, 8},
	        {"i64", "-9223372036854775808", NULL, INT64_MIN, 8},
	        {"i32", "1.0", "does not fit", 0, 0},
	        {"f32", "1", NULL, 0x3f800000, 4},
	        {"f32", "-2.0", NULL, 0xc0000000, 4},
	        {"f64", "1", NULL, 0x3ff0000000000000, 8},
	        {"f64", "true", "a value is not a number", 0, 0},
	        {"f16", "1", "the type of a value is not one of", 0, 0},
	        {"e4m3", "1", "the type of a value is not one of", 0, 0},
	        {"u32", "1", "the type of a value is not one of", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct launcher_manifest *m;
		struct tk_abi_error err;
		char text[1024];
		int64_t bits = 0;

		snprintf(text, sizeof text, GEMM(LAUNCH(SIZES, "{'type': '%s', 'value': %s}")),
		        cases[i].type, cases[i].value);
		expect(text, cases[i].words);
		if (cases[i].words)
			continue;
		assert_int_equal(parse(text, &m, &err), TK_ABI_OK);
		assert_int_equal(m->launches[0].args[0].bytes, cases[i].bytes);
		memcpy(&bits, m->launches[0].args[0].value, cases[i].bytes);
		assert_int_equal(bits, cases[i].bits);
		launcher_manifest_free(m);
	}
}

static void tensors_of_each_operation(void **state)
{
	static const struct {
		const char *problem, *tensors[9];
	} ops[] = {
	        {"gemm:m=1", {"A", "b", "C"}},
	        {"attention:b=1", {"Q", "k", "V", "o", "LSE", "do", "dq", "DK", "dV"}},
	        {"nsa:b=1", {"q", "K", "v", "O", "Blocks"}},
	        {"copy:bytes=1", {"in", "out"}},
	        {"read:bytes=1", {"IN", "Out"}},
	        {"fma:count=1", {"in", "out"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		for (uint32_t t = 0; t < 9 && ops[i].tensors[t]; t++) {
			struct launcher_manifest *m;
			struct tk_abi_error err;
			char text[1024];

			snprintf(text, sizeof text,
			        ROOT("any", "%s", "c", CODE(LAUNCH(SIZES, "{'tensor': '%s'}"))),
			        ops[i].problem, ops[i].tensors[t]);
			assert_int_equal(parse(text, &m, &err), TK_ABI_OK);
			assert_int_equal(m->launches[0].args[0].tensor, t);
			launcher_manifest_free(m);
		}
	expect(ROOT("any", "read:bytes=1", "c", CODE(LAUNCH(SIZES, "{'tensor': 'A'}"))),
	        "\"A\" is not a tensor of this problem");
	expect(ROOT("any", "softmax:m=1", "c", CODE(LAUNCH(SIZES, "{'tensor': 'A'}"))),
	        "\"A\" is not a tensor of this problem");
	expect(GEMM(LAUNCH(SIZES, "{'tensor': 7}")), "\"?\" is not a tensor of this problem");
}

#define MAP(members) "{'tensormap': 'A', 'type': 'f16', " members "}"

static void limits_of_tensor_maps(void **state)
{
	static const struct {
		const char *map, *words;
	} cases[] = {
	        {MAP("'dims': [8], 'strides_bytes': [], 'box': [8]"), NULL},
	        {MAP("'dims': [1,1,1,1,1], 'strides_bytes': [16,16,16,16], 'box': [1,1,1,1,1]"),
	                NULL},
	        {MAP("'dims': [1,1,1,1,1,1], 'strides_bytes': [16,16,16,16,16], 'box': "
	             "[1,1,1,1,1,1]"),
	                "a tensor map has 6 \"dims\""},
	        {MAP("'dims': [4294967295], 'strides_bytes': [], 'box': [256]"), NULL},
	        {MAP("'dims': [4294967296], 'strides_bytes': [], 'box': [1]"), "\"dims\""},
	        {MAP("'dims': [8], 'strides_bytes': [], 'box': [257]"), "\"box\""},
	        {MAP("'dims': [8, 8], 'strides_bytes': [1099511627776], 'box': [8, 8]"), NULL},
	        {MAP("'dims': [8, 8], 'strides_bytes': [1099511627792], 'box': [8, 8]"),
	                "\"strides_bytes\""},
	        {MAP("'dims': [8, 8], 'strides_bytes': [24], 'box': [8, 8]"), "multiple of 16"},
	        {MAP("'dims': [8, 8], 'strides_bytes': [], 'box': [8, 8]"), "list of 1 numbers"},
	        /* a box of 2 bytes an element in the 232,448 bytes of shared memory */
	        {MAP("'dims': [8, 8, 8], 'strides_bytes': [16, 16], 'box': [16, 32, 227]"), NULL},
	        {MAP("'dims': [8, 8, 8], 'strides_bytes': [16, 16], 'box': [16, 32, 228]"),
	                "larger than shared memory"},
	        {MAP("'dims': [8], 'strides_bytes': [], 'box': [16], 'swizzle': 32"), NULL},
	        {MAP("'dims': [8], 'strides_bytes': [], 'box': [17], 'swizzle': 32"),
	                "larger than shared memory or the swizzle"},
	        {MAP("'dims': [8], 'strides_bytes': [], 'box': [64], 'swizzle': 128"), NULL},
	        {MAP("'dims': [8], 'strides_bytes': [], 'box': [8], 'swizzle': 16"), "\"swizzle\""},
	        {MAP("'dims': [8], 'strides_bytes': [], 'box': [8], 'swizzle': 256"),
	                "\"swizzle\""},
	        {MAP("'dims': [8], 'strides_bytes': [], 'box': [8], 'l2_promotion': 256"), NULL},
	        {MAP("'dims': [8], 'strides_bytes': [], 'box': [8], 'l2_promotion': 32"),
	                "\"l2_promotion\" not 0"},
	        {MAP("'dims': [8], 'strides_bytes': [], 'box': [8], 'oob_fill': 'zero'"), NULL},
	        {MAP("'dims': [8], 'strides_bytes': [], 'box': [8], 'oob_fill': 'one'"),
	                "\"oob_fill\" is not zero or nan"},
	        {"{'tensormap': 'A', 'type': 'f64', 'dims': [8], 'box': [8]}",
	                "the type of a tensor map is not one of"},
	        {"{'tensormap': 'Z', 'type': 'f16', 'dims': [8], 'box': [8]}", "\"Z\" is not"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char launch[512];

		snprintf(launch, sizeof launch, LAUNCH(SIZES, "%s"), cases[i].map);
		expect_launch(launch, cases[i].words);
	}
}

/* Counts of things: the last that fits and one more. */
static void limits_of_lists(void **state)
{
	char text[8000], list[7000];

	(void)state;
	for (int count = 64; count <= 65; count++) { /* arguments */
		size_t len = 0;

		for (int i = 0; i < count; i++)
			len += (size_t)snprintf(list + len, sizeof list - len,
			        "%s{'value':1,'type':'i8'}", i ? "," : "");
		snprintf(text, sizeof text, GEMM(LAUNCH(SIZES, "%s")), list);
		expect(text, count > 64 ? "\"args\" is not a list of at most 64" : NULL);
	}
	for (int count = 16; count <= 17; count++) { /* names of scratch memory */
		size_t len = 0;

		for (int i = 0; i < count; i++)
			len += (size_t)snprintf(list + len, sizeof list - len,
			        "%s{'scratch':'s%d','bytes':8}", i ? "," : "", i);
		snprintf(text, sizeof text, GEMM(LAUNCH(SIZES, "%s")), list);
		expect(text, count > 16 ? "more than 16 names of scratch memory" : NULL);
	}
	for (int count = 16; count <= 17; count++) { /* launches */
		size_t len = 0;

		for (int i = 0; i < count; i++)
			len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", i ? "," : "",
			        LAUNCH(SIZES, ""));
		snprintf(text, sizeof text, GEMM("%s"), list);
		expect(text, count > 16 ? "not a list of 1 to 16" : NULL);
	}
	/* 32 tensor maps of 128 bytes are the 4,096 bytes that a launch takes. */
	for (int count = 32; count <= 33; count++) {
		size_t len = 0;

		for (int i = 0; i < count; i++)
			len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", i ? "," : "",
			        MAP("'dims':[8],'strides_bytes':[],'box':[8]"));
		snprintf(text, sizeof text, GEMM(LAUNCH(SIZES, "%s")), list);
		expect(text, count > 32 ? "the arguments have more than 4096 bytes" : NULL);
	}
}

static void parameters_of_a_configuration(void **state)
{
	static const struct {
		const char *parameters, *words;
	} cases[] = {
	        {"{'block_m': 128, 'w2': -1}", NULL},
	        {"{}", "not an object with 1 to"},
	        {"[]", "not an object with 1 to"},
	        {"{'Block': 1}", "the name \"Block\" in \"parameters\""},
	        {"{'2m': 1}", "a letter first"},
	        {"{'a-b': 1}", "the name \"a-b\""},
	        {"{'': 1}", "the name \"\""},
	        {"{'a2345678901234567890123456789012': 1}", "is not 1 to 31"},
	        {"{'a234567890123456789012345678901': 1}", NULL},
	        {"{'m': 1.5}", "the parameter \"m\" is not a whole number"},
	        {"{'m': '1'}", "the parameter \"m\" is not a whole number"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[1024];

		snprintf(text, sizeof text,
		        ROOT("any", "gemm:m=1", "c", ", 'parameters': %s" CODE(LAUNCH(SIZES, ""))),
		        cases[i].parameters);
		expect(text, cases[i].words);
	}
}

static void texts_of_the_root(void **state)
{
	char text[1200], name[600];

	(void)state;
	/* A failure to compile needs no code; an empty reason is none. */
	expect(ROOT("any", "gemm:m=1", "c", ", 'error': 'no'"), NULL);
	expect(ROOT("any", "gemm:m=1", "c", ", 'error': ''"), "\"error\" is missing or not a text");
	expect(ROOT("any", "gemm:m=1", "", ""), "\"configuration\" is missing");
	expect(ROOT("any", "gemm:m=1", "c", ""), "\"code_object\" is missing");
	expect("{'format': 0}", "\"format\" is missing or not a whole number from 1");
	expect("{'format': 1}", "\"name\" is missing");
	expect("[]", "\"format\" is missing");
	for (size_t len = 31; len <= 32; len++) {
		memset(name, 't', len);
		name[len] = '\0';
		snprintf(text, sizeof text, ROOT("%s", "gemm:m=1", "c", ", 'error': 'no'"), name);
		expect(text,
		        len > 31 ? "\"target\" is missing or not a text of 1 to 31 bytes" : NULL);
	}
	for (size_t len = 511; len <= 512; len++) {
		memset(name, 'p', len);
		name[len] = '\0';
		snprintf(text, sizeof text, ROOT("any", "%s", "c", ", 'error': 'no'"), name);
		expect(text, len > 511 ? "\"problem\" is missing or not a text" : NULL);
	}
	expect(ROOT("any", "gemm:m=1", "a\\u007fb", ", 'error': 'no'"), "control character");
	expect(ROOT("any", "gemm:m=1", "a\\u0000b", ", 'error': 'no'"), "1:");
}

/* The text of a manifest has a limit. */
static void a_manifest_that_is_too_large(void **state)
{
	size_t len = LAUNCHER_MANIFEST_BYTES_MAX + 1;
	char *text = malloc(len + 1);
	struct launcher_manifest *m = NULL;
	struct tk_abi_error err = {.size = sizeof err};

	(void)state;
	assert_non_null(text);
	memset(text, ' ', len);
	text[len] = '\0';
	assert_int_equal(launcher_manifest_parse(text, len, &m, &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "has more than 1048576 bytes"));
	memcpy(text, "{}", 2);
	assert_int_equal(launcher_manifest_parse(text, len - 1, &m, &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "\"format\""));
	free(text);
	launcher_manifest_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(sizes_of_a_launch),
	        cmocka_unit_test(flags_and_sides_are_kept),
	        cmocka_unit_test(values_of_each_type),
	        cmocka_unit_test(tensors_of_each_operation),
	        cmocka_unit_test(limits_of_tensor_maps),
	        cmocka_unit_test(limits_of_lists),
	        cmocka_unit_test(parameters_of_a_configuration),
	        cmocka_unit_test(texts_of_the_root),
	        cmocka_unit_test(a_manifest_that_is_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
