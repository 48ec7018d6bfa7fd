/* `tracker merge`: merges several histories into one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/signature.h"
#include "base/try.h"
#include "cli/commands.h"
#include "config/config.h"
#include "store/store.h"

static struct merge_options {
	const char *output, *into;
	struct tk_option_list files;
} opt;

static const struct tk_option options[] = {
        {TK_OPT_TEXT(
                "into", 'i', "A.db", &opt.into, "Merge the FILEs into A.db, in one transaction")},
        {TK_OPT_TEXT("output", 'o', "OUT.db", &opt.output,
                 "Write the merged history to OUT.db, which must not exist"),
                .excludes = "into"},
        {TK_OPT_ARGUMENTS(&opt.files, "missing FILE; expected the histories to merge")},
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
	struct tk_store *from = NULL;
	int status = tk_signature_verify(allowed_signers, path, err);

	if (!status && allowed_signers)
		status = refuse_pending_changes(path, err);
	if (!status)
		status = tk_store_open(path, TK_STORE_READ, &from, err);
	if (!status)
		status = tk_store_merge(into, from, counts, err);
	tk_store_close(from);
	return status;
}

/* Merges all files or none. */
static int merge_files(struct tk_store *into, const struct merge_options *o,
        const struct tk_config *config, struct tk_error *err)
{
	struct tk_merge_counts counts = {{0}};
	int status = tk_store_begin(into, err);

	if (status)
		return status;
	for (size_t i = 0; i < o->files.count && !status; i++) {
		struct stat a, b;

		if (stat(o->files.items[i], &a) == 0 && stat(tk_store_path(into), &b) == 0 &&
		        a.st_dev == b.st_dev && a.st_ino == b.st_ino)
			continue; /* merging a history with itself changes nothing */
		status = merge_file(
		        into, o->files.items[i], config->signing.allowed_signers, &counts, err);
	}
	if (!status)
		status = tk_store_commit(into, err);
	else
		tk_store_rollback(into);
	if (!status)
		printf("%s: added %" PRId64 " night%s, %" PRId64 " series, %" PRId64 " point%s\n",
		        o->output ? o->output : tk_store_path(into), counts.added[TK_MERGE_NIGHTS],
		        counts.added[TK_MERGE_NIGHTS] == 1 ? "" : "s",
		        counts.added[TK_MERGE_SERIES], counts.added[TK_MERGE_POINTS],
		        counts.added[TK_MERGE_POINTS] == 1 ? "" : "s");
	return status;
}

static void remove_database(const char *path)
{
	unlink(path);
	tk_store_remove_pending(path, NULL);
}

/* Writes under another name, and renames when complete. */
static int merge_to_new(
        const struct merge_options *o, const struct tk_config *config, struct tk_error *err)
{
	struct tk_store *into = NULL;
	AUTO_TEXT part = tk_sprintf("%s.%ld.part", o->output, (long)getpid());
	struct stat st;
	int status;

	if (lstat(o->output, &st) == 0 && S_ISLNK(st.st_mode))
		return tk_fail(err, TK_EUSAGE,
		        "%s: is a symbolic link; expected the name of a new file", o->output);
	if (tk_file_exists(o->output))
		return tk_fail(
		        err, TK_EUSAGE, "%s already exists; --into merges into it", o->output);
	remove_database(part);
	status = tk_store_open(part, TK_STORE_CREATE, &into, err);
	if (!status)
		status = merge_files(into, o, config, err);
	tk_store_close(into);
	if (!status && rename(part, o->output) != 0)
		status = tk_fail_errno(err, "cannot rename %s to %s", part, o->output);
	if (status)
		remove_database(part);
	return status;
}

static int run_merge(struct tk_globals *g, struct tk_error *err)
{
	if (opt.into)
		g->db_path = opt.into;
	TRY(tk_command_open(g, opt.output ? TK_OPENS_CONFIG : TK_OPENS_CREATE, err));
	return opt.output ? merge_to_new(&opt, g->config, err)
	                  : merge_files(g->store, &opt, g->config, err);
}

const struct tk_command tk_command_merge = {.name = "merge",
        .summary = "merge several histories into one",
        .usage = {.options = options,
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
