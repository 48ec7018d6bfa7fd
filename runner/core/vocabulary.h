/* Closed lists of words, one table each, and all of them here.
 *
 * Everything that the tracker decides (a status, a cause, a role, a kind) is an enum in the program
 * and a word in the history, in JSON and on the command line. A vocabulary is the table between the
 * two: names are printed, parsed, listed in help and checked in files from it. To add a word, add a
 * row to its list; to add a vocabulary, add a list and a row to TK_VOCABULARIES. */
#ifndef TK_CORE_VOCABULARY_H
#define TK_CORE_VOCABULARY_H
#include "base/base.h"

struct tk_word {
	const char *name;        /* as stored and printed */
	const char *meaning;     /* one clause for help and documents */
	const char *former_name; /* in older files, still parsed; NULL: none */
	const char *mark;        /* of a status: the first column of `tracker diff` */
	int trait;               /* what the comment on the list says */
};

/* words[value] is the word of an enumerator; enumerators are 0 to count - 1. */
struct tk_vocabulary {
	const char *subject; /* for messages: "night status" */
	const struct tk_word *words;
	int count;
};

/* ---- series and what is measured ------------------------------------------------------------- */

/* What a series is for. */
#define TK_SERIES_ROLES(X) \
	X(TK_ROLE_SUITE, "suite", "a problem of a suite: it is compared and reported") \
	X(TK_ROLE_CONTROL, "control", \
	        "fixed code that shows when the machine changed, not the code") \
	X(TK_ROLE_CEILING, "ceiling", \
	        "measures a limit of the device: bandwidth or arithmetic rate")

#define TK_BETTER(X) \
	X(TK_BETTER_LOWER, "lower", "less is better: times, energy, memory") \
	X(TK_BETTER_HIGHER, "higher", "more is better: rates") \
	X(TK_BETTER_UNKNOWN, "unknown", "nobody has said: a change is neither better nor worse")

#define TK_CEILING_SOURCES(X) \
	X(TK_CEILING_MEASURED, "measured", "by a kernel of the tracker on this device") \
	X(TK_CEILING_DATASHEET, "datasheet", "by the vendor's data sheet")

/* A device layer may be of a kind that this list does not have: TK_DEVICE_OTHER. */
#define TK_DEVICE_KINDS(X) \
	X(TK_DEVICE_CPU, "cpu", "the processor") \
	X(TK_DEVICE_CUDA, "cuda", "a GPU of NVIDIA") \
	X(TK_DEVICE_HIP, "hip", "a GPU of AMD") \
	X(TK_DEVICE_NULL, "null", "a simulated device for tests") \
	X(TK_DEVICE_OTHER, "other", "another kind")

/* Imported series may have metrics and units of their own: TK_UNIT_OTHER, TK_METRIC_OTHER. */
#define TK_UNITS(X) \
	X(TK_UNIT_NS, "ns", "nanoseconds") \
	X(TK_UNIT_JOULE, "J", "joules") \
	X(TK_UNIT_BYTES, "bytes", "bytes") \
	X(TK_UNIT_GB_PER_S, "gb_per_s", "10^9 bytes a second") \
	X(TK_UNIT_GFLOP_PER_S, "gflop_per_s", "10^9 floating-point operations a second") \
	X(TK_UNIT_RATIO, "ratio", "a ratio of two times") \
	X(TK_UNIT_OTHER, "other", "another unit")

/* trait: the unit */
#define TK_METRICS(X) \
	X(TK_METRIC_TIME, "time", "median time of one call", .trait = TK_UNIT_NS) \
	X(TK_METRIC_LAUNCH, "launch", "time on the host to launch one call", .trait = TK_UNIT_NS) \
	X(TK_METRIC_ENERGY, "energy", "energy of one call", .trait = TK_UNIT_JOULE) \
	X(TK_METRIC_MEMORY, "memory", "device memory of the backend", .trait = TK_UNIT_BYTES) \
	X(TK_METRIC_COMPILE, "compile", "processor time of the compiler for one kernel", \
	        .trait = TK_UNIT_NS) \
	X(TK_METRIC_IN_CONTEXT_RATIO, "in_context_ratio", \
	        "time of one call within a sequence, divided by its time alone", \
	        .trait = TK_UNIT_RATIO) \
	X(TK_METRIC_OTHER, "other", "a metric of another tool", .trait = TK_UNIT_OTHER)

/* The state of the caches, the clock and the memory system while a kernel is measured. Each mode is
 * a series of its own. How each is produced: docs/explanation/measuring.md. trait: whether input
 * sets are rotated so that caches are cold. */
#define TK_MODES(X) \
	X(TK_MODE_COLD, "cold", "cold caches, one sample after the other", .trait = true) \
	X(TK_MODE_HOT, "hot", "one input set that stays in the caches", .trait = false) \
	X(TK_MODE_PACED, "paced", \
	        "cold caches, bursts of about 1 ms with rests between them: the kernel at full " \
	        "clock", \
	        .trait = true) \
	X(TK_MODE_SUSTAINED, "sustained", \
	        "cold caches, after the power governor has settled: the kernel under the limits " \
	        "of its card", \
	        .trait = true) \
	X(TK_MODE_CONTENDED, "contended", \
	        "as paced, while copies keep the memory system busy for half of the time", \
	        .former_name = "loaded", .trait = true) \
	X(TK_MODE_SEQUENCE, "sequence", \
	        "between the kernels of a model's layer, one layer after the other", \
	        .trait = true)

/* How a job ended. trait: whether the timing counts. */
#define TK_OUTCOMES(X) \
	X(TK_OUTCOME_OK, "ok", "verified and measured", .trait = true) \
	X(TK_OUTCOME_THROTTLED, "throttled", \
	        "verified and measured, a clock or power limit was active throughout", \
	        .trait = true) \
	X(TK_OUTCOME_UNSTABLE, "unstable", \
	        "verified and measured, the interval is wider than asked", .trait = true) \
	X(TK_OUTCOME_WRONG, "wrong", "the result differs from the reference: not timed") \
	X(TK_OUTCOME_IMPLAUSIBLE, "implausible", \
	        "the time is less than the device can need: not counted") \
	X(TK_OUTCOME_UNSUPPORTED, "unsupported", "the backend does not do this problem") \
	X(TK_OUTCOME_OUT_OF_MEMORY, "out_of_memory", "it does not fit") \
	X(TK_OUTCOME_TIMEOUT, "timeout", "no answer before the deadline: killed") \
	X(TK_OUTCOME_CRASHED, "crashed", "the worker process died") \
	X(TK_OUTCOME_PROTOCOL, "protocol", "the worker sent something that is not an answer") \
	X(TK_OUTCOME_FAILED, "failed", "the backend or the device reported an error") \
	X(TK_OUTCOME_BUILD_FAILED, "build_failed", \
	        "the revision, or its kernel, could not be built") \
	X(TK_OUTCOME_NO_DEVICE, "no_device", "the device it needs is not there") \
	X(TK_OUTCOME_SKIPPED, "skipped", "the night's budget was spent before its turn")

/* What was recorded inside the kernels of one problem. */
#define TK_KERNEL_REPORTS(X) \
	X(TK_KERNEL_REPORT_TRACE, "trace", "regions that the kernels recorded") \
	X(TK_KERNEL_REPORT_PROFILE, "profile", "counters of the device")

/* ---- nights ---------------------------------------------------------------------------------- */

#define TK_NIGHT_KINDS(X) \
	X(TK_NIGHT_NIGHTLY, "nightly", "the newest revision of each upstream") \
	X(TK_NIGHT_BACKFILL, "backfill", "a past revision") \
	X(TK_NIGHT_RUN, "run", "single measurements, by hand") \
	X(TK_NIGHT_IMPORT, "import", "results of another tool")

#define TK_NIGHT_STATUSES(X) \
	X(TK_NIGHT_RUNNING, "running", "not finished yet") \
	X(TK_NIGHT_COMPLETE, "complete", "every job has an outcome") \
	X(TK_NIGHT_INCOMPLETE, "incomplete", "jobs were skipped or left out") \
	X(TK_NIGHT_FAILED, "failed", "a stage failed that the others need") \
	X(TK_NIGHT_STOPPED, "stopped", "running, but its process is gone; never stored")

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

#define TK_STAGE_STATUSES(X) \
	X(TK_STAGE_RUNNING, "running", "begun, or stopped: a resume starts here") \
	X(TK_STAGE_DONE, "done", "finished") \
	X(TK_STAGE_FAILED, "failed", "finished with an error") \
	X(TK_STAGE_SKIPPED, "skipped", "not asked for")

/* What an upstream is: what its revisions are and who builds them. */
#define TK_UPSTREAM_KINDS(X) \
	X(TK_UPSTREAM_SELF, "self", \
	        "the tracker's own kernels, at HEAD of the repository around it") \
	X(TK_UPSTREAM_GIT, "git", "a repository whose newest commit is built") \
	X(TK_UPSTREAM_PACKAGE, "package", \
	        "a Python package of an index; its revisions are versions") \
	X(TK_UPSTREAM_SYSTEM, "system", "an installed library; its revision is its version") \
	X(TK_UPSTREAM_BUILTIN, "builtin", "backends that were built with the tracker")

/* What an upstream answered in a night. */
#define TK_RESOLUTION_STATUSES(X) \
	X(TK_RESOLUTION_NEW, "new", "another revision than the night before") \
	X(TK_RESOLUTION_UNCHANGED, "unchanged", "the revision of the night before") \
	X(TK_RESOLUTION_UNREACHABLE, "unreachable", "no answer: the last known revision was used") \
	X(TK_RESOLUTION_FAILED, "failed", "no revision, or it could not be built")

/* trait: whether it left backends */
#define TK_BUILD_STATUSES(X) \
	X(TK_BUILD_OK, "ok", "built", .trait = true) \
	X(TK_BUILD_PARTIAL, "partial", "built without some kernels, which did not compile", \
	        .trait = true) \
	X(TK_BUILD_UNKNOWN_INTERFACE, "unknown_interface", \
	        "the adapter knows no interface that the revision has") \
	X(TK_BUILD_FAILED, "failed", "the build ended with an error") \
	X(TK_BUILD_TIMEOUT, "timeout", "the build did not end in time")

/* ---- A/B runs, bisections, tuning ------------------------------------------------------------ */

/* The two sides of a comparison: what it starts from, and what is compared with it. */
enum tk_ab_side_id { TK_AB_BASE, TK_AB_HEAD, TK_AB_SIDES };

/* Head against base, by pairs of runs one right after the other. */
#define TK_AB_DECISIONS(X) \
	X(TK_AB_NONE, "none", "there are no pairs") \
	X(TK_AB_INCONCLUSIVE, "inconclusive", "too few pairs, or too noisy", "open") \
	X(TK_AB_SAME, "same", "less than the threshold in either direction") \
	X(TK_AB_HIGHER, "higher", "head has the higher values", "up") \
	X(TK_AB_LOWER, "lower", "head has the lower values", "down")

/* What `tracker ab` says of one problem: head against base. */
#define TK_AB_VERDICTS(X) \
	X(TK_AB_VERDICT_NEWLY_FAILED, "newly-failed", "head fails or is wrong, base is not") \
	X(TK_AB_VERDICT_SLOWER, "slower", "A/B runs show that head is slower") \
	X(TK_AB_VERDICT_INCONCLUSIVE, "inconclusive", "the budget was spent, or it is too noisy") \
	X(TK_AB_VERDICT_FAILING, "failing", "both sides fail or are wrong") \
	X(TK_AB_VERDICT_FASTER, "faster", "A/B runs show that head is faster") \
	X(TK_AB_VERDICT_FIXED, "fixed", "base fails or is wrong, head is not") \
	X(TK_AB_VERDICT_SAME, "same", "a change above the threshold is excluded") \
	X(TK_AB_VERDICT_SAME_CODE, "same-code", "both have the same machine code: not measured") \
	X(TK_AB_VERDICT_UNSUPPORTED, "unsupported", "neither side does this problem")

#define TK_BISECT_OUTCOMES(X) \
	X(TK_BISECT_FOUND, "found", "one commit is the first bad one") \
	X(TK_BISECT_RANGE, "range", "what lies between two commits cannot be built or measured") \
	X(TK_BISECT_NO_CHANGE, "same", "good and bad do not differ on this machine") \
	X(TK_BISECT_INCONCLUSIVE, "inconclusive", \
	        "the budget was spent, or the pairs cannot tell", "open")

#define TK_MONITOR_EVENT_KINDS(X) \
	X(TK_MONITOR_STEP, "step", "the level of the series changed") \
	X(TK_MONITOR_DRIFT, "drift", "steps in one direction together exceed the threshold") \
	X(TK_MONITOR_MACHINE_STEP, "machine", \
	        "the level changed together with the machine: no alarm") \
	X(TK_MONITOR_RETRACTED, "retracted", "the level is back: the last step is taken back")

/* What `tracker tune` decides about one problem. */
#define TK_TUNE_VERDICTS(X) \
	X(TK_TUNE_VERDICT_FASTER, "faster", "A/B runs confirm that the winner is faster") \
	X(TK_TUNE_VERDICT_FIXED, "fixed", "the default fails, the winner works") \
	X(TK_TUNE_VERDICT_INCONCLUSIVE, "inconclusive", "A/B runs could not decide") \
	X(TK_TUNE_VERDICT_SAME, "same", "A/B runs find no difference to the default") \
	X(TK_TUNE_VERDICT_SLOWER, "slower", "A/B runs find the winner slower than the default") \
	X(TK_TUNE_VERDICT_UNCONFIRMED, "unconfirmed", "A/B runs were not requested") \
	X(TK_TUNE_VERDICT_DEFAULT, "default", "the default is the fastest") \
	X(TK_TUNE_VERDICT_FAILING, "failing", "no configuration works, the default included") \
	X(TK_TUNE_VERDICT_UNSUPPORTED, "unsupported", "the backend does not do the problem")

/* Whether what the newest run of the problem was measured with is what a result was found with. */
#define TK_TUNE_STATES(X) \
	X(TK_TUNE_STATE_UNKNOWN, "unknown", "no night has measured the problem") \
	X(TK_TUNE_STATE_CURRENT, "current", "the same revision and driver") \
	X(TK_TUNE_STATE_NEW_REVISION, "new-revision", "the backend was built anew since") \
	X(TK_TUNE_STATE_NEW_DRIVER, "new-driver", "the device has another driver since")

/* The configuration of a series that is measured with the stored winner of its backend, problem
 * and device, whichever that is; runs have the one that they used (TK_RUN_CONFIG). */
#define TK_TUNE_CONFIG "tuned"

/* Attributes of such a run: the configuration, and the uid of the result that chose it. Both are
 * absent where none is stored. */
#define TK_RUN_CONFIG "config"
#define TK_RUN_TUNING "tuning"

/* ---- verdicts and alerts --------------------------------------------------------------------- */

/* The status of a series, which a verdict decides, most urgent first. One list for `tracker diff`,
 * the pages, JSON and notify.fail_on. */
#define TK_VERDICT_STATUSES(X) \
	X(TK_VERDICT_REGRESSED, "regressed", "worse by more than its noise and the threshold", \
	        .mark = "+") \
	X(TK_VERDICT_NEWLY_FAILED, "newly-failed", \
	        "had a timing before, has an outcome that is none now (also: wrong result)", \
	        .mark = "!") \
	X(TK_VERDICT_MISSING, "missing", "was measured before, nothing in the range", .mark = "x") \
	X(TK_VERDICT_CHANGED, "changed", \
	        "moved by more than its noise and the threshold; which direction is better is " \
	        "not known", \
	        .mark = "c") \
	X(TK_VERDICT_IMPROVED, "improved", "better by more than its noise and the threshold", \
	        .mark = "-") \
	X(TK_VERDICT_RECOVERED, "recovered", "was regressed, is back at its former level", \
	        .mark = "r") \
	X(TK_VERDICT_FIXED, "fixed", \
	        "had no timing before (it failed, or its result was wrong), has one now", \
	        .mark = "f") \
	X(TK_VERDICT_ACKED, "acked", "regressed, and somebody accepted it", .mark = "a") \
	X(TK_VERDICT_ENVIRONMENT, "environment", \
	        "moved together with the control or the machine's other series: not the code", \
	        .mark = "e") \
	X(TK_VERDICT_UNSURE, "unsure", \
	        "too few or too noisy nights to say; the reason says what is missing", \
	        .mark = "?") \
	X(TK_VERDICT_NOT_COMPARABLE, "not-comparable", \
	        "driver, clock policy, card or problem changed in between", .mark = "*") \
	X(TK_VERDICT_STALE, "stale", "its newest point is too old", .mark = "z") \
	X(TK_VERDICT_FAILING, "failing", "failed before and fails still", .mark = "!") \
	X(TK_VERDICT_UNSUPPORTED, "unsupported", "the backend does not do this problem", \
	        .mark = "u") \
	X(TK_VERDICT_RETIRED, "retired", \
	        "no longer in a suite, or its configuration is not named", .mark = "d") \
	X(TK_VERDICT_NEW, "new", "no timing before the range: nothing to compare with", \
	        .mark = "n") \
	X(TK_VERDICT_SAME, "same", "no change beyond noise and threshold", .mark = "~")

/* Where a change stands over time. ACKNOWLEDGED wins over NEW and OPEN. */
#define TK_VERDICT_STATES(X) \
	X(TK_STATE_NONE, "none", "nothing changed, and no alert is open") \
	X(TK_STATE_NEW, "new", "reported by this night for the first time") \
	X(TK_STATE_OPEN, "open", "an alert of an earlier night lasts") \
	X(TK_STATE_RECOVERED, "recovered", "this night ended an alert") \
	X(TK_STATE_ACKNOWLEDGED, "acknowledged", "somebody accepted it")

/* What a change, a failure or missing data comes from. */
#define TK_CAUSES(X) \
	X(TK_CAUSE_UNKNOWN, "unknown", "neither the code nor the environment is known to differ") \
	X(TK_CAUSE_CODE, "code", "the code of the backend differs") \
	X(TK_CAUSE_CODE_OR_ENVIRONMENT, "code-or-environment", "both differ") \
	X(TK_CAUSE_ENVIRONMENT, "environment", "the environment differs, the code does not") \
	X(TK_CAUSE_CONFIGURATION, "configuration", \
	        "the library that was built chose another of its configurations") \
	X(TK_CAUSE_FAILURE, "failure", "the job has no timing any more") \
	X(TK_CAUSE_MISSING_DATA, "missing-data", "no data where data was expected", "stoppage") \
	X(TK_CAUSE_NONE, "none", "nothing changed")

#define TK_ALERT_KINDS(X) \
	X(TK_ALERT_CHANGE, "change", "a regression") \
	X(TK_ALERT_FAILURE, "failure", "a series that newly fails") \
	X(TK_ALERT_MISSING_DATA, "missing-data", \
	        "a series, an upstream or a machine without data for some nights", "stoppage")

/* Whether an alert lasts. */
#define TK_ALERT_STATUSES(X) \
	X(TK_ALERT_OPEN, "open", "it lasts") \
	X(TK_ALERT_CLOSED, "closed", "it ended: recovered, fixed, or data again")

/* The triage state of an alert, most urgent first. RECOVERED is derived: the alert is
 * closed and neither EXPECTED nor IGNORED. */
#define TK_TRIAGE_STATES(X) \
	X(TK_TRIAGE_NEW, "new", "nobody has looked at it yet") \
	X(TK_TRIAGE_ACKED, "acked", "somebody works on it") \
	X(TK_TRIAGE_EXPECTED, "expected", "a wanted change: the new level is the right one") \
	X(TK_TRIAGE_IGNORED, "ignored", "a false alarm, or of no interest") \
	X(TK_TRIAGE_RECOVERED, "recovered", "it ended by itself")

/* What people do with an alert. trait: the state that it leads to; -1: it changes none. */
#define TK_TRIAGE_ACTIONS(X) \
	X(TK_ACTION_ACK, "ack", "seen: somebody works on it", .trait = TK_TRIAGE_ACKED) \
	X(TK_ACTION_EXPECT, "expect", \
	        "wanted, or the price of something wanted: the new level is the right one", \
	        .trait = TK_TRIAGE_EXPECTED) \
	X(TK_ACTION_IGNORE, "ignore", "a false alarm, or of no interest", \
	        .trait = TK_TRIAGE_IGNORED) \
	X(TK_ACTION_LINK, "link", "an issue or a change that belongs to it", .trait = -1) \
	X(TK_ACTION_NOTE, "note", "a remark", .trait = -1) \
	X(TK_ACTION_REOPEN, "reopen", "as if nobody had said anything", .trait = TK_TRIAGE_NEW)

/* The rule that made a verdict, in the order in which the rules are tried: the first one that
 * applies decides. The words are part of JSON documents. */
#define TK_RULES(X) \
	/* no timing in the range */ \
	X(TK_RULE_NEVER_MEASURED, "never-measured", "no run at all") \
	X(TK_RULE_RETIRED, "retired", "no suite has it any more") \
	X(TK_RULE_GONE_UNSUPPORTED, "gone-unsupported", \
	        "the backend did not do it when last measured") \
	X(TK_RULE_NOT_DUE, "not-due", "the rotation of its suite measures it on another night") \
	X(TK_RULE_MISSING, "missing", "the newest full night left it out") \
	X(TK_RULE_NOT_MEASURED_RECENTLY, "not-measured-recently", "no run in the range") \
	X(TK_RULE_SKIPPED, "skipped", "the night had no time or no device for it") \
	X(TK_RULE_SKIPPED_NEW, "skipped-new", "the same, and it never had a timing") \
	X(TK_RULE_STILL_FAILING, "still-failing", "failed before and fails now") \
	X(TK_RULE_NEVER_TIMED, "never-timed", "fails, and never had a timing") \
	X(TK_RULE_NEWLY_FAILED, "newly-failed", "had a timing before and fails now") \
	/* nothing to compare with */ \
	X(TK_RULE_STALE, "stale", "its newest timing is too old") \
	X(TK_RULE_BASELINE_NOT_MEASURED, "baseline-not-measured", \
	        "the chosen baseline was never measured") \
	X(TK_RULE_ZERO, "zero", "0 before or 0 now: there is no ratio") \
	X(TK_RULE_FIRST_TIMING_AFTER_FAILURE, "first-timing-after-failure", \
	        "first timing, after a failure") \
	X(TK_RULE_FIRST_TIMING, "first-timing", "first timing") \
	/* the level changed */ \
	X(TK_RULE_BACK_AGAIN, "back-again", \
	        "the newest nights are at the level before, as A/B runs or a closed alert say") \
	X(TK_RULE_MACHINE_MOVED_ALONE, "machine-moved-alone", \
	        "the machine changed, the timings did not") \
	X(TK_RULE_TOO_EARLY, "too-early", "too few nights for this series") \
	X(TK_RULE_FEW_NIGHTS, "few-nights", "fewer nights than required") \
	X(TK_RULE_FEW_SAMPLES, "few-samples", "fewer samples than required") \
	X(TK_RULE_UNCHANGED_CODE, "unchanged-code", "the machine code is that of before") \
	X(TK_RULE_ENVIRONMENT_CHANGED, "environment-changed", \
	        "driver, card, clocks or method changed") \
	X(TK_RULE_SPIKE, "spike", "one night, no larger than an earlier spike") \
	X(TK_RULE_BACK_SINCE, "back-since", "newest or many nights are at the level before again") \
	X(TK_RULE_STILL_AT_ALERT, "still-at-alert", "the level that an alert reported") \
	X(TK_RULE_CHANGED, "changed", "the level moved; which direction is better is not known") \
	X(TK_RULE_REGRESSED, "regressed", "the level got worse") \
	X(TK_RULE_BACK_AFTER_STEP, "back-after-step", "a step back to the level before an alert") \
	X(TK_RULE_IMPROVED, "improved", "the level got better") \
	/* it did not, as far as the nights show */ \
	X(TK_RULE_RETRACTED, "retracted", "the monitor retracted its step") \
	X(TK_RULE_SHARED_STEP, "shared-step", "a step of the whole machine") \
	X(TK_RULE_CHANGED_BEFORE, "changed-before", "the change is from before the range") \
	X(TK_RULE_BACK, "back", "back at the level before an alert") \
	X(TK_RULE_FIXED, "fixed", "has a timing again after a failure") \
	X(TK_RULE_SHARED_SHIFT, "shared-shift", "moved with the machine") \
	X(TK_RULE_BELOW_FLOOR, "below-floor", "less time than thresholds.min_effect_time") \
	X(TK_RULE_SUGGESTIVE, "suggestive", "a change that may be noise") \
	X(TK_RULE_TOO_NOISY, "too-noisy", "only large changes would be seen") \
	X(TK_RULE_NO_CHANGE, "no-change", "no rule found a change") \
	/* A/B runs overrule the nights; a reported change is no news; people accept changes */ \
	X(TK_RULE_AB_CONFIRMED, "ab-confirmed", "A/B runs found the change") \
	X(TK_RULE_AB_REFUTED, "ab-refuted", "A/B runs found none") \
	X(TK_RULE_AB_NOT_REPRODUCED, "ab-not-reproduced", "A/B runs show no trace of it") \
	X(TK_RULE_ALREADY_REPORTED, "already-reported", "an earlier night reported the change")

/* What a verdict rests on: kind, word in the store, what its numbers, its time and its text are.
 * Changes and shares are ratios: 0.02 is 2 %. */
#define TK_FACTS(X) \
	X(TK_FACT_NOT_MEASURED, "not-measured", "no number") \
	X(TK_FACT_RETIRED, "retired", "no number") \
	X(TK_FACT_WAS_UNSUPPORTED, "was-unsupported", "no number") \
	X(TK_FACT_LAST_MEASURED, "last-measured", \
	        "nights ago, nights of its rotation (0: none); time") \
	X(TK_FACT_DATA_AGE, "data-age", "seconds") \
	X(TK_FACT_OUTCOME, "outcome", "text: word and message") \
	X(TK_FACT_OUTCOME_BEFORE, "outcome-before", "text: the same, of the previous run") \
	X(TK_FACT_NO_TIMING_YET, "no-timing-yet", "no number") \
	X(TK_FACT_NEVER_TIMED, "never-timed", "no number") \
	X(TK_FACT_BASELINE_NOT_MEASURED, "baseline-not-measured", "text: name of the baseline") \
	X(TK_FACT_ZERO_STEP, "zero-step", "value before; time") \
	X(TK_FACT_ZERO_OPEN, "zero-open", "no number") \
	X(TK_FACT_MONITOR_STEP, "monitor-step", "log-likelihood ratio; time") \
	X(TK_FACT_DRIFT, "drift", "seconds, log-likelihood ratio; time it began") \
	X(TK_FACT_NIGHTLY_MEDIANS, "nightly-medians", "change") \
	X(TK_FACT_SHARED_SHIFT, "shared-shift", "series, controls, shift, change without it") \
	X(TK_FACT_ENVIRONMENT, "environment", "text: what changed") \
	X(TK_FACT_NO_CONTROL, "no-control", "no number") \
	X(TK_FACT_UNADJUSTED, "unadjusted", "change of the timings themselves") \
	X(TK_FACT_TOO_EARLY, "too-early", "change, nights") \
	X(TK_FACT_FEW_NIGHTS, "few-nights", "change, nights, nights required") \
	X(TK_FACT_FEW_SAMPLES, "few-samples", "change, samples before, after, required") \
	X(TK_FACT_SAME_CODE, "same-code", "no number") \
	X(TK_FACT_CODE_CHANGED_LATER, "code-changed-later", "no number") \
	X(TK_FACT_CODE_CHANGE, "code-change", "text: registers, spills, instructions") \
	X(TK_FACT_CONFIG_CHANGE, "config-change", "text: configuration before and after") \
	X(TK_FACT_REGIONS, "regions", "text: what changed inside the kernel, by a trace") \
	X(TK_FACT_SPIKE, "spike", "-1: better, +1: worse") \
	X(TK_FACT_BACK_SINCE, "back-since", "nights at the level before, nights, newest of them") \
	X(TK_FACT_STILL_AT_ALERT, "still-at-alert", "time; text: first bad revision") \
	X(TK_FACT_BACK_TO_BASELINE, "back-to-baseline", "time; text: first bad revision") \
	X(TK_FACT_STEP_RETRACTED, "step-retracted", "time") \
	X(TK_FACT_SHARED_STEP, "shared-step", "change; time") \
	X(TK_FACT_CHANGED_BEFORE, "changed-before", "1: before the night, 0: before the range") \
	X(TK_FACT_BELOW_MIN_TIME, "below-min-time", "change and least change in ns") \
	X(TK_FACT_MORE_NIGHTS, "more-nights", "change, nights still needed") \
	X(TK_FACT_WITHIN_NOISE, "within-noise", "change, noise of one night") \
	X(TK_FACT_TOO_NOISY, "too-noisy", "noise of one night, minimum detectable change") \
	X(TK_FACT_AB_CHANGE, "ab-change", "change, lo, hi, pairs; text 'min': fastest samples") \
	X(TK_FACT_AB_NO_CHANGE, "ab-no-change", "the same") \
	X(TK_FACT_AB_RETRACTED, "ab-retracted", "the same: the nights had found a change") \
	X(TK_FACT_AB_INCONCLUSIVE, "ab-inconclusive", "the same") \
	X(TK_FACT_NIGHTLY_ESTIMATE, "nightly-estimate", "change") \
	X(TK_FACT_ALREADY_REPORTED, "already-reported", "text: first revision of the level") \
	X(TK_FACT_RENAMED_FROM, "renamed-from", "change; text: the series that ended before") \
	X(TK_FACT_RENAMED_TO, "renamed-to", "change; text: the series that began after") \
	X(TK_FACT_NEW_VERSION, "new-version", "no number") \
	X(TK_FACT_ACKNOWLEDGED, "acknowledged", "text: state, author and note")

/* ---- all of them ----------------------------------------------------------------------------- */

/* Each has an enum, a table tk_STEM_words and a function tk_STEM_name(), the first ones also
 * tk_STEM_parse(): stem, subject, list, name of the number of words in the enum (or nothing). */
#define TK_VOCABULARIES_PARSED(V) \
	V(ab_decision, "decision of A/B runs", TK_AB_DECISIONS, ) \
	V(ab_verdict, "verdict of an A/B comparison", TK_AB_VERDICTS, TK_AB_VERDICT_COUNT) \
	V(alert_kind, "alert kind", TK_ALERT_KINDS, ) \
	V(better, "direction", TK_BETTER, ) \
	V(bisect_outcome, "outcome of a bisection", TK_BISECT_OUTCOMES, ) \
	V(build_status, "build status", TK_BUILD_STATUSES, ) \
	V(cause, "cause", TK_CAUSES, ) \
	V(fact_kind, "fact", TK_FACTS, TK_FACT_COUNT) \
	V(kernel_report, "kind of kernel report", TK_KERNEL_REPORTS, TK_KERNEL_REPORT_COUNT) \
	V(night_kind, "night kind", TK_NIGHT_KINDS, ) \
	V(outcome, "outcome", TK_OUTCOMES, TK_OUTCOME_COUNT) \
	V(rule_id, "rule", TK_RULES, TK_RULE_COUNT) \
	V(triage_action, "action on an alert", TK_TRIAGE_ACTIONS, ) \
	V(triage_state, "triage state", TK_TRIAGE_STATES, ) \
	V(tune_state, "state of a tuning", TK_TUNE_STATES, TK_TUNE_STATE_COUNT) \
	V(tune_verdict, "verdict of tuning", TK_TUNE_VERDICTS, TK_TUNE_VERDICT_COUNT) \
	V(upstream_kind, "kind of upstream", TK_UPSTREAM_KINDS, ) \
	V(verdict_status, "status", TK_VERDICT_STATUSES, TK_VERDICT_STATUS_COUNT)

#define TK_VOCABULARIES(V) \
	TK_VOCABULARIES_PARSED(V) \
	V(alert_status, "alert status", TK_ALERT_STATUSES, ) \
	V(ceiling_source, "source of a ceiling", TK_CEILING_SOURCES, ) \
	V(device_kind, "device kind", TK_DEVICE_KINDS, ) \
	V(metric, "metric", TK_METRICS, ) \
	V(mode, "mode", TK_MODES, TK_MODE_COUNT) \
	V(monitor_event_kind, "event of a monitor", TK_MONITOR_EVENT_KINDS, ) \
	V(night_status, "night status", TK_NIGHT_STATUSES, ) \
	V(resolution_status, "status of an upstream", TK_RESOLUTION_STATUSES, ) \
	V(series_role, "role", TK_SERIES_ROLES, ) \
	V(stage, "stage", TK_STAGES, ) \
	V(stage_status, "stage status", TK_STAGE_STATUSES, ) \
	V(unit, "unit", TK_UNITS, ) \
	V(verdict_state, "state of a change", TK_VERDICT_STATES, )

const char *tk_vocabulary_name(
        const struct tk_vocabulary *v, int value); /* "unknown" outside the list */
const char *tk_vocabulary_meaning(
        const struct tk_vocabulary *v, int value); /* "" outside the list */
/* 0, or TK_EDATA: not in the list, or NULL; *value is unchanged then. */
int tk_vocabulary_parse(const struct tk_vocabulary *v, const char *name, int *value);
/* The value of the name; `otherwise` for NULL and what is not in the list. */
int tk_vocabulary_find(const struct tk_vocabulary *v, const char *name, int otherwise);

#define TK_VOCABULARY_ID(id, ...) id,
#define TK_VOCABULARY_DECLARE(stem, subject, LIST, COUNT) \
	enum tk_##stem{LIST(TK_VOCABULARY_ID) COUNT}; \
	_Static_assert( \
	        sizeof(enum tk_##stem) == sizeof(int), "columns of the store hold enums as int"); \
	extern const struct tk_vocabulary tk_##stem##_words; \
	static inline const char *tk_##stem##_name(enum tk_##stem value) \
	{ \
		return tk_vocabulary_name(&tk_##stem##_words, (int)value); \
	}
TK_VOCABULARIES(TK_VOCABULARY_DECLARE)

#define TK_VOCABULARY_PARSE(stem, subject, LIST, COUNT) \
	static inline int tk_##stem##_parse(const char *name, enum tk_##stem *out) \
	{ \
		int value = tk_vocabulary_find(&tk_##stem##_words, name, -1); \
		if (value < 0) \
			return TK_EDATA; \
		*out = (enum tk_##stem)value; \
		return TK_OK; \
	}
TK_VOCABULARIES_PARSED(TK_VOCABULARY_PARSE)

/* ---- what follows from a word ---------------------------------------------------------------- */

/* NULL or another word: ..._OTHER. */
enum tk_unit tk_unit_from_name(const char *name);
enum tk_metric tk_metric_from_name(const char *name);
enum tk_device_kind tk_device_kind_from_name(const char *name);
/* Of a set of kinds: 1 << kind. */
uint32_t tk_device_kind_bit(const char *name);
enum tk_unit tk_metric_unit(enum tk_metric value);

bool tk_outcome_has_timing(enum tk_outcome value); /* a timing that counts */
/* Of a call of a backend that did not succeed, by its enum tk_abi_status. */
enum tk_outcome tk_outcome_from_abi(int status);
/* Whether a build left backends that can be measured: ok, partial. */
bool tk_build_status_is_usable(enum tk_build_status value);
/* Whether a night as a whole is unreliable: at least half of its timings are unstable. */
bool tk_outcome_is_night_unreliable(size_t unstable, size_t timed);

const char *tk_verdict_status_mark(enum tk_verdict_status value);
/* For sentences that count series, "24 new (no baseline yet)": the name, or a phrase where the name
 * says too little. */
const char *tk_verdict_status_phrase(enum tk_verdict_status value);
/* True where the action changes the state; *state is what it becomes. False, and *state unchanged,
 * for a value outside the list: a newer tracker may have written it. */
bool tk_triage_action_state(enum tk_triage_action action, enum tk_triage_state *state);

/* Whether its revisions are commits of a repository: self, git. */
bool tk_upstream_kind_has_commits(enum tk_upstream_kind kind);
/* Whether it has past revisions that an adapter can build: self, git, package. */
bool tk_upstream_kind_is_built(enum tk_upstream_kind kind);

/* 0 or TK_EDATA. Also reads what says which sequence: "sequence:NAME", "sequence:NAME@HASH". */
int tk_mode_parse(const char *name, enum tk_mode *out);
bool tk_mode_rotates_inputs(enum tk_mode value);
/* The mode of a device unless the user says otherwise: paced on GPUs, else cold. */
enum tk_mode tk_mode_default(const char *device_kind);
/* A series in mode sequence has "sequence:NAME@HASH" as its mode, with the first digits of the hash
 * of the sequence's kernels: other kernels are another series. */
#define TK_MODE_WORD_SIZE 96
/* "sequence:NAME@HASH"; `hash` is hexadecimal and may be longer. TK_EDATA: no such name. */
int tk_mode_format_sequence(
        const char *name, const char *hash, char out[TK_MODE_WORD_SIZE], struct tk_error *err);
/* The name in "sequence:NAME" or "sequence:NAME@HASH". False: there is none. */
bool tk_mode_get_sequence(const char *word, char name[TK_MODE_WORD_SIZE]);

#endif
