/* Data that did not arrive for some nights. */
#ifndef TK_DECIDE_MISSING_DATA_H
#define TK_DECIDE_MISSING_DATA_H
#include <stddef.h>
#include <stdint.h>

struct tk_detect_options;
struct tk_error;
struct tk_store;

/* No data for options->missing_data_nights nights: of a machine, of an upstream on a
 * machine, or of a series; the largest of these that applies. A series whose runs end in another
 * outcome (crashed, wrong) is not missing: that is reported the night it begins. */
struct tk_missing_data {
	char uid[65], group_uid[65], title[512];
	int64_t machine_id, upstream_id, series_id; /* 0: all of them */
	int64_t night_id, last_s;                   /* the last night with data */
};
struct tk_missing_data_list {
	struct tk_missing_data *at;
	size_t count;
};
/* night_id: an unfinished night that counts as finished; 0: none. Without data that has been
 * missing for more than 90 days. */
int tk_missing_data_find(struct tk_store *s, const struct tk_detect_options *options,
        int64_t night_id, struct tk_missing_data_list *out, struct tk_error *err);
void tk_missing_data_list_free(struct tk_missing_data_list *list);
/* Opens an alert for each, and closes those whose data arrived again. An open alert stays open
 * beyond the 90 days. */
int tk_missing_data_update_alerts(struct tk_store *s, const struct tk_detect_options *options,
        int64_t night_id, struct tk_error *err);

#endif
