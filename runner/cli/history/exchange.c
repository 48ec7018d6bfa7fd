/* Histories that come from and go to elsewhere: `tracker export`, `merge`, `push` and `pull`. */
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "config/config.h"
#include "store/store.h"
#include "upstream/remote.h"

/* ---- export ---------------------------------------------------------------------------------- */

static struct {
	const char *since, *night, *output;
	enum tk_record_format format;
} export_opt = {.format = TK_RECORD_NDJSON};

static const struct tk_option export_options[] = {
        {TK_OPT_WORD("format", 'f', "ndjson|json|csv", &export_opt.format,
                "Write importable ndjson (default), JSON or CSV")},
        {TK_OPT_TEXT("night", 0, "NIGHT", &export_opt.night,
                "Write only one night: its number, the first digits of its id (`tracker log`), "
                "or `last`")},
        {TK_OPT_TEXT("output", 'o', "FILE", &export_opt.output,
                "Write to FILE instead of the standard output")},
        {TK_OPT_TEXT("since", 's', "TIME", &export_opt.since,
                "Write only nights since TIME: 7d, 2026-11-21")},
        {0},
};

static int run_export(struct tk_globals *g, struct tk_error *err)
{
	int64_t since_s = INT64_MIN, night_id = 0;
	struct tk_command_output out;

	if (export_opt.since &&
	        tk_when_parse(export_opt.since, tk_clock_now_s(), false, &since_s, err))
		return tk_error_add_context(err, "--since"), err->status;
	if (export_opt.night)
		TRY(tk_records_find_night(g->store, export_opt.night, &night_id, err));
	TRY(tk_command_open_output(&out, export_opt.output, err));
	TRY(tk_command_close_output(&out,
	        tk_store_export_records(
	                g->store, since_s, night_id, export_opt.format, out.fd, err),
	        err));
	return export_opt.output
	               ? tk_signature_write(g->config->signing.key, export_opt.output, err)
	               : TK_OK;
}

const struct tk_command tk_command_export = {.name = "export",
        .summary = "write runs for other programs and machines",
        .usage = {.options = export_options,
                .help = "Write the runs of nights with everything that identifies them: one "
                        "record for each point, and for each run without a value.\v"
                        "All formats have the same fields. `tracker import` reads the ndjson of "
                        "whole nights on another machine.\n\n"
                        "Examples:\n"
                        "  tracker export --night=last --output=night.ndjson\n"
                        "  tracker export --since=30d --format=csv --output=month.csv\n"
                        "  tracker export --format=json | jq '.[] | [.series.slug, "
                        ".measurement.value]'"},
        .opens = TK_OPENS_READ,
        .run = run_export};

/* ---- merge ----------------------------------------------------------------------------------- */

static struct {
	const char *output, *into;
	struct tk_option_list files;
} merge_opt;

static const struct tk_option merge_options[] = {
        {TK_OPT_TEXT("into", 'i', "A.db", &merge_opt.into,
                "Merge the FILEs into A.db, in one transaction")},
        {TK_OPT_TEXT("output", 'o', "OUT.db", &merge_opt.output,
                 "Write the merged history to OUT.db, which must not exist"),
                .excludes = "into"},
        {TK_OPT_ARGUMENTS(&merge_opt.files, "missing FILE; expected the histories to merge")},
        {0},
};

/* SQLite would take changes from these files, which a signature does not cover. */
static int refuse_pending_changes(const char *path, struct tk_error *err)
{
	static const char *const ends[] = {"-wal", "-journal"};
	char name[4096];
	struct stat st;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		if (stat(name, &st) == 0 && st.st_size > 0)
			return tk_fail(err, TK_EDATA,
			        "%s: has changes in %s that its signature does not cover; sign a "
			        "copy that `tracker db backup` makes",
			        path, name);
	}
	return TK_OK;
}

/* allowed_signers NULL: signatures are not required. */
static int merge_file(struct tk_store *into, const char *path, const char *allowed_signers,
        struct tk_merge_counts *counts, struct tk_error *err)
{
	AUTO_PTR(tk_store) from = NULL;

	TRY(tk_signature_verify(allowed_signers, path, err));
	TRY(allowed_signers ? refuse_pending_changes(path, err) : TK_OK);
	TRY(tk_store_open(path, TK_STORE_READ, &from, err));
	return tk_store_merge(into, from, counts, err);
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Merges all files or none; a history with itself changes nothing. */
static int merge_files(struct tk_store *into, const struct tk_config *config, struct tk_error *err)
{
	struct tk_merge_counts counts = {{0}};
	const int64_t *added = counts.added;
	int status = TK_OK;

	TRY(tk_store_begin(into, err));
	for (size_t i = 0; i < merge_opt.files.count && !status; i++)
		if (!is_same_file(merge_opt.files.items[i], tk_store_path(into)))
			status = merge_file(into, merge_opt.files.items[i],
			        config->signing.allowed_signers, &counts, err);
	TRY(tk_store_end(into, status, err));
	printf("%s: added %" PRId64 " night%s, %" PRId64 " series, %" PRId64 " point%s\n",
	        merge_opt.output ? merge_opt.output : tk_store_path(into), added[TK_MERGE_NIGHTS],
	        added[TK_MERGE_NIGHTS] == 1 ? "" : "s", added[TK_MERGE_SERIES],
	        added[TK_MERGE_POINTS], added[TK_MERGE_POINTS] == 1 ? "" : "s");
	return TK_OK;
}

static void remove_database(const char *path)
{
	unlink(path);
	tk_store_remove_pending(path, NULL);
}

/* Writes under another name, and renames when complete. */
static int merge_to_new(const char *output, const struct tk_config *config, struct tk_error *err)
{
	AUTO_TEXT part = tk_sprintf("%s.%ld.part", output, (long)getpid());
	struct tk_store *into = NULL;
	struct stat st;
	int status;

	if (lstat(output, &st) == 0 && S_ISLNK(st.st_mode))
		return tk_fail(err, TK_EUSAGE,
		        "%s: is a symbolic link; expected the name of a new file", output);
	if (tk_file_exists(output))
		return tk_fail(err, TK_EUSAGE, "%s already exists; --into merges into it", output);
	remove_database(part);
	status = tk_store_open(part, TK_STORE_CREATE, &into, err);
	if (!status)
		status = merge_files(into, config, err);
	tk_store_close(into);
	if (!status && rename(part, output) != 0)
		status = tk_fail_errno(err, "cannot rename %s to %s", part, output);
	if (status)
		remove_database(part);
	return status;
}

static int run_merge(struct tk_globals *g, struct tk_error *err)
{
	if (merge_opt.into)
		g->db_path = merge_opt.into;
	TRY(tk_command_open(g, merge_opt.output ? TK_OPENS_CONFIG : TK_OPENS_CREATE, err));
	return merge_opt.output ? merge_to_new(merge_opt.output, g->config, err)
	                        : merge_files(g->store, g->config, err);
}

const struct tk_command tk_command_merge = {.name = "merge",
        .summary = "merge several histories into one",
        .usage = {.options = merge_options,
                .arguments = "FILE...",
                .help = "Merge several histories into one: of separate machines, separate "
                        "backends, or halves of a night.\v"
                        "Without --output and --into the FILEs are merged into the history of "
                        "this folder (or of --db). Facts that several FILEs have are stored "
                        "once, the order of the FILEs does not matter, and merging again changes "
                        "nothing. The FILEs are only read. With signing.allowed_signers in "
                        "tracker.yml each FILE needs a signature.\n\n"
                        "Examples:\n"
                        "  tracker merge h200.db mi300.db --output=all.db\n"
                        "  tracker --db=central.db merge node-1.db\n"
                        "  tracker merge runner-*.db --into=tracker.db"},
        .run = run_merge};

/* ---- push ------------------------------------------------------------------------------------ */

static const char *push_url, *push_name;

static const struct tk_option push_options[] = {
        {TK_OPT_TEXT("name", 0, "NAME", &push_name,
                "Call the object NAME.tar.zst (default: the name of this machine)")},
        {TK_OPT_ARGUMENT(
                &push_url, "missing URL; expected s3://BUCKET/FOLDER or https://HOST/FOLDER")},
        {0},
};

/* A copy and its signature, packed in an empty folder of the cache; what a push that was killed has
 * left there is removed. */
static int send_history(
        const struct tk_globals *g, struct tk_remote *remote, const char *dir, struct tk_error *err)
{
	AUTO_TEXT content = tk_path_join(dir, "content");
	AUTO_TEXT copy = tk_path_join(content, "history.db");
	AUTO_TEXT archive = tk_path_join(dir, "history.tar.zst");
	AUTO_TEXT name = push_name ? tk_strdup(push_name) : tk_path_make_slug(g->config->machine);
	char size[TK_FORMAT_SIZE];
	struct stat st;

	TRY(tk_dir_remove(dir, err));
	TRY(tk_dir_create(content, err));
	TRY(tk_store_backup(g->store, copy, err));
	TRY(tk_signature_write(g->config->signing.key, copy, err));
	TRY(tk_archive_write(archive, content, NULL, err));
	if (stat(archive, &st))
		return tk_fail_errno(err, "%s", archive);
	TRY(tk_remote_put(remote, name, archive, err));
	printf("%s: sent %s\n", push_url, tk_format_value((double)st.st_size, "bytes", size));
	return TK_OK;
}

static int run_push(struct tk_globals *g, struct tk_error *err)
{
	AUTO_TEXT dir = tk_path_join(g->config->cache_dir, "push");
	AUTO_TEXT lock_path = tk_path_join(g->config->cache_dir, "push.lock");
	AUTO_PTR(tk_remote) remote = NULL;
	AUTO_PTR(tk_lock) lock = NULL;

	TRY(tk_remote_open(push_url, &remote, err));
	if (push_name && tk_remote_is_object(remote))
		return tk_fail(err, TK_EUSAGE,
		        "%s names an object, and --name=%s another one; expected one of them",
		        push_url, push_name);
	TRY(tk_dir_create(g->config->cache_dir, err));
	TRY(tk_lock_acquire(lock_path, &lock, err));
	int status = send_history(g, remote, dir, err);

	tk_dir_remove(dir, NULL);
	return status;
}

const struct tk_command tk_command_push = {.name = "push",
        .summary = "send the history to a server",
        .usage = {.options = push_options,
                .arguments = "URL",
                .help = "Send this history to URL, where `tracker pull` on another machine finds "
                        "it with those of other machines.\v"
                        "URL is s3://BUCKET/FOLDER, with AWS_ACCESS_KEY_ID, "
                        "AWS_SECRET_ACCESS_KEY, and where they are needed AWS_SESSION_TOKEN, "
                        "AWS_REGION and AWS_ENDPOINT_URL (a server of your own) in the "
                        "environment; or https://HOST/FOLDER of any server that takes a PUT, "
                        "with credentials in ~/.netrc. The object NAME.tar.zst is a copy of the "
                        "whole history, with its signature where signing.key is configured. It "
                        "replaces the one before when all of it has arrived: a push that is cut "
                        "off leaves the old one. Machines need different names.\n\n"
                        "Examples:\n"
                        "  tracker push s3://nights/gpus\n"
                        "  AWS_ENDPOINT_URL=https://minio.lan:9000 tracker push "
                        "s3://nights/gpus\n"
                        "  tracker push https://files.lan/nights --name=h200-1"},
        .opens = TK_OPENS_READ,
        .run = run_push};

/* ---- pull ------------------------------------------------------------------------------------ */

#define DEFAULT_FOLDER "pulled"
#define ARCHIVE_MAX_BYTES (5ll << 30)   /* what a push may send */
#define HISTORY_MAX_BYTES (64ull << 30) /* unpacked */

static const char *pull_url, *pull_into = DEFAULT_FOLDER;

static const struct tk_option pull_options[] = {
        {TK_OPT_TEXT("into", 'i', "DIR", &pull_into,
                "Write the histories into DIR (default: " DEFAULT_FOLDER ")")},
        {TK_OPT_ARGUMENT(&pull_url,
                "missing URL; expected s3://BUCKET/FOLDER or https://HOST/FOLDER/MACHINE.tar.zst")},
        {0},
};

/* Renames DIR/content/FROM to PATH. A link is not a file: it could lead out of the folder. */
static int move_file(const char *dir, const char *from, const char *path, struct tk_error *err)
{
	AUTO_TEXT old = tk_path_join3(dir, "content", from);
	struct stat st;

	if (lstat(old, &st) || !S_ISREG(st.st_mode))
		return tk_fail(
		        err, TK_EDATA, "the archive has no file %s: `tracker push` makes it", from);
	return rename(old, path) ? tk_fail_errno(err, "%s", path) : TK_OK;
}

/* In an empty folder `dir`; what a pull that was killed has left there is removed. Moves the
 * signature before the history: if pull is killed in between, the new signature does not match the
 * old history, and the pair is refused. */
static int fetch(struct tk_remote *remote, const char *name, const char *dir, struct tk_error *err)
{
	AUTO_TEXT archive = tk_path_join(dir, "history.tar.zst");
	AUTO_TEXT content = tk_path_join(dir, "content");
	AUTO_TEXT signature = tk_path_join(content, "history.db.sig");
	AUTO_TEXT db = tk_sprintf("%s/%s.db", pull_into, name);
	AUTO_TEXT sig = tk_sprintf("%s.sig", db);
	struct stat st;

	TRY(tk_dir_remove(dir, err));
	TRY(tk_dir_create(dir, err));
	TRY(tk_remote_get(remote, name, archive, ARCHIVE_MAX_BYTES, err));
	TRY(tk_archive_extract(archive, content, HISTORY_MAX_BYTES, err));
	if (lstat(signature, &st))
		remove(sig);
	else
		TRY(move_file(dir, "history.db.sig", sig, err));
	TRY(tk_store_remove_pending(db, err));
	TRY(move_file(dir, "history.db", db, err));
	printf("%s\n", db);
	return TK_OK;
}

/* One that cannot be had does not cost the others; the first error is the answer. */
static int fetch_all(
        struct tk_remote *remote, char *const *names, size_t count, struct tk_error *err)
{
	AUTO_TEXT dir = tk_path_join(pull_into, ".pull");
	AUTO_TEXT lock_path = tk_path_join(pull_into, ".pull.lock");
	AUTO_PTR(tk_lock) lock = NULL;
	int status = TK_OK;

	TRY(tk_dir_create(pull_into, err));
	TRY(tk_lock_acquire(lock_path, &lock, err));
	for (size_t i = 0; i < count; i++) {
		struct tk_error why = {0};
		int one = fetch(remote, names[i], dir, &why);

		tk_dir_remove(dir, NULL);
		if (one && !status)
			status = tk_fail(err, one, "%s: %s", names[i], why.message);
	}
	return status;
}

static int run_pull(struct tk_globals *g, struct tk_error *err)
{
	AUTO_PTR(tk_remote) remote = NULL;
	char **names = NULL;
	size_t count = 0;

	TRY(tk_remote_open(pull_url, &remote, err));
	TRY(tk_remote_list(remote, &names, &count, err));
	int status = count ? fetch_all(remote, names, count, err)
	                   : tk_fail(err, TK_ENOTFOUND,
	                             "%s has no history yet; `tracker push` sends one", pull_url);

	tk_names_free(names, count);
	return status;
}

const struct tk_command tk_command_pull = {.name = "pull",
        .summary = "fetch the histories that machines have sent",
        .usage = {.options = pull_options,
                .arguments = "URL",
                .help = "Fetch the histories that `tracker push` has sent to URL, each into a "
                        "file MACHINE.db, and print the names of the files. `tracker merge` "
                        "takes them into this history.\v"
                        "URL and credentials are those of push. A server of the S3 protocol "
                        "lists what a folder has; of other servers name each object: "
                        "https://HOST/FOLDER/MACHINE.tar.zst. A file is replaced when its "
                        "successor is complete. One that cannot be fetched does not cost the "
                        "others, but pull ends with 4: go on with `;`, not with `&&`. With "
                        "signing.allowed_signers in tracker.yml, `tracker merge` asks for the "
                        "signature that came with it.\n\n"
                        "Examples:\n"
                        "  tracker pull s3://nights/gpus; tracker merge pulled/*.db && tracker "
                        "site\n"
                        "  tracker pull https://files.lan/nights/h200-1.tar.zst --into=/tmp/h200"},
        .run = run_pull};
