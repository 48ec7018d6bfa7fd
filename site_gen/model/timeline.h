/* One launch of a kernel on one multiprocessor, as `tracker trace` stored it, checked. */
#ifndef TK_SITE_TIMELINE_H
#define TK_SITE_TIMELINE_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;

#define TK_TIMELINE_LANES_MAX 64
#define TK_TIMELINE_REGIONS_MAX 64

/* What a multiprocessor does, in the order of the tables: kinds of regions, then the rest. */
#define TK_DOES(X) \
	X(TENSOR, "matrix products") \
	X(COMPUTE, "compute") \
	X(STORE, "store") \
	X(LOAD, "load") \
	X(WAIT, "wait") \
	X(OTHER, "outside of regions") \
	X(IDLE, "no block")
enum tk_does {
#define TK_DOES_ENUM(id, name) TK_DOES_##id,
	TK_DOES(TK_DOES_ENUM)
#undef TK_DOES_ENUM
	        TK_DOES_COUNT
};
extern const char *const tk_does_names[TK_DOES_COUNT];
/* A name that is none of them is a wait. */
enum tk_does tk_does_from_name(const char *name);

/* Times are ns from the begin of the launch. */
struct tk_timeline_group {
	int64_t block, begin_ns, end_ns;
	size_t lane, name; /* of group_names */
};
struct tk_timeline_span {
	size_t group, region;
	int64_t begin_ns, end_ns;
	bool is_async; /* goes on beside what the group does */
};

/* Texts belong to the JSON that it was read from. */
struct tk_timeline {
	const char *kernel;
	int64_t multiprocessor, duration_ns, left_out;
	const char *regions[TK_TIMELINE_REGIONS_MAX];
	enum tk_does does[TK_TIMELINE_REGIONS_MAX];
	size_t region_count;
	/* a lane holds groups of one name, one after the other */
	char lanes[TK_TIMELINE_LANES_MAX][64];
	size_t lane_count;
	struct tk_timeline_group *groups;
	size_t group_count;
	struct tk_timeline_span *spans; /* by begin */
	size_t span_count;
};

/* An element of a stored timeline. What is not of its form is left out. Free *out. */
void tk_timeline_read(const json_t *stored, struct tk_timeline *out);
void tk_timeline_free(struct tk_timeline *t);

#endif
