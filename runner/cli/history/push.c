/* `tracker push`: sends this history to where other machines send theirs. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/archive.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/present.h"
#include "base/signature.h"
#include "base/try.h"
#include "cli/commands.h"
#include "config/config.h"
#include "store/store.h"
#include "upstream/remote.h"

static struct push_options {
	const char *url, *name;
} opt;

static const struct tk_option options[] = {
        {TK_OPT_TEXT("name", 0, "NAME", &opt.name,
                "Call the object NAME.tar.zst (default: the name of this machine)")},
        {TK_OPT_ARGUMENT(
                &opt.url, "missing URL; expected s3://BUCKET/FOLDER or https://HOST/FOLDER")},
        {0},
};

/* The copy and its signature, packed. */
static int pack(struct tk_store *s, const struct tk_config *c, const char *dir, const char *archive,
        struct tk_error *err)
{
	AUTO_TEXT content = tk_path_join(dir, "content");
	AUTO_TEXT copy = tk_path_join3(dir, "content", "history.db");

	TRY(tk_dir_create(content, err));
	TRY(tk_store_backup(s, copy, err));
	TRY(tk_signature_write(c->signing.key, copy, err));
	return tk_archive_write(archive, content, err);
}

/* An empty folder in the cache; what a push that was killed has left there is removed. */
static int make_folder(
        const struct tk_config *c, const char *dir, struct tk_lock **lock, struct tk_error *err)
{
	AUTO_TEXT lock_path = tk_path_join(c->cache_dir, "push.lock");

	TRY(tk_dir_create(c->cache_dir, err));
	TRY(tk_lock_acquire(lock_path, lock, err));
	TRY(tk_dir_remove(dir, err));
	return tk_dir_create(dir, err);
}

static int send_archive(struct tk_remote *remote, const struct push_options *o,
        const struct tk_config *c, const char *archive, struct tk_error *err)
{
	AUTO_TEXT name = o->name ? tk_strdup(o->name) : tk_path_make_slug(c->machine);
	char size[TK_FORMAT_SIZE];
	struct stat st;

	if (stat(archive, &st))
		return tk_fail_errno(err, "%s", archive);
	TRY(tk_remote_put(remote, name, archive, err));
	printf("%s: sent %s\n", o->url, tk_format_value((double)st.st_size, "bytes", size));
	return TK_OK;
}

static int push(struct tk_store *s, const struct tk_config *c, const struct push_options *o,
        struct tk_error *err)
{
	AUTO_TEXT dir = tk_path_join(c->cache_dir, "push");
	AUTO_TEXT archive = tk_path_join(dir, "history.tar.zst");
	struct tk_remote *remote = NULL;
	struct tk_lock *lock = NULL;
	int status = tk_remote_open(o->url, &remote, err);

	if (!status && o->name && tk_remote_is_object(remote))
		status = tk_fail(err, TK_EUSAGE,
		        "%s names an object, and --name=%s another one; expected one of them",
		        o->url, o->name);
	if (!status)
		status = make_folder(c, dir, &lock, err);
	if (!status)
		status = pack(s, c, dir, archive, err);
	if (!status)
		status = send_archive(remote, o, c, archive, err);
	if (lock)
		tk_dir_remove(dir, NULL);
	tk_lock_release(lock);
	tk_remote_close(remote);
	return status;
}

static int run_push(struct tk_globals *g, struct tk_error *err)
{
	return push(g->store, g->config, &opt, err);
}

const struct tk_command tk_command_push = {.name = "push",
        .summary = "send the history to a server",
        .usage = {.options = options,
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

#define DEFAULT_FOLDER "pulled"
#define ARCHIVE_MAX_BYTES (5ll << 30)   /* what a push may send */
#define HISTORY_MAX_BYTES (64ull << 30) /* unpacked */

static struct pull_options {
	const char *url, *into;
} pull_opt;

static const struct tk_option pull_options[] = {
        {TK_OPT_TEXT("into", 'i', "DIR", &pull_opt.into,
                "Write the histories into DIR (default: " DEFAULT_FOLDER ")")},
        {TK_OPT_ARGUMENT(&pull_opt.url,
                "missing URL; expected s3://BUCKET/FOLDER or https://HOST/FOLDER/MACHINE.tar.zst")},
        {0},
};

/* Renames DIR/content/FROM to INTO/NAME; with `optional`, no such file removes INTO/NAME. A link is
 * not a file: it could lead out of the folder. */
static int move_file(const char *dir, const char *from, const char *into, const char *name,
        bool optional, struct tk_error *err)
{
	AUTO_TEXT old = tk_path_join3(dir, "content", from);
	AUTO_TEXT new = tk_path_join(into, name);
	struct stat st;

	if (lstat(old, &st) && optional)
		remove(new);
	else if (lstat(old, &st) || !S_ISREG(st.st_mode))
		return tk_fail(
		        err, TK_EDATA, "the archive has no file %s: `tracker push` makes it", from);
	else if (rename(old, new))
		return tk_fail_errno(err, "%s", new);
	return TK_OK;
}

/* Moves the signature before the history: if pull is killed in between, the new signature does not
 * match the old history, and the pair is refused. */
static int take_files(const char *dir, const char *into, const char *name, struct tk_error *err)
{
	AUTO_TEXT db = tk_sprintf("%s.db", name);
	AUTO_TEXT sig = tk_sprintf("%s.db.sig", name);
	AUTO_TEXT path = tk_path_join(into, db);

	TRY(move_file(dir, "history.db.sig", into, sig, true, err));
	TRY(tk_store_remove_pending(path, err));
	TRY(move_file(dir, "history.db", into, db, false, err));
	printf("%s/%s\n", into, db);
	return TK_OK;
}

/* In an empty folder `dir`; what a pull that was killed has left there is removed. */
static int fetch(struct tk_remote *remote, const char *name, const char *into, const char *dir,
        struct tk_error *err)
{
	AUTO_TEXT archive = tk_path_join(dir, "history.tar.zst");
	AUTO_TEXT content = tk_path_join(dir, "content");

	TRY(tk_dir_remove(dir, err));
	TRY(tk_dir_create(dir, err));
	TRY(tk_remote_get(remote, name, archive, ARCHIVE_MAX_BYTES, err));
	TRY(tk_archive_extract(archive, content, HISTORY_MAX_BYTES, err));
	return take_files(dir, into, name, err);
}

/* One that cannot be had does not cost the others; the first error is the answer. */
static int fetch_all(struct tk_remote *remote, char *const *names, size_t count, const char *into,
        struct tk_error *err)
{
	AUTO_TEXT dir = tk_path_join(into, ".pull");
	AUTO_TEXT lock_path = tk_path_join(into, ".pull.lock");
	struct tk_lock *lock = NULL;
	int status = TK_OK;

	TRY(tk_dir_create(into, err));
	TRY(tk_lock_acquire(lock_path, &lock, err));
	for (size_t i = 0; i < count; i++) {
		struct tk_error why = {0};
		int one = fetch(remote, names[i], into, dir, &why);

		tk_dir_remove(dir, NULL);
		if (one && !status)
			status = tk_fail(err, one, "%s: %s", names[i], why.message);
	}
	tk_lock_release(lock);
	return status;
}

static int pull(const struct pull_options *o, struct tk_error *err)
{
	const char *into = o->into ? o->into : DEFAULT_FOLDER;
	struct tk_remote *remote = NULL;
	char **names = NULL;
	size_t count = 0;
	int status = tk_remote_open(o->url, &remote, err);

	if (!status)
		status = tk_remote_list(remote, &names, &count, err);
	if (!status && !count)
		status = tk_fail(err, TK_ENOTFOUND,
		        "%s has no history yet; `tracker push` sends one", o->url);
	if (!status)
		status = fetch_all(remote, names, count, into, err);
	tk_names_free(names, count);
	tk_remote_close(remote);
	return status;
}

static int run_pull(struct tk_globals *g, struct tk_error *err)
{
	return pull(&pull_opt, err);
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
