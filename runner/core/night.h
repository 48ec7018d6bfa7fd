/* The states of a night, of its stages, and of what each upstream and build came to. */
#ifndef TK_CORE_NIGHT_H
#define TK_CORE_NIGHT_H
#include "core/vocabulary.h"
#include <stdbool.h>
#include <stdint.h>

#define TK_NIGHT_KINDS(X) \
	X(TK_NIGHT_NIGHTLY, "nightly", "the newest revision of each upstream") \
	X(TK_NIGHT_BACKFILL, "backfill", "a past revision") \
	X(TK_NIGHT_RUN, "run", "single measurements, by hand") \
	X(TK_NIGHT_IMPORT, "import", "results of another tool")
enum tk_night_kind { TK_NIGHT_KINDS(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_night_kind_words;
const char *tk_night_kind_name(enum tk_night_kind value);
int tk_night_kind_parse(const char *name, enum tk_night_kind *out);

#define TK_NIGHT_STATUSES(X) \
	X(TK_NIGHT_RUNNING, "running", "not finished yet") \
	X(TK_NIGHT_COMPLETE, "complete", "every job has an outcome") \
	X(TK_NIGHT_INCOMPLETE, "incomplete", "jobs were skipped or left out") \
	X(TK_NIGHT_FAILED, "failed", "a stage failed that the others need") \
	X(TK_NIGHT_STOPPED, "stopped", "running, but its process is gone; never stored")
enum tk_night_status { TK_NIGHT_STATUSES(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_night_status_words;
const char *tk_night_status_name(enum tk_night_status value);

#define TK_NIGHT_PARTS_MAX 1000

/* What a night was to measure, by the summary that it is stored with. */
struct tk_night_coverage {
	bool has_all_upstreams; /* not one of `tracker nightly --upstream` */
	uint32_t part;          /* K of `tracker nightly --part=K/N`; 0: all problems */
};
struct tk_night_coverage tk_night_read_coverage(const char *summary);

/* Counts nights of all upstreams. Those of one upstream are left out, and the parts of a split
 * night count as one: each part occurs once in it. Starts as zeros. */
struct tk_night_tally {
	uint32_t whole, of_part[TK_NIGHT_PARTS_MAX + 1];
	uint32_t most_frequent_part; /* 0: there are no parts */
};
void tk_night_tally_add(struct tk_night_tally *c, struct tk_night_coverage night);
uint32_t tk_night_tally_total(const struct tk_night_tally *c);

/* In the order in which a night runs them. */
#define TK_STAGES(X) \
	X(TK_STAGE_PROBE, "probe", "find the devices and describe the machine") \
	X(TK_STAGE_RESOLVE, "resolve", "ask each upstream for its newest revision") \
	X(TK_STAGE_BUILD, "build", "build what is not in the cache") \
	X(TK_STAGE_PLAN, "plan", "list the jobs and store them") \
	X(TK_STAGE_MEASURE, "measure", "run the jobs") \
	X(TK_STAGE_CONFIRM, "confirm", "measure suspected changes again, in A/B runs") \
	X(TK_STAGE_DETECT, "detect", "write verdicts, change points and alerts") \
	X(TK_STAGE_BISECT, "bisect", "find the first bad commit of a regression") \
	X(TK_STAGE_TRACE, "trace", "compare what regressed kernels do inside, region by region") \
	X(TK_STAGE_TUNE, "tune", "search again for configurations that are stale") \
	X(TK_STAGE_TIDY, "tidy", "drop what the retention times allow") \
	X(TK_STAGE_PUBLISH, "publish", "write the site and send notifications")
enum tk_stage { TK_STAGES(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_stage_words;
const char *tk_stage_name(enum tk_stage value);

#define TK_STAGE_STATUSES(X) \
	X(TK_STAGE_RUNNING, "running", "begun, or stopped: a resume starts here") \
	X(TK_STAGE_DONE, "done", "finished") \
	X(TK_STAGE_FAILED, "failed", "finished with an error") \
	X(TK_STAGE_SKIPPED, "skipped", "not asked for")
enum tk_stage_status { TK_STAGE_STATUSES(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_stage_status_words;
const char *tk_stage_status_name(enum tk_stage_status value);

/* What an upstream answered in a night. */
#define TK_RESOLUTION_STATUSES(X) \
	X(TK_RESOLUTION_NEW, "new", "another revision than the night before") \
	X(TK_RESOLUTION_UNCHANGED, "unchanged", "the revision of the night before") \
	X(TK_RESOLUTION_UNREACHABLE, "unreachable", "no answer: the last known revision was used") \
	X(TK_RESOLUTION_FAILED, "failed", "no revision, or it could not be built")
enum tk_resolution_status { TK_RESOLUTION_STATUSES(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_resolution_status_words;
const char *tk_resolution_status_name(enum tk_resolution_status value);

#define TK_BUILD_STATUSES(X) \
	X(TK_BUILD_OK, "ok", "built") \
	X(TK_BUILD_FAILED, "failed", "the build ended with an error") \
	X(TK_BUILD_TIMEOUT, "timeout", "the build did not end in time")
enum tk_build_status { TK_BUILD_STATUSES(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_build_status_words;
const char *tk_build_status_name(enum tk_build_status value);
int tk_build_status_parse(const char *name, enum tk_build_status *out);

#endif
