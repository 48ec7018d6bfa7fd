/* MessagePack: every form that is read, and that damage ends the reading. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "build/msgpack.h"

static void integers(void **state)
{
	static const struct {
		const char bytes[10];
		size_t size;
		int64_t number;
	} rows[] = {
	        {"\x07", 1, 7},
	        {"\xff", 1, -1},
	        {"\xc2", 1, 0},
	        {"\xc3", 1, 1},
	        {"\xcc\xff", 2, 255},
	        {"\xcd\x01\x00", 3, 256},
	        {"\xce\x00\x01\x00\x00", 5, 65536},
	        {"\xd0\x80", 2, -128},
	        {"\xd1\xff\x00", 3, -256},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const unsigned char *at = (const unsigned char *)rows[i].bytes;
		struct tk_msgpack m = {at, at + rows[i].size};
		struct tk_msgpack_item item;

		assert_true(tk_msgpack_next(&m, &item));
		assert_int_equal(item.type, TK_MSGPACK_INT);
		assert_int_equal(item.number, rows[i].number);
		assert_false(tk_msgpack_next(&m, &item));
	}
}

static void a_message_cut_anywhere(void **state)
{
	static const unsigned char bytes[] = {0x86, 0xa1, 'a', 0x7f, 0xa1, 'b', 0xff, 0xa1, 'c',
	        0xcd, 0x01, 0x00, 0xa1, 'd', 0xd1, 0xff, 0x00, 0xa1, 'e', 0x92, 0xc3, 0x81, 0xc0,
	        0xd9, 0x01, 'x', 0xa1, 'f', 0xdc, 0x00, 0x01, 0xcf, 0, 0, 0, 0, 0x80, 0, 0, 0};
	static const struct {
		const char *key;
		int64_t number;
	} numbers[] = {{"a", 127}, {"b", -1}, {"c", 256}, {"d", -256}};
	struct tk_msgpack m = {bytes, bytes + sizeof(bytes)};
	struct tk_msgpack_item item;
	assert_true(tk_msgpack_next(&m, &item));
	assert_int_equal(item.type, TK_MSGPACK_MAP);
	assert_int_equal(item.count, 6);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		assert_true(tk_msgpack_next(&m, &item) &&
		            tk_msgpack_text_equals(&item, numbers[i].key));
		assert_true(tk_msgpack_next(&m, &item) && item.type == TK_MSGPACK_INT);
		assert_int_equal(item.number, numbers[i].number);
	}
	assert_true(tk_msgpack_next(&m, &item) && tk_msgpack_text_equals(&item, "e"));
	assert_true(tk_msgpack_skip(&m)); /* an array with a map in it */
	assert_true(tk_msgpack_next(&m, &item) && tk_msgpack_text_equals(&item, "f"));
	assert_true(tk_msgpack_next(&m, &item) && item.type == TK_MSGPACK_ARRAY && item.count == 1);
	assert_true(tk_msgpack_next(&m, &item) && item.number == (int64_t)1 << 31);
	assert_false(tk_msgpack_next(&m, &item));
	for (size_t n = 0; n < sizeof(bytes); n++) { /* cut off anywhere */
		struct tk_msgpack cut = {bytes, bytes + n};
		assert_false(tk_msgpack_skip(&cut));
	}
	const unsigned char wrong[][5] = {{0xc1}, {0xca, 0, 0, 0, 0}, {0xc7, 0, 0},
	        {0xdb, 0xff, 0xff, 0xff, 0xff}, {0xdd, 0xff, 0xff, 0xff, 0xff}};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct tk_msgpack w = {wrong[i], wrong[i] + sizeof(wrong[i])};
		assert_false(tk_msgpack_next(&w, &item));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(integers),
	        cmocka_unit_test(a_message_cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
