/* Buffers that are filled in place or with a limit, JSON that may be missing, hashes of files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/rng.h"

static void room_is_reserved_and_committed(void **state)
{
	struct tk_buf b = TK_BUF_INIT;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		const size_t len = b.len;
		char *to = tk_buf_reserve(&b, 7);

		assert_ptr_equal(to, b.data + len);
		assert_int_equal(b.len, len); /* nothing is there before it is committed */
		memcpy(to, "abcdefg", 7);
		tk_buf_commit(&b, i % 8);
		assert_int_equal(b.len, len + i % 8);
		assert_int_equal(b.data[b.len], '\0');
		assert_memory_equal(b.data + len, "abcdefg", i % 8);
	}
	tk_buf_free(&b);
	assert_non_null(tk_buf_reserve(&b, 0)); /* also of nothing there is a NUL */
	tk_buf_commit(&b, 0);
	assert_string_equal(tk_buf_cstr(&b), "");
	tk_buf_free(&b);
}

/* The limit itself is allowed, one byte more is not; what was there is there no more. */
static void a_limit_holds_for_every_addition(void **state)
{
	struct tk_error err = {0};

	(void)state;
	for (int way = 0; way < 5; way++)
		for (size_t len = 63; len <= 66; len++) {
			struct tk_buf b = {.max = 64};
			char text[80];

			memset(text, 'x', sizeof text);
			text[len] = '\0';
			switch (way) {
			case 0:
				tk_buf_add(&b, text, len);
				break;
			case 1:
				tk_buf_add_str(&b, text);
				break;
			case 2:
				for (size_t i = 0; i < len; i++)
					tk_buf_add_char(&b, 'x');
				break;
			case 3:
				tk_buf_add_printf(&b, "%s", text);
				break;
			default:
				tk_buf_add_utf8(&b, text, len);
			}
			assert_int_equal(tk_buf_status(&b, &err), len > 64 ? TK_EDATA : TK_OK);
			assert_string_equal(tk_buf_cstr(&b), len > 64 ? "" : text);
			if (len > 64)
				assert_string_equal(err.message, "more than 64 bytes");
			/* a failure stays until it is cleared */
			tk_buf_add_char(&b, 0);
			assert_int_equal(tk_buf_status(&b, NULL), len >= 64 ? TK_EDATA : TK_OK);
			tk_buf_clear(&b);
			assert_int_equal(tk_buf_status(&b, NULL), TK_OK);
			assert_string_equal(tk_buf_cstr(&b), "");
			tk_buf_free(&b);
		}
}

static void sizes_do_not_overflow(void **state)
{
	struct tk_buf b = TK_BUF_INIT;

	(void)state;
	tk_buf_add_str(&b, "a");
	assert_null(tk_buf_reserve(&b, SIZE_MAX));
	assert_int_equal(tk_buf_status(&b, NULL), TK_EDATA);
	tk_buf_clear(&b);
	assert_null(tk_buf_reserve(&b, TK_BUF_MAX_DEFAULT + 1));
	assert_int_equal(tk_buf_status(&b, NULL), TK_EDATA);
	assert_null(tk_buf_detach(&b, NULL));
	assert_int_equal(b.len, 0);
	tk_buf_free(&b);
}

/* printf into a buffer is printf, around the size of its own small buffer too. */
static void printed_texts_of_any_length(void **state)
{
	(void)state;
	for (size_t len = 0; len<600; len += len> 250 && len < 260 ? 1 : 7) {
		struct tk_buf b = TK_BUF_INIT;
		char text[601];

		memset(text, 'x', len);
		text[len] = '\0';
		tk_buf_add_str(&b, "<");
		tk_buf_add_printf(&b, "%s%d", text, 42);
		assert_int_equal(b.len, len + 3);
		assert_int_equal(strspn(b.data + 1, "x"), len);
		assert_string_equal(b.data + 1 + len, "42");
		char *whole = tk_buf_detach(&b, NULL);

		assert_int_equal(strlen(whole), len + 3);
		assert_null(b.data);
		free(whole);
	}
}

static void bytes_of_nul_stay(void **state)
{
	struct tk_buf b = TK_BUF_INIT;

	(void)state;
	tk_buf_add(&b, "a\0b", 3);
	tk_buf_add(&b, NULL, 0);
	tk_buf_add_utf8(&b, "\0c", 2);
	assert_int_equal(b.len, 5);
	assert_memory_equal(b.data, "a\0b\0c", 6);
	tk_buf_free(&b);
}

static void json_of_what_may_be_missing(void **state)
{
	static const double missing[] = {NAN, INFINITY, -INFINITY};
	json_t *v;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		v = tk_json_number(missing[i]);
		assert_true(json_is_null(v));
		json_decref(v);
	}
	v = tk_json_number(-0.5);
	assert_true(json_is_real(v) && json_real_value(v) == -0.5);
	json_decref(v);
	v = tk_json_text("");
	assert_true(json_is_null(v));
	json_decref(v);
	v = tk_json_text("\xc2\xb5");
	assert_string_equal(json_string_value(v), "\xc2\xb5");
	json_decref(v);
	v = tk_json_text("a\xff");
	assert_string_equal(json_string_value(v), "?");
	json_decref(v);
}

static void a_syntax_error_is_not_a_lack_of_memory(void **state)
{
	static const char *const texts[] = {
	        "", "{", "[1,]", "{\"a\"}", "nul", "\"\\u0000\"", "\xff"};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		json_error_t why;

		assert_null(json_loads(texts[i], 0, &why));
		assert_false(tk_json_is_out_of_memory(&why));
	}
}

/* A file is hashed as its bytes are, whatever its size is to the blocks that are read. */
static void files_are_hashed_as_their_bytes(void **state)
{
	static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 200000};
	char dir[] = "/tmp/tracker-hash-XXXXXX", path[64], *bytes = malloc(200000);
	struct tk_error err = {0};
	struct tk_rng rng;

	(void)state;
	assert_true(bytes && mkdtemp(dir));
	snprintf(path, sizeof path, "%s/file", dir);
	tk_rng_seed(&rng, 1);
	for (size_t i = 0; i < 200000; i++)
		bytes[i] = (char)tk_rng_next(&rng);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char of_file[TK_HASH_HEX_SIZE], of_bytes[TK_HASH_HEX_SIZE];

		assert_int_equal(tk_file_write_nosync(path, bytes, sizes[i], &err), TK_OK);
		assert_int_equal(tk_hash_file(path, of_file, &err), TK_OK);
		tk_hash_bytes(bytes, sizes[i], of_bytes);
		assert_string_equal(of_file, of_bytes);
		assert_int_equal(strlen(of_file), 64);
		assert_int_equal(strspn(of_file, "0123456789abcdef"), 64);
	}
	char hex[TK_HASH_HEX_SIZE] = "as it was";

	assert_int_equal(tk_hash_file(dir, hex, &err), TK_EIO); /* a folder */
	assert_int_equal(tk_hash_file("/nonexistent", hex, &err), TK_ENOTFOUND);
	assert_string_equal(err.message, "/nonexistent: No such file or directory");
	assert_string_equal(hex, "as it was");
	assert_int_equal(tk_dir_remove(dir, &err), TK_OK);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(room_is_reserved_and_committed),
	        cmocka_unit_test(a_limit_holds_for_every_addition),
	        cmocka_unit_test(sizes_do_not_overflow),
	        cmocka_unit_test(printed_texts_of_any_length),
	        cmocka_unit_test(bytes_of_nul_stay),
	        cmocka_unit_test(json_of_what_may_be_missing),
	        cmocka_unit_test(a_syntax_error_is_not_a_lack_of_memory),
	        cmocka_unit_test(files_are_hashed_as_their_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
