/* A stored timeline of a kernel: lanes, spans, and what is left out because it is malformed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../quoted_json.h"
#include "base/buf.h"
#include "base/error.h"
#include "site_gen/data/timeline_shard.h"
#include "site_gen/model/timeline.h"
#include <stdio.h>
#include <string.h>

/* `text`: JSON with ' for ". The timeline's texts live as long as *json. */
static struct tk_timeline read_timeline(const char *text, json_t **json)
{
	struct tk_timeline t;
	struct tk_error err = {0};

	*json = read_quoted(text);
	if (tk_timeline_read(*json, &t, &err))
		fail_msg("%s", err.message);
	return t;
}

static void release(struct tk_timeline *t, json_t *json)
{
	tk_timeline_free(t);
	json_decref(json);
}

static void reads_what_was_stored(void **state)
{
	json_t *json;
	struct tk_timeline t = read_timeline(
	        "{'kernel':'k','multiprocessor':7,'duration_ns':900,'left_out':3,"
	        "'regions':[{'name':'mma','kind':'matrix products'},{'name':'w','kind':'?'}],"
	        "'group_names':['producer','consumer'],"
	        "'groups':[[4,1,0,100],[5,0,10,50]],"
	        "'spans':[[1,0,20,30],[0,1,5,15,1]]}",
	        &json);

	(void)state;
	assert_string_equal(t.kernel, "k");
	assert_int_equal(t.multiprocessor, 7);
	assert_int_equal(t.duration_ns, 900);
	assert_int_equal(t.left_out, 3);
	assert_int_equal(t.region_count, 2);
	assert_string_equal(t.regions[0], "mma");
	assert_int_equal(t.does[0], TK_DOES_TENSOR);
	assert_int_equal(t.does[1], TK_DOES_WAIT); /* a kind that is not known */
	assert_int_equal(t.group_count, 2);
	assert_int_equal(t.groups[0].block, 4);
	assert_int_equal(t.groups[0].end_ns, 100);
	assert_int_equal(t.lane_count, 2);
	assert_string_equal(t.lanes[0], "consumer");
	assert_string_equal(t.lanes[1], "producer");
	assert_int_equal(t.span_count, 2);
	assert_int_equal(t.spans[0].begin_ns, 5); /* by begin */
	assert_true(t.spans[0].is_async);
	assert_int_equal(t.spans[1].group, 1);
	assert_false(t.spans[1].is_async);
	release(&t, json);
}

static void a_lane_holds_groups_of_one_name_one_after_the_other(void **state)
{
	json_t *json;
	struct tk_timeline t = read_timeline(
	        "{'group_names':['a','b'],'groups':[[0,0,0,10],[1,0,5,20],[2,0,10,12],[3,1,0,9],"
	        "[4,0,11,30],[5,0,12,13]]}",
	        &json);
	static const size_t lanes[] = {0, 1, 0, 2, 3, 0};

	(void)state;
	assert_int_equal(t.lane_count, 4);
	assert_string_equal(t.lanes[0], "a");
	assert_string_equal(t.lanes[1], "a 2");
	assert_string_equal(t.lanes[2], "b");
	assert_string_equal(t.lanes[3], "a 3");
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(t.groups[i].lane, lanes[i]);
	release(&t, json);
}

static void the_last_lane_takes_what_has_no_lane(void **state)
{
	char text[4096] = "{'group_names':['a'],'groups':[[0,0,0,9]";
	json_t *json;

	(void)state;
	for (int i = 0; i < TK_TIMELINE_LANES_MAX + 3; i++)
		strcat(text, ",[1,0,0,9]");
	strcat(text, "]}");
	struct tk_timeline t = read_timeline(text, &json);
	assert_int_equal(t.lane_count, TK_TIMELINE_LANES_MAX);
	assert_int_equal(t.groups[TK_TIMELINE_LANES_MAX - 1].lane, TK_TIMELINE_LANES_MAX - 1);
	assert_int_equal(t.groups[t.group_count - 1].lane, TK_TIMELINE_LANES_MAX - 1);
	release(&t, json);
}

/* Each group that is not of the form becomes an empty one, and its spans are left out. */
static void groups_that_are_not_of_the_form_are_empty(void **state)
{
	static const char *const groups[] = {"[0,0,9,8]", "[0,0,-1,8]", "[-1,0,0,8]",
	        "[0,0,0,2000000000000000]", "[0,0,0]", "[0,'a',0,8]", "[0,0,0,8.5]", "7",
	        "[4294967296,0,0,8]", "[0,4294967296,0,8]"};

	(void)state;
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
		char text[256];
		json_t *json;

		snprintf(text, sizeof text,
		        "{'regions':[{}],'groups':[%s,[0,0,3,3]],'spans':[[0,0,1,2],[1,0,3,3]]}",
		        groups[i]);
		struct tk_timeline t = read_timeline(text, &json);
		assert_int_equal(t.group_count, 2);
		assert_int_equal(t.groups[0].end_ns, -1);
		assert_int_equal(t.groups[1].end_ns, 3);
		assert_int_equal(t.span_count, 1);
		assert_int_equal(t.spans[0].group, 1);
		release(&t, json);
	}
}

static void spans_that_are_not_of_the_form_are_left_out(void **state)
{
	static const char *const spans[] = {"[1,0,1,2]", "[-1,0,1,2]", "[0,1,1,2]", "[0,0,2,1]",
	        "[0,0,1]", "[0,0,'1',2]", "[0,0,1,2000000000000000]", "{}"};

	(void)state;
	for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
		char text[256];
		json_t *json;

		snprintf(text, sizeof text,
		        "{'regions':[{}],'groups':[[0,0,0,9]],'spans':[%s,[0,0,4,4,2]]}", spans[i]);
		struct tk_timeline t = read_timeline(text, &json);
		assert_int_equal(t.span_count, 1);
		assert_int_equal(t.spans[0].begin_ns, 4);
		assert_false(t.spans[0].is_async); /* neither 0 nor 1 */
		release(&t, json);
	}
}

static void nothing_stored_is_an_empty_timeline(void **state)
{
	json_t *json;
	struct tk_timeline t =
	        read_timeline("{'duration_ns':-4,'left_out':'x','groups':{},'spans':3}", &json);

	(void)state;
	assert_string_equal(t.kernel, "");
	assert_int_equal(t.duration_ns, 0);
	assert_int_equal(t.left_out, 0);
	assert_int_equal(t.group_count + t.span_count + t.region_count + t.lane_count, 0);
	release(&t, json);
}

static void regions_are_at_most_sixty_four(void **state)
{
	char text[1024] = "{'regions':[{}";
	json_t *json;

	(void)state;
	for (int i = 0; i < TK_TIMELINE_REGIONS_MAX + 5; i++)
		strcat(text, ",{}");
	strcat(text, "]}");
	struct tk_timeline t = read_timeline(text, &json);
	assert_int_equal(t.region_count, TK_TIMELINE_REGIONS_MAX);
	release(&t, json);
}

static void spans_of_one_begin_are_in_order(void **state)
{
	json_t *json;
	struct tk_timeline t = read_timeline("{'regions':[{},{}],'groups':[[0,0,0,9],[0,0,0,9]],"
	                                     "'spans':[[1,0,5,6],[0,1,5,6],[0,0,5,6],[1,1,4,6]]}",
	        &json);
	static const size_t order[][2] = {{1, 1}, {0, 0}, {0, 1}, {1, 0}};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(t.spans[i].group, order[i][0]);
		assert_int_equal(t.spans[i].region, order[i][1]);
	}
	release(&t, json);
}

static void names_of_what_it_does_are_found(void **state)
{
	(void)state;
	for (int i = 0; i < TK_DOES_COUNT; i++)
		assert_int_equal(tk_does_from_name(tk_does_names[i]), i);
	assert_int_equal(tk_does_from_name(NULL), TK_DOES_WAIT);
	assert_int_equal(tk_does_from_name("something else"), TK_DOES_WAIT);
}

static void its_data_file_has_every_part(void **state)
{
	json_t *json;
	struct tk_buf out = TK_BUF_INIT;
	struct tk_timeline t = read_timeline(
	        "{'kernel':'k</script>','duration_ns':50,'regions':[{'name':'a','kind':'load'},"
	        "{'name':'b','kind':'store'}],'group_names':['g'],"
	        "'groups':[[2,0,0,9],[3,0,4,8]],'spans':[[0,0,1,2],[1,1,5,6,1]]}",
	        &json);

	(void)state;
	tk_timeline_add_data(&out, &t, 3);
	assert_string_equal(tk_buf_cstr(&out),
	        "tracker.data.add(\"timeline-3\",{\"kernel\":\"k\\u003c/script\\u003e\","
	        "\"duration_ns\":50,\"regions\":[{\"name\":\"a\",\"does\":\"load\"},"
	        "{\"name\":\"b\",\"does\":\"store\"}],\"lanes\":[\"g\",\"g 2\"],\n"
	        "\"groups\":[[2,0,0,9],[3,1,4,8]],\n\"spans\":[[0,0,1,2],[1,1,5,6,1]]});\n");
	tk_buf_free(&out);
	release(&t, json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(reads_what_was_stored),
	        cmocka_unit_test(a_lane_holds_groups_of_one_name_one_after_the_other),
	        cmocka_unit_test(the_last_lane_takes_what_has_no_lane),
	        cmocka_unit_test(groups_that_are_not_of_the_form_are_empty),
	        cmocka_unit_test(spans_that_are_not_of_the_form_are_left_out),
	        cmocka_unit_test(nothing_stored_is_an_empty_timeline),
	        cmocka_unit_test(regions_are_at_most_sixty_four),
	        cmocka_unit_test(spans_of_one_begin_are_in_order),
	        cmocka_unit_test(names_of_what_it_does_are_found),
	        cmocka_unit_test(its_data_file_has_every_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
