#include "config/internal.h"

#define HOUR 3600.0
#define DAY 86400.0
#define MIB 0x1p20
#define PIB 0x1p50

#define FIELD(member) offsetof(struct tk_config, member)
#define UPSTREAM_FIELD(member) offsetof(struct tk_upstream_config, member)

/* clang-format off */
static const struct tk_config_key top_keys[] = {
	{ .name = "machine", .type = TK_CONFIG_TEXT, .offset = FIELD(machine),
	  .fallback_note = "the host's name", .example = "bench-01",
	  .summary = "name of this machine in the history and on the pages; without it the "
	             "host's name",
	  .details = "Keep it when the host is renamed: series belong to this name." },
	{ .name = "devices", .type = TK_CONFIG_NAMES, .offset = FIELD(devices), .fallback = "all",
	  .summary = "devices to measure: all, a kind (cpu, cuda, hip), one device (cuda:0) or "
	             "a UUID" },
	{ .name = "suites", .type = TK_CONFIG_TEXTS, .offset = FIELD(suites), .fallback = "smoke",
	  .summary = "problems to measure: names of suites (`tracker suite list`), or paths; "
	             "KIND:NAME for one kind of device",
	  .details = "`cuda:first-gpu` is measured on devices of the kind `cuda` only. "
	             "A name is looked up as `suites/NAME.yml` beside this file, then among the "
	             "suites that come with the tracker. See [suites](suites.md)." },
	{ .name = "rotate", .type = TK_CONFIG_TEXTS, .offset = FIELD(rotate), .fallback = "",
	  .example = "[gemm-full:7]",
	  .summary = "SUITE:NIGHTS: measure a suite once in so many nights, a share each night",
	  .details = "In place of `rotate` in the file of the suite; 1: all of it every night. See "
	             "[suites](suites.md#the-file)." },
	{ .name = "sandbox", .type = TK_CONFIG_SANDBOX_MODE, .offset = FIELD(sandbox),
	  .fallback = "auto",
	  .summary = "boundary around builds and backends: required, auto or off",
	  .details = "`auto`: the best that the machine has, with a warning where it fails; where "
	             "$CI is set, as `required`. "
	             "`required`: builds and workers do not start without bubblewrap or Landlock. "
	             "`tracker doctor` says which is in use. See "
	             "[sandbox](../explanation/sandbox.md)." },
	{ NULL },
};

static const struct tk_config_key upstream_keys[] = {
	{ .name = "name", .type = TK_CONFIG_NAME, .offset = UPSTREAM_FIELD(name),
	  .fallback_note = "required", .summary = "unique name; series belong to it",
	  .details = "At most 80 letters, digits, `.`, `_` and `-`." },
	{ .name = "kind", .type = TK_CONFIG_UPSTREAM_KIND, .offset = UPSTREAM_FIELD(kind),
	  .fallback_note = "required", .summary = "what the upstream is",
	  .details = "`self`: the tracker's own kernels, at HEAD of the repository around it. "
	             "`git`: a repository whose newest commit is built. `package`: a Python "
	             "package; its revisions are its versions. `system`: an installed "
	             "library; its revision is the version that it reports. `builtin`: backends "
	             "that were built with the tracker." },
	{ .name = "url", .type = TK_CONFIG_REPOSITORY, .offset = UPSTREAM_FIELD(url),
	  .fallback_note = "`self`: the repository around the tracker; required for `git`",
	  .summary = "anything that `git clone` accepts; for `self` a clone of the tracker" },
	{ .name = "branch", .type = TK_CONFIG_TEXT, .offset = UPSTREAM_FIELD(branch),
	  .fallback_note = "the remote's HEAD", .summary = "branch to follow" },
	{ .name = "path", .type = TK_CONFIG_TEXT, .offset = UPSTREAM_FIELD(path),
	  .fallback_note = "the whole repository",
	  .summary = "only commits that touch this path count as revisions; several have colons between "
	             "them: `csrc/flash_attn:csrc/cutlass`" },
	{ .name = "package", .type = TK_CONFIG_NAME, .offset = UPSTREAM_FIELD(package),
	  .fallback_note = "the upstream's name", .summary = "`package`: name on the index" },
	{ .name = "index", .type = TK_CONFIG_URL, .offset = UPSTREAM_FIELD(index),
	  .fallback_note = "`https://pypi.org/simple`",
	  .summary = "`package`: package index (Simple API with JSON, PEP 691)",
	  .details = "User and password belong into `~/.netrc`." },
	{ .name = "extra_index", .type = TK_CONFIG_URL, .offset = UPSTREAM_FIELD(extra_index),
	  .fallback_note = "none",
	  .summary = "`package`: another index, for versions that the first one lacks" },
	{ .name = "pre", .type = TK_CONFIG_BOOL, .offset = UPSTREAM_FIELD(pre), .fallback = "no",
	  .summary = "`package`: pre-releases count as revisions" },
	{ .name = "python", .type = TK_CONFIG_TEXT, .offset = UPSTREAM_FIELD(python),
	  .fallback_note = "`python3`",
	  .summary = "`package`: interpreter of the virtual environments, a program; with uv also a "
	             "version" },
	{ .name = "adapter", .type = TK_CONFIG_NAME, .offset = UPSTREAM_FIELD(adapter),
	  .fallback_note =
	  "`self`: `self`; `system`, `package`: the upstream's name; required for `git`",
	  .summary = "folder of kernels/adapters or of paths.adapters that builds the upstream",
	  .details = "For `system`: the name of the backend." },
	{ .name = "backends", .type = TK_CONFIG_NAMES, .offset = UPSTREAM_FIELD(backends),
	  .fallback = "", .fallback_note = "all that the adapter makes",
	  .summary = "backends to measure" },
	{ .name = "options", .type = TK_CONFIG_TEXT, .offset = UPSTREAM_FIELD(options),
	  .fallback_note = "none",
	  .summary = "`key=value,key=value`, passed to the backend when it is opened" },
	{ .name = "config", .type = TK_CONFIG_TUNED, .offset = UPSTREAM_FIELD(is_tuned),
	  .fallback = "default",
	  .summary = "configuration of its backends: default, or tuned",
	  .details = "`tuned`: the stored winner of `tracker tune` for the backend, problem and "
	             "device, the default where none is stored. See [tune a "
	             "kernel](../how-to/tune-a-kernel.md#measure-it-every-night)." },
	{ .name = "configs", .type = TK_CONFIG_TEXTS, .offset = UPSTREAM_FIELD(configs),
	  .fallback = "default", .example = "[default, 128x256-2x1-cooperative]",
	  .summary = "configurations of its backends that nights and backfills measure",
	  .details = "Each is a series of its own. `default`: the one that the backend prefers. A "
	             "problem that has no configuration of that name is unsupported in it. Names are "
	             "those of `tracker tune`." },
	{ .name = "cmake_args", .type = TK_CONFIG_TEXT, .offset = UPSTREAM_FIELD(cmake_args),
	  .fallback_note = "none",
	  .summary = "passed to the adapter's build as `TK_FLAGS`; a change is a new build" },
	{ .name = "submodules", .type = TK_CONFIG_PATHS, .offset = UPSTREAM_FIELD(submodules),
	  .fallback = "yes", .example = "[csrc/cutlass]",
	  .summary = "submodules that are checked out",
	  .details = "`yes`: those that the adapter names in its file `sources`; without that file all "
	             "of the repository, but not their own. `recursive`: theirs, too. A list of paths: "
	             "these, where a revision has them. Each is fetched once for all upstreams." },
	{ .name = "enabled", .type = TK_CONFIG_BOOL, .offset = UPSTREAM_FIELD(enabled),
	  .fallback = "yes", .summary = "`no` keeps the entry without measuring it" },
	{ .name = "network", .type = TK_CONFIG_BOOL, .offset = UPSTREAM_FIELD(network),
	  .fallback = "no", .summary = "`yes` lets its builds use the network in the sandbox" },
	{ .name = "trusted", .type = TK_CONFIG_BOOL, .offset = UPSTREAM_FIELD(trusted),
	  .fallback = "no", .summary = "`yes` stores the end of the log of a failed build",
	  .details = "Pages show it. A build of others could print what it should not have read; "
	             "its first error, and on this machine `tracker build --list`, say why it "
	             "failed." },
	{ .name = "env", .type = TK_CONFIG_NAMES, .offset = UPSTREAM_FIELD(env), .fallback = "",
	  .fallback_note = "none",
	  .summary = "variables of the environment that its builds get besides the usual ones",
	  .details = "See [the environment](../explanation/sandbox.md#the-environment)." },
	{ NULL },
};

static const struct tk_config_key budget_keys[] = {
	{ .name = "night", .type = TK_CONFIG_DURATION, .offset = FIELD(budgets.night_s), .min = 1,
	  .max = 7 * DAY, .fallback = "4h",
	  .summary = "wall time of a whole night; jobs that do not fit are recorded as skipped" },
	{ .name = "build", .type = TK_CONFIG_DURATION, .offset = FIELD(budgets.build_s), .min = 1,
	  .max = DAY, .fallback = "30m", .summary = "one build" },
	{ .name = "job", .type = TK_CONFIG_DURATION, .offset = FIELD(budgets.job_s), .min = 0.1,
	  .max = DAY, .fallback = "2m",
	  .summary = "one problem on one backend: load, verify, measure",
	  .details = "After that the worker is killed, and the outcome is `timeout`." },
	{ .name = "measure", .type = TK_CONFIG_DURATION, .offset = FIELD(budgets.measure_s),
	  .min = 0.001, .max = HOUR, .fallback = "500ms",
	  .summary = "sampling time within a job; at most budgets.job" },
	{ .name = "fetch", .type = TK_CONFIG_DURATION, .offset = FIELD(budgets.fetch_s), .min = 1,
	  .max = DAY, .fallback = "5m", .summary = "one git fetch" },
	{ .name = "confirm", .type = TK_CONFIG_DURATION, .offset = FIELD(budgets.confirm_s),
	  .max = DAY, .fallback = "10m", .summary = "A/B runs of suspected changes; 0: none",
	  .details = "The last good build and the new one are measured in turns, see "
	             "[confirmation](../explanation/ab-runs.md)." },
	{ .name = "bisect", .type = TK_CONFIG_DURATION, .offset = FIELD(budgets.bisect_s),
	  .max = 7 * DAY, .fallback = "30m",
	  .summary = "search for the first bad commit of a regression; 0: none",
	  .details = "Only where the range has more than one commit, see [finding the "
	             "commit](../how-to/find-the-commit.md)." },
	{ .name = "trace", .type = TK_CONFIG_DURATION, .offset = FIELD(budgets.trace_s),
	  .max = DAY, .fallback = "5m",
	  .summary = "region-by-region comparison of regressed kernels that record; 0: none",
	  .details = "After everything else, if the night has time, see [comparing "
	             "builds](../how-to/trace-a-kernel.md#compare-two-builds)." },
	{ .name = "tune", .type = TK_CONFIG_DURATION, .offset = FIELD(budgets.tune_s),
	  .max = 7 * DAY, .fallback = "10m",
	  .summary = "search for the configurations of upstreams with `config: tuned`, where none is "
	             "stored or a new revision or driver made it stale; 0: none",
	  .details = "See [tuning](../how-to/tune-a-kernel.md#tune-again-in-nights)." },
	{ .name = "build_memory", .type = TK_CONFIG_SIZE,
	  .offset = FIELD(budgets.build_memory_bytes), .min = 64 * MIB, .max = PIB,
	  .fallback = "16GiB", .summary = "address space of each process of a build" },
	{ .name = "build_disk", .type = TK_CONFIG_SIZE, .offset = FIELD(budgets.build_disk_bytes),
	  .min = MIB, .max = PIB, .fallback = "64GiB",
	  .summary = "disk space of one build: its work tree, output, temporary files and ccache" },
	{ .name = "job_memory", .type = TK_CONFIG_SIZE, .offset = FIELD(budgets.job_memory_bytes),
	  .min = 64 * MIB, .max = PIB, .fallback = "16GiB",
	  .summary = "address space of a worker" },
	{ .name = "cache", .type = TK_CONFIG_SIZE, .offset = FIELD(budgets.cache_bytes), .min = MIB,
	  .max = PIB, .fallback = "10GiB",
	  .summary = "cached builds; the last good one of each upstream is always kept" },
	{ NULL },
};

static const struct tk_config_key measure_keys[] = {
	{ .name = "precision", .type = TK_CONFIG_FRACTION,
	  .offset = FIELD(measure.relative_half_width), .min = 0.0001, .max = 0.5, .fallback = "1%",
	  .summary = "target half-width of the median's confidence interval",
	  .details = "Sampling ends when the interval is this narrow, or when the budget is "
	             "spent." },
	{ .name = "confidence", .type = TK_CONFIG_FRACTION, .offset = FIELD(measure.confidence),
	  .min = 0.5, .max = 0.9999, .fallback = "95%",
	  .summary = "confidence level of that interval" },
	{ .name = "min_samples", .type = TK_CONFIG_COUNT, .offset = FIELD(measure.min_samples),
	  .min = 1, .max = 100000, .fallback = "10", .summary = "never fewer samples" },
	{ .name = "max_samples", .type = TK_CONFIG_COUNT, .offset = FIELD(measure.max_samples),
	  .min = 1, .max = 1000000, .fallback = "1000", .summary = "never more samples" },
	{ .name = "modes", .type = TK_CONFIG_NAMES, .offset = FIELD(measure.modes),
	  .fallback = "cpu:cold, cuda:paced, cuda:sustained, hip:paced, hip:sustained",
	  .summary = "KIND:MODE; each mode is a series of its own: cold, hot, paced, sustained, "
	             "contended, sequence:NAME",
	  .details = "A kind of device that is not listed is measured `paced` if it is a GPU, "
	             "else `cold`. The control and the ceilings use the first mode of the kind. "
	             "See [GPU modes](../explanation/measuring-gpus.md) and "
	             "[sequences](suites.md#sequences)." },
	{ .name = "threads", .type = TK_CONFIG_COUNT, .offset = FIELD(measure.threads), .max = 4096,
	  .fallback = "0", .summary = "CPU threads of a backend; 0: all cores" },
	{ .name = "pin", .type = TK_CONFIG_BOOL, .offset = FIELD(measure.pin), .fallback = "yes",
	  .summary = "bind the threads to cores" },
	{ .name = "recheck", .type = TK_CONFIG_FRACTION, .offset = FIELD(measure.recheck),
	  .max = 1, .fallback = "2%",
	  .summary = "share of the jobs that a new process measures again, at random; 0%: none",
	  .details = "It finds backends that work only in their first process. See "
	             "[verification](../explanation/verification.md#in-a-new-process)." },
	{ .name = "referee", .type = TK_CONFIG_FRACTION, .offset = FIELD(measure.referee),
	  .max = 1, .fallback = "2%",
	  .summary = "share of the jobs that a referee judges, at random; 0%: none of them",
	  .details = "New series, new bests and improvements are judged in any case. See "
	             "[the referee](../explanation/threat-model.md#the-referee)." },
	{ .name = "launch_cost", .type = TK_CONFIG_BOOL, .offset = FIELD(measure.launch_cost),
	  .fallback = "no", .summary = "also record what a launch costs the host (metric launch)" },
	{ .name = "energy", .type = TK_CONFIG_BOOL, .offset = FIELD(measure.energy),
	  .fallback = "no", .summary = "also record the energy of an execution (metric energy)",
	  .details = "Where the device counts it, and in modes without idle gaps." },
	{ .name = "memory", .type = TK_CONFIG_BOOL, .offset = FIELD(measure.memory),
	  .fallback = "no", .summary = "also record the device memory of a job (metric memory)",
	  .details = "Inputs and workspace included, where the device reports it." },
	{ .name = "compile_time", .type = TK_CONFIG_BOOL, .offset = FIELD(measure.compile_time),
	  .fallback = "no",
	  .summary = "also record what a kernel took to compile (metric compile)",
	  .details = "Of compiled kernel packages: processor time on the machine that built them." },
	{ NULL },
};

static const struct tk_config_key threshold_keys[] = {
	{ .name = "min_effect", .type = TK_CONFIG_FRACTION, .offset = FIELD(thresholds.min_effect),
	  .max = 1, .has_auto = true, .fallback = "auto",
	  .summary = "smaller changes are never reported",
	  .details = "A change has to exceed the greater of this value and three standard "
	             "errors of the series' own noise; `0%`: the noise alone decides. `auto`: "
	             "three times the noise of equal code on that device, in that mode, between "
	             "0.5% and 2%; 2% until eight pairs of equal code are measured. `tracker "
	             "doctor` says what it is." },
	{ .name = "min_effect_time", .type = TK_CONFIG_TIME_NS,
	  .offset = FIELD(thresholds.min_effect_ns), .max = 1, .fallback = "100ns",
	  .summary = "changes by less time than this are never reported",
	  .details = "Of the tracker's own measurements. The results of other tools have no least "
	             "change in time." },
	{ .name = "false_discovery_rate", .type = TK_CONFIG_FRACTION,
	  .offset = FIELD(thresholds.fdr), .min = 0.0001, .max = 0.5, .fallback = "5%",
	  .summary = "expected share of false alarms among the alarms of a night" },
	{ .name = "window", .type = TK_CONFIG_COUNT, .offset = FIELD(thresholds.window), .min = 1,
	  .max = 1000, .fallback = "14", .summary = "nights that make the baseline" },
	{ .name = "stale", .type = TK_CONFIG_DAYS, .offset = FIELD(thresholds.stale_days),
	  .min = DAY, .max = 3650 * DAY, .fallback = "14d",
	  .summary = "age of the newest point at which a series is stale" },
	{ .name = "baseline", .type = TK_CONFIG_TEXT, .offset = FIELD(thresholds.baseline),
	  .fallback = "window",
	  .summary = "baseline of `tracker diff`: window, first, best, pinned:REV or tag:NAME",
	  .details = "Nights are always compared with the nights before them. See "
	             "[baselines](diff.md#the-baseline)." },
	{ .name = "missing_data", .former_name = "stoppage", .type = TK_CONFIG_COUNT,
	  .offset = FIELD(thresholds.missing_data_nights), .max = 1000, .fallback = "3",
	  .summary = "nights without data that open an alert; 0: never",
	  .details = "See [triage](../how-to/triage-alerts.md)." },
	{ NULL },
};

static const struct tk_config_key control_keys[] = {
	{ .name = "upstream", .type = TK_CONFIG_NAME, .offset = FIELD(control.upstream),
	  .fallback = "builtin", .summary = "one of upstreams, or builtin" },
	{ .name = "backend", .type = TK_CONFIG_NAME, .offset = FIELD(control.backend),
	  .fallback = "control", .summary = "backend of that upstream" },
	{ .name = "problem", .type = TK_CONFIG_PROBLEM, .offset = FIELD(control.problem),
	  .fallback = "gemm:m=512,n=512,k=512", .summary = "op:key=value,...",
	  .details = "See [suites](suites.md)." },
	{ .name = "every", .type = TK_CONFIG_COUNT, .offset = FIELD(control.every), .max = 100000,
	  .fallback = "10", .summary = "jobs of a device between two controls; 0: no control" },
	{ NULL },
};

static const struct tk_config_key site_keys[] = {
	{ .name = "title", .type = TK_CONFIG_TEXT, .offset = FIELD(site_title),
	  .fallback = "Kernel performance", .summary = "title of the pages" },
	{ .name = "url", .type = TK_CONFIG_URL, .offset = FIELD(site_url), .fallback_note = "none",
	  .example = "https://example.org/kernels",
	  .summary = "where the site is published; the feed, the webhook and `tracker diff` "
	             "link there" },
	{ .name = "commit_url", .type = TK_CONFIG_URL, .offset = FIELD(commit_url),
	  .fallback_note = "none", .example = "https://github.com/OWNER/REPOSITORY/commit/{rev}",
	  .summary = "address of a commit of `self`, with /commit/{rev} in it",
	  .details = "GitHub, GitLab, Codeberg, Gitea and Forgejo have such addresses." },
	{ .name = "tie", .type = TK_CONFIG_FRACTION, .offset = FIELD(site_tie), .max = 0.5,
	  .fallback = "1%",
	  .summary = "backends whose times differ by less share the first place of a ranking",
	  .details = "Measurements whose confidence intervals overlap are ties at any value." },
	{ NULL },
};

static const struct tk_config_key path_keys[] = {
	{ .name = "db", .type = TK_CONFIG_PATH, .offset = FIELD(db), .fallback = "tracker.db",
	  .summary = "the history; --db=FILE overrides it" },
	{ .name = "site", .type = TK_CONFIG_PATH, .offset = FIELD(site_dir), .fallback = "site",
	  .summary = "folder of the site" },
	{ .name = "cache", .type = TK_CONFIG_PATH, .offset = FIELD(cache_dir),
	  .fallback_note = "`$TRACKER_CACHE`, else the user's cache folder",
	  .example = "~/.cache/tracker", .summary = "clones, work trees and cached builds" },
	{ .name = "adapters", .type = TK_CONFIG_PATH, .offset = FIELD(adapter_path),
	  .fallback_note = "none", .example = "adapters",
	  .summary = "folder of your own adapters, searched before the tracker's" },
	{ .name = "acks", .type = TK_CONFIG_PATH, .offset = FIELD(acks_path),
	  .fallback_note = "`acks.yml`, if it exists", .example = "acks.yml",
	  .summary = "accepted changes, a file to review and commit",
	  .details = "See [acks.yml](../how-to/triage-alerts.md#acksyml)." },
	{ NULL },
};

static const struct tk_config_key retention_keys[] = {
	{ .name = "samples", .type = TK_CONFIG_DAYS, .offset = FIELD(keep_samples_days), .min = DAY,
	  .max = 36500 * DAY, .fallback = "90d",
	  .summary = "raw samples; summaries are kept for ever" },
	{ NULL },
};

static const struct tk_config_key notify_keys[] = {
	{ .name = "fail_on", .type = TK_CONFIG_NAMES, .offset = FIELD(fail_on),
	  .fallback = "regressed, newly-failed",
	  .summary = "statuses for which `tracker nightly` exits with 1; []: none" },
	{ .name = "webhook", .type = TK_CONFIG_URL, .offset = FIELD(webhook_url),
	  .fallback_note = "none", .example = "https://hooks.example.org/services/...",
	  .summary = "receives the new alerts of a night as JSON" },
	{ NULL },
};

static const struct tk_config_key signing_keys[] = {
	{ .name = "key", .type = TK_CONFIG_PATH, .offset = FIELD(signing.key),
	  .fallback_note = "none", .example = "~/.ssh/id_ed25519",
	  .summary = "SSH key that signs the files of export, db backup and build --export",
	  .details = "A private key, or a public one whose private key the SSH agent has. The "
	             "signature of FILE is FILE.sig. See [signing](../how-to/sign-histories.md)." },
	{ .name = "allowed_signers", .type = TK_CONFIG_PATH,
	  .offset = FIELD(signing.allowed_signers), .fallback_note = "none",
	  .example = "allowed_signers",
	  .summary = "who may sign the files that merge and import read; without it "
	             "signatures are not required",
	  .details = "A file as `man ssh-keygen` describes it, with the namespace `tracker`." },
	{ NULL },
};

const struct tk_config_section tk_config_sections[] = {
	{ .name = "", .title = "Machine, devices, suites", .keys = top_keys,
	  .example = "machine: bench-01\n"
	             "devices: [cpu]\n"
	             "suites: [smoke, nsa-core]\n" },
	{ .name = "upstreams", .title = "Upstreams", .keys = upstream_keys,
	  .summary = "where kernels come from; every night asks each upstream for its newest "
	             "revision",
	  .note = "The upstream `builtin` (the control and the ceilings) is always available "
	          "and need not be listed.",
	  .example = "upstreams:\n"
	             "  # NVIDIA's library, if the tracker was built with it\n"
	             "  - name: cublas\n"
	             "    kind: system\n"
	             "    adapter: cublas  # or cublaslt, cublas_native, cudnn: one upstream each\n"
	             "  # OpenBLAS and BLIS from their repositories, built every night\n"
	             "  - name: openblas-develop\n"
	             "    kind: git\n"
	             "    url: https://github.com/OpenMathLib/OpenBLAS.git\n"
	             "    branch: develop\n"
	             "    adapter: openblas\n"
	             "  - name: blis\n"
	             "    kind: git\n"
	             "    url: https://github.com/flame/blis.git\n"
	             "    adapter: blis\n"
	             "  # a repository on this machine; only commits that touch `path` count\n"
	             "  - name: my-blas\n"
	             "    kind: git\n"
	             "    url: ~/src/my-blas\n"
	             "    path: kernel\n"
	             "    adapter: openblas\n"
	             "    cmake_args: -DCMAKE_BUILD_TYPE=Release\n" },
	{ .name = "budgets", .title = "Budgets", .keys = budget_keys,
	  .summary = "what a night may cost" },
	{ .name = "measure", .title = "Measuring", .keys = measure_keys,
	  .summary = "how precise a measurement is, and what is recorded" },
	{ .name = "thresholds", .title = "Thresholds", .keys = threshold_keys,
	  .summary = "what counts as a change",
	  .example = "budgets:\n"
	             "  night: 90m\n"
	             "  measure: 500ms\n"
	             "measure:\n"
	             "  precision: 0.5%\n"
	             "  threads: 8\n"
	             "thresholds:\n"
	             "  min_effect: 3%\n"
	             "  stale: 4w\n" },
	{ .name = "control", .title = "Control", .keys = control_keys,
	  .summary = "a pinned problem between the others: when it changes, the machine has "
	             "changed" },
	{ .name = "site", .title = "Site, files, retention, notification", .keys = site_keys,
	  .summary = "the site" },
	{ .name = "paths", .keys = path_keys, .summary = "where files are, relative to this file" },
	{ .name = "retention", .keys = retention_keys, .summary = "how long data is kept" },
	{ .name = "notify", .keys = notify_keys, .summary = "who is notified",
	  .example = "control:\n"
	             "  problem: gemm:m=1024,n=1024,k=1024,a=f32\n"
	             "  every: 5\n"
	             "site:\n"
	             "  title: Nightly kernels\n"
	             "  commit_url: https://github.com/OWNER/REPOSITORY/commit/{rev}\n"
	             "paths:\n"
	             "  db: /var/lib/tracker/tracker.db\n"
	             "retention:\n"
	             "  samples: 26w\n"
	             "notify:\n"
	             "  fail_on: [regressed]\n" },
	{ .name = "signing", .title = "Signing", .keys = signing_keys,
	  .summary = "SSH signatures of files that leave this machine, or come to it" },
	{ NULL },
};

/* clang-format on */
