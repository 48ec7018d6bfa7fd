/* Text -> struct -> text: canonical spellings, every error sentence, and random texts whose
 * canonical form must be a fixed point. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/problem.h"
#include "core/vocabulary.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* clang-format off */
static const struct { const char *written, *canonical, *title; } good[] = {
	{ "gemm:m=512,n=256,k=128", "gemm:a=f32,acc=f32,b=f32,c=f32,k=128,m=512,n=256,ta=n,tb=n",
		"gemm f32 512x256x128 nn" },
	{ "gemm: k=1, n=1 ,m=1,\ta=bf16", "gemm:a=bf16,acc=f32,b=bf16,c=bf16,k=1,m=1,n=1,ta=n,tb=n",
		"gemm bf16 1x1x1 nn" },
	{ "gemm:m=16,n=32,k=64,a=e4m3,tb=t",
		"gemm:a=e4m3,acc=f32,b=e4m3,c=bf16,k=64,m=16,n=32,ta=n,tb=t",
		"gemm e4m3/bf16 16x32x64 nt" },
	{ "gemm:m=2,n=2,k=2,a=e5m2,b=e4m3,c=f32,acc=f16,ta=t,batch=7,dist=zeros",
	  "gemm:a=e5m2,acc=f16,b=e4m3,batch=7,c=f32,dist=zeros,k=2,m=2,n=2,ta=t,tb=n",
	  "gemm e5m2*e4m3/f32 acc f16 2x2x2 tn x7 zeros" },
	{ "gemm:m=2,n=2,k=2,a=f64,batch=1,dist=normal",
		"gemm:a=f64,acc=f64,b=f64,c=f64,k=2,m=2,n=2,ta=n,tb=n", "gemm f64 2x2x2 nn" },
	{ "gemm:m=2,n=2,k=2,a=f16,offset=6,dist=text:a_1-00ff12ab",
		"gemm:a=f16,acc=f32,b=f16,c=f16,dist=text:a_1-00ff12ab,k=2,m=2,n=2,offset=6,ta=n,tb=n",
		"gemm f16 2x2x2 nn text:a_1-00ff12ab offset 6" },
	{ "attention:b=1,h=1,sq=2,d=64,offset=4,dist=text:a-00ff12ab",
		"attention:b=1,causal=0,d=64,dir=fwd,dist=text:a-00ff12ab,dtype=f16,h=1,hkv=1,"
		"offset=4,skv=2,sq=2",
		"attention f16 B1 H1 S2 D64 text:a-00ff12ab offset 4" },
	{ "gemm:m=2,n=2,k=2,pad=3,offset=4",
		"gemm:a=f32,acc=f32,b=f32,c=f32,k=2,m=2,n=2,offset=4,pad=3,ta=n,tb=n",
		"gemm f32 2x2x2 nn offset 4 pad 3" },
	{ "copy:bytes=64,offset=0", "copy:bytes=64,dtype=f32", "copy f32 64 B" },
	{ "gemm:m=2,n=2,k=2,a=tf32", "gemm:a=tf32,acc=f32,b=tf32,c=f32,k=2,m=2,n=2,ta=n,tb=n",
		"gemm tf32 2x2x2 nn" },
	{ "gemm:m=0000000000000000002,n=2,k=2,a=half",
		"gemm:a=f16,acc=f32,b=f16,c=f16,k=2,m=2,n=2,ta=n,tb=n", "gemm f16 2x2x2 nn" },
	{ "attention:b=4,h=16,sq=2048,d=128",
		"attention:b=4,causal=0,d=128,dir=fwd,dtype=f16,h=16,hkv=16,skv=2048,sq=2048",
	  "attention f16 B4 H16 S2048 D128" },
	{ "attention:b=4,h=16,hkv=2,sq=2048,d=128,causal=1,dtype=bf16",
	  "attention:b=4,causal=1,d=128,dir=fwd,dtype=bf16,h=16,hkv=2,skv=2048,sq=2048",
	  "attention bf16 B4 H16/2 S2048 D128 causal" },
	{ "attention:b=1,h=1,sq=2,d=64,causal=yes",
		"attention:b=1,causal=1,d=64,dir=fwd,dtype=f16,h=1,hkv=1,skv=2,sq=2",
	  "attention f16 B1 H1 S2 D64 causal" },
	{ "attention:b=1,h=1,sq=2,d=64,causal=false",
		"attention:b=1,causal=0,d=64,dir=fwd,dtype=f16,h=1,hkv=1,skv=2,sq=2",
		"attention f16 B1 H1 S2 D64" },
	{ "attention:b=1,h=2,sq=1,skv=4096,d=64,dv=32,dir=bwd,dtype=f32,scale=0.5,dist=outliers",
	  "attention:b=1,causal=0,d=64,dir=bwd,dist=outliers,dtype=f32,dv=32,h=2,hkv=2,scale=0.5,skv=4096,sq=1",
	  "attention f32 B1 H2 S1x4096 D64/32 bwd scale 0.5 outliers" },
	{ "attention:b=1,h=1,sq=2,d=64,dv=64,scale=0.125",
		"attention:b=1,causal=0,d=64,dir=fwd,dtype=f16,h=1,hkv=1,skv=2,sq=2",
		"attention f16 B1 H1 S2 D64" },
	{ "attention:b=1,h=1,sq=2,d=64,scale=1e-1",
		"attention:b=1,causal=0,d=64,dir=fwd,dtype=f16,h=1,hkv=1,scale=0.1,skv=2,sq=2",
	  "attention f16 B1 H1 S2 D64 scale 0.1" },
	{ "nsa:b=1,h=64,hkv=4,s=1024,d=128",
	  "nsa:b=1,block_size=64,causal=1,d=128,dtype=f16,h=64,hkv=4,s=1024,selected_blocks=16,window=0", "nsa f16 B1 H64/4 S1024 D128 16x64 causal" },
	{ "nsa:b=1,h=4,s=64,d=32,block_size=32,selected_blocks=1,window=16,causal=0,scale=0,dtype=f32,dist=trig",
	  "nsa:b=1,block_size=32,causal=0,d=32,dist=trig,dtype=f32,h=4,hkv=4,s=64,selected_blocks=1,window=16",
	  "nsa f32 B1 H4 S64 D32 1x32 window 16 trig" },
	{ "copy:bytes=1073741824", "copy:bytes=1073741824,dtype=f32", "copy f32 1073741824 B" },
	{ "read:bytes=8,dtype=f64", "read:bytes=8,dtype=f64", "read f64 8 B" },
	{ "read:bytes=8,passes=1", "read:bytes=8,dtype=f32", "read f32 8 B" },
	{ "read:passes=9,bytes=8,cache=l2", "read:bytes=8,cache=l2,dtype=f32,passes=9",
		"read f32 l2 8 B x9" },
	{ "fma:count=12345678901,dtype=f64,dist=uniform",
		"fma:count=12345678901,dist=uniform,dtype=f64", "fma f64 12345678901 uniform" },
};
/* clang-format on */

static void titles_read_back(void **state)
{
	static const char *const wrong[] = {"gemm", "gemm f32", "gemm f32 512x512",
	        "gemm f32 8x8x8 nx", "gemm f32 8x8x8 nn x", "gemm f32 8x8x8x8 nn",
	        "attention f16 B1 H1 D64", "attention f16 B1 B2 H1 S2 D64",
	        "attention f16 B1 H1 S2 D64 16x64", "copy f32", "copy f32 8 B 9 B",
	        "nsa f16 B1 H4 S64 D32 1x32 window", "conv f32 8x8x8", "a b c",
	        "gemm f32 99999999999999999999x8x8 nn", "copy f32 l B"};
	struct tk_problem_spec p;

	for (size_t i = 0; i < COUNT(good); i++) {
		struct tk_error err = {0};

		if (tk_problem_parse(&p, good[i].title, &err))
			fail_msg("%s: %s", good[i].title, err.message);
		assert_string_equal(p.text, good[i].canonical);
	}
	assert_int_equal(tk_problem_parse(&p, "  gemm   bf16 8x8x8 ", NULL), 0);
	assert_string_equal(p.text, "gemm:a=bf16,acc=f32,b=bf16,c=bf16,k=8,m=8,n=8,ta=n,tb=n");
	for (size_t i = 0; i < COUNT(wrong); i++)
		if (!tk_problem_parse(&p, wrong[i], NULL))
			fail_msg("%s is read as %s", wrong[i], p.text);
}

static void canonical_texts(void **state)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		struct tk_problem_spec p, again;
		struct tk_error err = {0};
		char title[256];

		if (tk_problem_parse(&p, good[i].written, &err))
			fail_msg("%s: %s", good[i].written, err.message);
		assert_string_equal(p.text, good[i].canonical);
		tk_problem_format_title(&p, title, sizeof title);
		assert_string_equal(title, good[i].title);
		assert_int_equal(tk_problem_parse(&again, p.text, &err), 0);
		assert_string_equal(again.text, p.text);
		assert_ptr_equal(again.abi.text, again.text);
	}
}

#define GEMM "gemm:m=2,n=2,k=2,"
#define ATTENTION "attention:b=1,h=4,sq=8,d=16,"

/* clang-format off */
static const struct { const char *text, *message; } bad[] = {
	{ "", "\"\" is not a problem, expected op:key=value,... or a title such as \"gemm bf16 512x512x512 nn\"" },
	{ "gemm", "\"gemm\" is not a problem, expected op:key=value,... or a title such as \"gemm bf16 512x512x512 nn\"" },
	{ "gem:m=1", "unknown op \"gem\"; did you mean \"gemm\"?" },
	{ "convolution:m=1",
		"unknown op \"convolution\"; expected one of gemm, attention, nsa, copy, read, fma" },
	{ "<script>alert(1)</script>\n\x01:m=1", "unknown op \"<script>alert(1)</script>  \"; expected one of gemm, attention, nsa, copy, read, fma" },
	{ "gemm:mm=1", "gemm: unknown key \"mm\"; did you mean \"m\"?" },
	{ "nsa:blocksize=1", "nsa: unknown key \"blocksize\"; did you mean \"block_size\"?" },
	{ "copy:qqqqqq=1", "copy: unknown key \"qqqqqq\"; expected one of bytes, dist, dtype, offset" },
	{ "gemm:", "gemm: \"\" has no value, expected key=value" },
	{ "gemm:m=1,", "gemm: \"\" has no value, expected key=value" },
	{ "gemm:m", "gemm: \"m\" has no value, expected key=value" },
	{ "gemm:m=1,n=2", "gemm: k is missing, expected at least k, m, n" },
	{ "attention:b=1", "attention: d is missing, expected at least b, d, h, sq" },
	{ "gemm:m=1,m=2", "gemm: m is there twice, expected every key once" },
	{ "gemm:m=0,n=1,k=1", "gemm: m is \"0\", expected a whole number from 1 to 2147483647" },
	{ "gemm:m=-1,n=1,k=1", "gemm: m is \"-1\", expected a whole number from 1 to 2147483647" },
	{ "gemm:m=2147483648",
		"gemm: m is \"2147483648\", expected a whole number from 1 to 2147483647" },
	{ "gemm:m=99999999999999999999999999", "gemm: m is \"99999999999999999999999999\", expected a whole number from 1 to 2147483647" },
	{ "gemm:m=12x", "gemm: m is \"12x\", expected a whole number from 1 to 2147483647" },
	{ "gemm:m=", "gemm: m is \"\", expected a whole number from 1 to 2147483647" },
	{ "gemm:m=1e3", "gemm: m is \"1e3\", expected a whole number from 1 to 2147483647" },
	{ "nsa:window=-1", "nsa: window is \"-1\", expected a whole number from 0 to 2147483647" },
	{ "copy:bytes=1125899906842625", "copy: bytes is \"1125899906842625\", expected a whole number from 1 to 1125899906842624" },
	{ "copy:bytes=7", "copy: bytes is 7, expected a multiple of the 4 bytes of f32" },
	{ GEMM "a=f31", "gemm: a is \"f31\", expected f64, f32, tf32, f16, bf16, e4m3 or e5m2" },
	{ GEMM "a=i32", "gemm: a is \"i32\", expected f64, f32, tf32, f16, bf16, e4m3 or e5m2" },
	{ GEMM "c=tf32",
		"gemm: c is \"tf32\", expected a type that can hold a result, for instance f32" },
	{ GEMM "acc=e4m3", "gemm: acc is \"e4m3\", expected f16, bf16, f32 or f64" },
	{ GEMM "ta=T", "gemm: ta is \"T\", expected n or t" },
	{ GEMM "dist=gauss",
		"gemm: dist is \"gauss\", expected normal, uniform, trig, zeros, outliers or "
		"text:NAME" },
	{ GEMM "dist=text:book",
		"gemm: dist is \"text:book\", expected text:NAME-HASH as `tracker inputs list` "
		"prints it, such as text:declaration-1a2b3c4d" },
	{ "copy:bytes=4,dist=text:a-12345678",
		"copy: dist=text:NAME is for gemm, attention and nsa alone" },
	{ "gemm:m=1,n=1,k=1,offset=2",
		"gemm: offset is 2, expected a multiple of the 4 bytes of an element of A" },
	{ "attention:b=1,h=1,sq=1,d=1,offset=6",
		"attention: offset is 6, expected a multiple of the 4 bytes of an element of lse" },
	{ GEMM "pad=65537",
		"gemm: pad is \"65537\", expected a whole number from 0 to 65536" },
	{ GEMM "offset=256",
		"gemm: offset is \"256\", expected a whole number from 0 to 255" },
	{ GEMM "dist=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	  "gemm: the value of dist is too long, expected at most 63 characters" },
	{ ATTENTION "causal=maybe", "attention: causal is \"maybe\", expected yes or no" },
	{ ATTENTION "dir=forward", "attention: dir is \"forward\", expected fwd or bwd" },
	{ ATTENTION "scale=nan",
		"attention: scale is \"nan\", expected a number over 0, or 0 for d^-1/2" },
	{ ATTENTION "scale=-1",
		"attention: scale is \"-1\", expected a number over 0, or 0 for d^-1/2" },
	{ ATTENTION "scale=1e999",
		"attention: scale is \"1e999\", expected a number over 0, or 0 for d^-1/2" },
	{ ATTENTION "scale=0,5", "attention: \"5\" has no value, expected key=value" },
	{ "attention:b=1,h=6,hkv=4,sq=1,d=1", "attention: h (6) is not a multiple of hkv (4), expected every kv head to serve equally many heads" },
	{ "attention:b=1,h=6,sq=9,skv=8,d=1,causal=1",
	  "attention: causal with sq (9) over skv (8) leaves queries without a key, expected sq <= skv" },
	{ "nsa:b=1,h=6,hkv=4,s=1024,d=1", "nsa: h (6) is not a multiple of hkv (4), expected every kv head to serve equally many heads" },
	{ "nsa:b=1,h=6,s=100,d=1,block_size=64,selected_blocks=3",
		"nsa: selected_blocks is 3, but s=100 has only 2 blocks of 64" },
	{ "gemm:m=2147483647,n=2147483647,k=2147483647",
		"gemm: its tensors are larger than 1 PiB, expected sizes that a machine can hold" },
	{ "gemm:m=2147483647,n=1,k=1,batch=2147483647",
		"gemm: its tensors are larger than 1 PiB, expected sizes that a machine can hold" },
	{ "attention:b=2147483647,h=2147483647,sq=2147483647,d=2147483647",
	  "attention: its tensors are larger than 1 PiB, expected sizes that a machine can hold" },
	{ "read:bytes=8,cache=l4", "read: cache is \"l4\", expected l1, l2 or l3" },
	{ "read:bytes=8,passes=0",
		"read: passes is \"0\", expected a whole number from 1 to 2147483647" },
	{ "read:bytes=2147483648,passes=1000000",
		"read: 1000000 passes over 2147483648 bytes are more than 1 PiB" },
	{ "copy:bytes=8,passes=2",
		"copy: unknown key \"passes\"; expected one of bytes, dist, dtype, offset" },
	{ "read:bytes=1125899906842624",
		"read: its tensors are larger than 1 PiB, expected sizes that a machine can hold" },
};
/* clang-format on */

static void error_sentences(void **state)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct tk_problem_spec p = {.text = "untouched"};
		struct tk_error err = {0};

		assert_int_equal(tk_problem_parse(&p, bad[i].text, &err), TK_EDATA);
		assert_string_equal(err.message, bad[i].message);
		assert_int_equal(err.status, TK_EDATA);
		assert_string_equal(p.text, "untouched");
		assert_int_equal(tk_problem_parse(&p, bad[i].text, NULL), TK_EDATA);
	}
}

static void values_reach_the_border(void **state)
{
	struct tk_problem_spec p;

	assert_int_equal(tk_problem_parse(&p, "gemm:m=3,n=5,k=7,a=f16,ta=t,batch=2", NULL), 0);
	assert_int_equal(p.abi.op, TK_OP_GEMM);
	assert_ptr_equal(p.abi.gemm, &p.gemm);
	assert_null(p.abi.attention);
	assert_null(p.abi.nsa);
	assert_null(p.abi.ceiling);
	assert_int_equal(p.gemm.size, sizeof p.gemm);
	assert_true(p.gemm.m == 3 && p.gemm.n == 5 && p.gemm.k == 7 && p.gemm.batch == 2 &&
	            p.gemm.ta == 1 && p.gemm.tb == 0);
	assert_true(p.gemm.a == TK_F16 && p.gemm.b == TK_F16 && p.gemm.c == TK_F16 &&
	            p.gemm.acc == TK_F32);
	assert_int_equal(tk_problem_parse(&p,
	                         "nsa:b=1,h=8,hkv=2,s=256,d=64,selected_blocks=4,window=32", NULL),
	        0);
	assert_ptr_equal(p.abi.nsa, &p.nsa);
	assert_true(p.nsa.hkv == 2 && p.nsa.block_size == 64 && p.nsa.window == 32 &&
	            p.nsa.causal == 1 && p.nsa.scale == 0.125);
	assert_string_equal(tk_problem_op_name(&p), "nsa");
	assert_string_equal(tk_problem_dtype_name(&p), "f16");
	assert_int_equal(tk_problem_parse(&p, "fma:count=5,dtype=f64", NULL), 0);
	assert_true(p.abi.op == TK_OP_FMA && p.abi.ceiling == &p.ceiling && p.ceiling.bytes == 5 &&
	            p.ceiling.dtype == TK_F64);
}

/* A random problem with random keys in random order; about half of the sizes are small enough to be
 * valid. */
static void random_text(struct tk_rng *r, char *out, size_t size)
{
	static const char *const ops[] = {"gemm", "attention", "nsa", "copy", "read", "fma"};
	static const char *const keys[][13] = {
	        {"m", "n", "k", "batch", "a", "b", "c", "acc", "ta", "tb", "dist"},
	        {"b", "h", "hkv", "sq", "skv", "d", "dv", "dtype", "causal", "dir", "scale",
	                "dist"},
	        {"b", "h", "hkv", "s", "d", "block_size", "selected_blocks", "window", "dtype",
	                "causal", "scale", "dist"},
	        {"bytes", "dtype", "dist"},
	        {"bytes", "cache", "dtype", "passes", "dist"},
	        {"count", "dtype", "dist"},
	};
	static const char *const types[] = {"f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2"};
	static const char *const distributions[] = {
	        "normal", "uniform", "trig", "zeros", "outliers"};
	size_t op = tk_rng_below(r, COUNT(ops)), n = 0, len;
	const char *order[13];

	while (n < 13 && keys[op][n]) {
		order[n] = keys[op][n];
		n++;
	}
	tk_rng_shuffle(r, order, n, sizeof order[0]);
	len = (size_t)snprintf(out, size, "%s:", ops[op]);
	for (size_t i = 0; i < n && len < size; i++) {
		const char *k = order[i];
		char value[40];

		if (strcmp(k, "dist") == 0)
			snprintf(value, sizeof value, "%s", distributions[tk_rng_below(r, 5)]);
		else if (strcmp(k, "dtype") == 0 || strcmp(k, "acc") == 0 ||
		         (op == 0 && strlen(k) == 1 && strchr("abc", *k)))
			snprintf(value, sizeof value, "%s", types[tk_rng_below(r, COUNT(types))]);
		else if (*k == 't')
			snprintf(value, sizeof value, "%c", "nt"[tk_rng_below(r, 2)]);
		else if (strcmp(k, "causal") == 0)
			snprintf(value, sizeof value, "%d", (int)tk_rng_below(r, 2));
		else if (strcmp(k, "cache") == 0)
			snprintf(value, sizeof value, "l%d", 1 + (int)tk_rng_below(r, 3));
		else if (strcmp(k, "dir") == 0)
			snprintf(value, sizeof value, "%s", tk_rng_below(r, 2) ? "fwd" : "bwd");
		else if (strcmp(k, "scale") == 0)
			snprintf(value, sizeof value, "%.17g",
			        tk_rng_uniform(r) * pow(10, (double)tk_rng_below(r, 40) - 20));
		else
			snprintf(value, sizeof value, "%llu",
			        (unsigned long long)tk_rng_below(
			                r, tk_rng_below(r, 8) ? 64 : 3000000000ull) +
			                1);
		len += (size_t)snprintf(out + len, size - len, "%s%s=%s", i ? "," : "", k, value);
	}
}

static void canonical_text_is_a_fixed_point(void **state)
{
	struct tk_rng r;
	int valid = 0;

	tk_rng_seed(&r, 20);
	for (int i = 0; i < 20000; i++) {
		struct tk_problem_spec p, again;
		struct tk_error err = {0};
		char text[1024];

		random_text(&r, text, sizeof text);
		if (tk_problem_parse(&p, text, &err)) {
			assert_true(strlen(err.message) > 10);
			continue;
		}
		valid++;
		if (tk_problem_parse(&again, p.text, &err))
			fail_msg("%s -> %s: %s", text, p.text, err.message);
		assert_string_equal(again.text, p.text);
		tk_problem_format_title(&p, text, sizeof text);
		if (tk_problem_parse(&again, text, &err))
			fail_msg("%s -> %s: %s", p.text, text, err.message);
		assert_string_equal(again.text, p.text);
		assert_true(tk_problem_flops(&again) == tk_problem_flops(&p) &&
		            tk_problem_bytes(&p) > 0);
		assert_true(again.attention.scale == p.attention.scale &&
		            again.nsa.scale == p.nsa.scale);
	}
	assert_true(valid > 1000);
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
	struct tk_problem_spec p;

	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
		skip();
	assert_int_equal(tk_problem_parse(&p, ATTENTION "scale=0.75", NULL), 0);
	setlocale(LC_ALL, "C");
	assert_non_null(strstr(p.text, "scale=0.75"));
}

static void types_have_one_word(void **state)
{
	uint32_t t = 0;

	for (uint32_t i = TK_F64; i <= TK_I64; i++) {
		assert_int_equal(tk_dtype_parse(tk_dtype_name(i), &t), 0);
		assert_int_equal(t, i);
		assert_true(tk_dtype_bytes(i) >= 1);
	}
	assert_int_equal(tk_dtype_parse("fp8_e4m3", &t), 0);
	assert_int_equal(t, TK_E4M3);
	assert_int_equal(tk_dtype_parse("float", &t), 0);
	assert_int_equal(t, TK_F32);
	assert_int_equal(tk_dtype_parse("F32", &t), TK_EDATA);
	assert_null(tk_dtype_name(0));
	assert_int_equal(tk_dtype_bytes(99), 0);
}

static void outcomes_have_words(void **state)
{
	enum tk_outcome o;

	for (int i = 0; i < TK_OUTCOME_COUNT; i++) {
		assert_int_equal(tk_outcome_parse(tk_outcome_name((enum tk_outcome)i), &o), 0);
		assert_int_equal(o, i);
		assert_true(strlen(tk_vocabulary_meaning(&tk_outcome_words, (int)o)) > 5);
	}
	assert_true(tk_outcome_has_timing(TK_OUTCOME_OK));
	assert_false(tk_outcome_has_timing(TK_OUTCOME_WRONG));
	assert_int_equal(tk_outcome_parse("fine", &o), TK_EDATA);
	assert_int_equal(tk_outcome_parse(NULL, &o), TK_EDATA);
	assert_string_equal(tk_outcome_name((enum tk_outcome)99), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(canonical_texts),
	        cmocka_unit_test(titles_read_back),
	        cmocka_unit_test(error_sentences),
	        cmocka_unit_test(values_reach_the_border),
	        cmocka_unit_test(canonical_text_is_a_fixed_point),
	        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
	        cmocka_unit_test(types_have_one_word),
	        cmocka_unit_test(outcomes_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
