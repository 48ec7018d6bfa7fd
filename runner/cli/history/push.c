/* `tracker push`: sends this history to where other machines send theirs. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/archive.h"
#include "base/file.h"
#include "base/format.h"
#include "base/memory.h"
#include "base/signature.h"
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
static int pack(struct tk_store *s, const struct tk_config *c, const char *dir, char **archive,
        struct tk_error *err)
{
	char *content = tk_path_join(dir, "content"),
	     *copy = tk_path_join3(dir, "content", "history.db");
	int status = TK_OK;

	*archive = tk_path_join(dir, "history.tar.zst");
	if (!content || !copy || !*archive)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status)
		status = tk_dir_create(content, err);
	if (!status)
		status = tk_store_backup(s, copy, err);
	if (!status)
		status = tk_signature_write(c->signing.key, copy, err);
	if (!status)
		status = tk_archive_write(*archive, content, err);
	free(content);
	free(copy);
	return status;
}

/* An empty folder in the cache; what a push that was killed has left there is removed. */
static int make_folder(
        const struct tk_config *c, struct tk_lock **lock, char **dir, struct tk_error *err)
{
	char *lock_path = tk_path_join(c->cache_dir, "push.lock");
	int status;

	*dir = tk_path_join(c->cache_dir, "push");
	if (!lock_path || !*dir)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	else
		status = tk_dir_create(c->cache_dir, err);
	if (!status)
		status = tk_lock_acquire(lock_path, lock, err);
	if (!status)
		status = tk_dir_remove(*dir, err);
	if (!status)
		status = tk_dir_create(*dir, err);
	free(lock_path);
	return status;
}

static int send_archive(struct tk_remote *remote, const struct push_options *o,
        const struct tk_config *c, const char *archive, struct tk_error *err)
{
	char size[TK_FORMAT_SIZE];
	struct stat st;
	char *name = o->name ? tk_strdup(o->name) : tk_path_make_slug(c->machine);
	int status = TK_OK;

	if (!name)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status && stat(archive, &st))
		status = tk_fail_errno(err, "%s", archive);
	if (!status)
		status = tk_remote_put(remote, name, archive, err);
	if (!status)
		printf("%s: sent %s\n", o->url, tk_format_value((double)st.st_size, "bytes", size));
	free(name);
	return status;
}

static int push(struct tk_store *s, const struct tk_config *c, const struct push_options *o,
        struct tk_error *err)
{
	struct tk_remote *remote = NULL;
	struct tk_lock *lock = NULL;
	char *dir = NULL, *archive = NULL;
	int status = tk_remote_open(o->url, &remote, err);

	if (!status && o->name && tk_remote_is_object(remote))
		status = tk_fail(err, TK_EUSAGE,
		        "%s names an object, and --name=%s another one; expected one of them",
		        o->url, o->name);
	if (!status)
		status = make_folder(c, &lock, &dir, err);
	if (!status)
		status = pack(s, c, dir, &archive, err);
	if (!status)
		status = send_archive(remote, o, c, archive, err);
	if (lock)
		tk_dir_remove(dir, NULL);
	tk_lock_release(lock);
	tk_remote_close(remote);
	free(dir);
	free(archive);
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
