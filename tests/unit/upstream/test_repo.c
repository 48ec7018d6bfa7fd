/* Upstreams on real git repositories: revisions, history, work trees, and everything that can be
 * wrong with them. */
#include "base/error.h"
#include "base/file.h"
#include "repository.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static void newest_and_parent(void **state)
{
	const struct scratch *s = *state;
	char id[128], parent[128];
	sh(s, "git init -q a && cd a && echo 1 >f && git add f && git commit -q -m 'first' && echo "
	      "2 >f && git commit "
	      "-qam 'second one'");
	ask(s, id, sizeof(id), "git -C a rev-parse HEAD");
	ask(s, parent, sizeof(parent), "git -C a rev-parse HEAD~1");
	char *url = url_of(s, "a");
	const struct tk_repo src = git_source(s, url);
	struct tk_revision r;
	OK(tk_repo_find_newest(&src, &r, err));
	assert_string_equal(r.id, id);
	assert_string_equal(r.parent, parent);
	assert_string_equal(r.subject, "second one");
	assert_string_equal(r.author, "A. Author");
	assert_int_equal(r.position, 2);
	assert_int_equal(r.author_time_s, 1772359200);
	assert_int_equal(r.commit_time_s, 1772362800);
	assert_false(r.dirty);
	sh(s, "cd a && git commit -q --allow-empty -m third");
	OK(tk_repo_find_newest(&src, &r, err));
	assert_string_equal(r.subject, "third");
	assert_int_equal(r.position, 3);
	OK(tk_repo_find_revision(&src, parent, &r, err));
	assert_string_equal(r.subject, "first");
	assert_string_equal(r.parent, "");
	free(url);
}

static void branch_tag_prefix(void **state)
{
	const struct scratch *s = *state;
	char id[128], prefix[16];
	sh(s, "git init -q a && cd a && git commit -q --allow-empty -m base && git checkout -q -b "
	      "dev/x && git commit "
	      "-q --allow-empty -m dev && "
	      "git tag -a v1 -m tag && git checkout -q main && git commit -q --allow-empty -m "
	      "main");
	ask(s, id, sizeof(id), "git -C a rev-parse dev/x");
	snprintf(prefix, sizeof(prefix), "%.10s", id);
	char *url = url_of(s, "a");
	struct tk_repo src = git_source(s, url);
	struct tk_revision r;
	const char *const names[] = {"dev/x", "v1", prefix, id};
	for (size_t i = 0; i < 4; i++) {
		OK(tk_repo_find_revision(&src, names[i], &r, err));
		assert_string_equal(r.id, id);
	}
	OK(tk_repo_find_revision(&src, "HEAD", &r, err));
	assert_string_equal(r.subject, "main");
	src.branch = "dev/x";
	OK(tk_repo_find_newest(&src, &r, err));
	assert_string_equal(r.id, id);
	OK(tk_repo_find_revision(&src, "HEAD~1", &r, err)); /* of the branch that is followed */
	assert_string_equal(r.subject, "base");
	free(url);
}

static void missing_things(void **state)
{
	const struct scratch *s = *state;
	sh(s, "git init -q a && git -C a commit -q --allow-empty -m one && git init -q empty");
	char *url = url_of(s, "a"), *none = url_of(s, "none"), *empty = url_of(s, "empty");
	struct tk_repo src = git_source(s, url);
	struct tk_revision r;
	struct tk_error err = {0};
	assert_int_equal(tk_repo_find_revision(&src, "nope", &r, &err), TK_ENOTFOUND);
	assert_string_equal(err.message, "up has no revision \"nope\"");
	assert_int_equal(
	        tk_repo_find_revision(&src, "1234567890123456789012345678901234567890", &r, &err),
	        TK_ENOTFOUND);
	assert_string_equal(
	        err.message, "up has no revision \"1234567890123456789012345678901234567890\"");
	assert_int_equal(tk_repo_find_revision(&src, "--all", &r, &err), TK_ECONFIG);
	assert_string_equal(err.message, "up: the revision \"--all\" starts with \"-\"");
	src.branch = "gone";
	assert_int_equal(tk_repo_find_newest(&src, &r, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, "has no branch \"gone\""));
	src.branch = "-x";
	assert_int_equal(tk_repo_find_newest(&src, &r, &err), TK_ECONFIG);
	assert_string_equal(err.message, "up: the branch \"-x\" starts with \"-\"");
	const struct tk_repo unreachable = git_source(s, none);
	assert_int_equal(tk_repo_find_newest(&unreachable, &r, &err), TK_EIO);
	assert_non_null(strstr(err.message, "up: cannot reach "));
	const struct tk_repo secret = git_source(s, "http://user:s3cret@127.0.0.1:9/x.git");
	assert_int_equal(tk_repo_find_newest(&secret, &r, &err), TK_EIO);
	assert_null(strstr(err.message, "s3cret"));
	assert_non_null(strstr(err.message, "up: cannot reach http://127.0.0.1:9/x.git: "));
	const struct tk_repo nothing = git_source(s, empty);
	assert_int_not_equal(tk_repo_find_newest(&nothing, &r, &err), TK_OK);
	free(url);
	free(none);
	free(empty);
}

/* A merge is one step of the history, without the merged commits. */
static void first_parent(void **state)
{
	const struct scratch *s = *state;
	sh(s, "git init -q a && cd a && git commit -q --allow-empty -m 1 && git checkout -q -b "
	      "side && git commit -q "
	      "--allow-empty -m s1 && "
	      "git commit -q --allow-empty -m s2 && git checkout -q main && git commit -q "
	      "--allow-empty -m 2 && git "
	      "merge -q --no-ff -m 3-merge side");
	char *url = url_of(s, "a");
	const struct tk_repo src = git_source(s, url);
	struct tk_revision *list = NULL;
	size_t n = 0;
	OK(tk_repo_list_revisions(&src, 10, 1, 0, &list, &n, err));
	assert_int_equal(n, 3);
	assert_string_equal(list[0].subject, "3-merge");
	assert_string_equal(list[1].subject, "2");
	assert_string_equal(list[2].subject, "1");
	assert_int_equal(list[0].position, 3);
	assert_int_equal(list[2].position, 1);
	assert_string_equal(list[0].parent, list[1].id);
	free(list);
	free(url);
}

static void history_limits(void **state)
{
	const struct scratch *s = *state;
	sh(s, "git init -q a && cd a && for i in 1 2 3 4 5 6 7 8 9; do "
	      "GIT_COMMITTER_DATE=\"2026-01-0${i}T00:00:00Z\" "
	      "git commit -q --allow-empty -m c$i; done");
	char *url = url_of(s, "a");
	const struct tk_repo src = git_source(s, url);
	struct tk_revision *list = NULL;
	size_t n = 0;
	OK(tk_repo_list_revisions(&src, 3, 2, 0, &list, &n, err));
	assert_int_equal(n, 3);
	assert_string_equal(list[0].subject, "c9");
	assert_string_equal(list[1].subject, "c7");
	assert_string_equal(list[2].subject, "c5");
	assert_int_equal(list[2].position, 5);
	free(list);
	OK(tk_repo_list_revisions(&src, 100, 1, 1767571200 /* 2026-01-05 */, &list, &n, err));
	assert_int_equal(n, 5);
	assert_string_equal(list[4].subject, "c5");
	free(list);
	OK(tk_repo_list_revisions(&src, 0, 0, 0, &list, &n, err));
	assert_int_equal(n, 9);
	free(list);
	free(url);
}

static void path_filter(void **state)
{
	const struct scratch *s = *state;
	sh(s, "git init -q a && cd a && mkdir k 'k[x]' && echo 1 >k/f && git add . && git commit "
	      "-q -m k1 && echo 1 >o "
	      "&& git add . && git commit -q -m o1 && "
	      "echo 2 >k/f && git commit -qam k2 && echo 2 >o && git commit -qam o2");
	char *url = url_of(s, "a");
	struct tk_repo src = git_source(s, url);
	src.path = "k";
	struct tk_revision r, *list = NULL;
	size_t n = 0;
	OK(tk_repo_find_newest(&src, &r, err));
	assert_string_equal(r.subject, "k2");
	assert_int_equal(r.position, 3);
	OK(tk_repo_list_revisions(&src, 10, 1, 0, &list, &n, err));
	assert_int_equal(n, 2);
	assert_int_equal(list[0].position, 3);
	assert_int_equal(list[1].position, 1);
	free(list);
	src.path = "none:k";
	OK(tk_repo_find_newest(&src, &r, err));
	assert_string_equal(r.subject, "k2");
	src.path = "k:o:";
	OK(tk_repo_list_revisions(&src, 10, 1, 0, &list, &n, err));
	assert_int_equal(n, 4);
	free(list);
	struct tk_error err = {0};
	src.path = "k*"; /* a name, not a pattern */
	assert_int_equal(tk_repo_find_newest(&src, &r, &err), TK_ENOTFOUND);
	assert_string_equal(err.message, "up: no commit touches k*");
	src.path = "1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17";
	assert_int_equal(tk_repo_find_newest(&src, &r, &err), TK_ECONFIG);
	free(url);
}

/* After a rewrite of the branch the new history counts; the old commit is still found by its
 * hash. */
static void rebased(void **state)
{
	const struct scratch *s = *state;
	char old[128];
	sh(s, "git init -q a && cd a && echo 1 >f && git add f && git commit -q -m one && echo 2 "
	      ">f && git commit -qam "
	      "two");
	ask(s, old, sizeof(old), "git -C a rev-parse HEAD");
	char *url = url_of(s, "a");
	const struct tk_repo src = git_source(s, url);
	struct tk_revision r;
	OK(tk_repo_find_newest(&src, &r, err));
	sh(s, "cd a && git commit -q --amend -m 'two again' && git reflog expire --expire=now "
	      "--all && git gc -q "
	      "--prune=now");
	OK(tk_repo_find_newest(&src, &r, err));
	assert_string_equal(r.subject, "two again");
	assert_string_not_equal(r.id, old);
	OK(tk_repo_find_revision(&src, old, &r, err));
	assert_string_equal(r.subject, "two");
	sh(s, "rm -rf cache"); /* a machine that never saw it */
	struct tk_error err = {0};
	assert_int_equal(tk_repo_find_revision(&src, old, &r, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, "up has no revision"));
	free(url);
}

static void checkout(void **state)
{
	const struct scratch *s = *state;
	char id[128], *dir = NULL, *second = NULL, line[64];
	sh(s, "git init -q a && cd a && git config uploadpack.allowFilter true && echo old >f && "
	      "git add f && git "
	      "commit -q -m one && echo new >f && git commit -qam two");
	ask(s, id, sizeof(id), "git -C a rev-parse HEAD~1");
	char *path = url_of(s, "a"), *url = NULL;
	assert_true(asprintf(&url, "file://%s", path) > 0);
	const struct tk_repo src = git_source(s, url);
	OK(tk_repo_checkout(&src, id, &dir, err));
	OK(tk_repo_checkout(&src, "main", &second, err));
	char *command = NULL;
	assert_true(asprintf(&command, "cat '%s/f' ", dir) > 0);
	ask(s, line, sizeof(line), command);
	assert_string_equal(line, "old");
	free(command);
	assert_true(asprintf(&command, "cat '%s/f'", second) > 0);
	ask(s, line, sizeof(line), command);
	assert_string_equal(line, "new");
	assert_int_equal(strncmp(dir, s->cache, strlen(s->cache)), 0);
	char *gone = strdup(dir);
	tk_repo_remove_checkout(&src, dir);
	assert_false(tk_dir_exists(gone));
	tk_repo_remove_checkout(&src, second);
	tk_repo_remove_checkout(&src, NULL);
	ask(s, line, sizeof(line),
	        "git config --file cache/git/up-*/config remote.origin.partialclonefilter");
	assert_string_equal(line, "blob:none");
	free(gone);
	free(command);
	free(path);
	free(url);
}

static void submodules(void **state)
{
	const struct scratch *s = *state;
	char *dir = NULL, *file = NULL;
	sh(s, "git init -q lib && cd lib && echo lib >l && git add l && git commit -q -m lib && cd "
	      ".. && git init -q a "
	      "&& cd a && "
	      "git submodule --quiet add ../lib deps/lib && git commit -q -m 'with submodule'");
	char *url = url_of(s, "a");
	struct tk_repo src = git_source(s, url);
	src.submodules = true;
	OK(tk_repo_checkout(&src, "main", &dir, err));
	file = tk_path_join(dir, "deps/lib/l");
	assert_true(tk_file_exists(file));
	tk_repo_remove_checkout(&src, dir);
	free(file);
	src.submodules = false;
	OK(tk_repo_checkout(&src, "main", &dir, err));
	file = tk_path_join(dir, "deps/lib/l");
	assert_false(tk_file_exists(file));
	tk_repo_remove_checkout(&src, dir);
	free(file);
	sh(s, "rm -rf lib");
	src.submodules = true;
	struct tk_error err = {0};
	assert_int_equal(tk_repo_checkout(&src, "main", &dir, &err), TK_EIO);
	assert_non_null(strstr(err.message, "up: cannot fetch the submodules: "));
	free(url);
}

/* Every name in it would break a command, a page or a path if it were pasted into one. */
static void hostile(void **state)
{
	const struct scratch *s = *state;
	char *dir = NULL;
	sh(s, "git init -q a && cd a && printf x >'--upload-pack=touch pwned' && printf x "
	      ">\"$(printf 'new\\nline')\" "
	      "&& printf x >'<script>alert(1)</script>' || true");
	sh(s, "cd a && mkdir -p '..hidden' && printf x >'..hidden/;rm -rf $HOME' && git add -A && "
	      "git -c user.name='<b>\"$(touch pwned)' commit -q -m \"$(printf '<script>\"; DROP "
	      "TABLE revision; "
	      "--\\033[2J')\" && "
	      "git branch '\"><img/src=x>' && git branch 'a;touch${IFS}pwned' && "
	      "git commit -q --allow-empty -m \"$(head -c 10240 /dev/zero | tr '\\0' q)\" && mkdir "
	      "-p .git/hooks && "
	      "printf '#!/bin/sh\\ntouch pwned\\n' >.git/hooks/post-checkout && chmod +x "
	      ".git/hooks/post-checkout");
	char *url = url_of(s, "a");
	const struct tk_repo src = git_source(s, url);
	struct tk_revision *list = NULL, r;
	size_t n = 0;
	OK(tk_repo_list_revisions(&src, 10, 1, 0, &list, &n, err));
	assert_int_equal(n, 2);
	assert_int_equal(strlen(list[0].subject), sizeof(list[0].subject) - 1);
	assert_string_equal(list[1].subject, "<script>\"; DROP TABLE revision; -- [2J");
	assert_non_null(strstr(list[1].author, "$(touch pwned)"));
	OK(tk_repo_find_revision(&src, "\"><img/src=x>", &r, err));
	OK(tk_repo_find_revision(&src, "a;touch${IFS}pwned", &r, err));
	OK(tk_repo_checkout(&src, list[0].id, &dir, err));
	char *odd = tk_path_join(dir, "--upload-pack=touch pwned");
	assert_true(tk_file_exists(odd));
	tk_repo_remove_checkout(&src, dir);
	sh(s, "test -z \"$(find . -name pwned)\"");
	free(odd);
	free(list);
	free(url);
}

/* A server that accepts the connection and never answers. */
static void hanging_remote(void **state)
{
	const struct scratch *s = *state;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	char url[64];
	snprintf(url, sizeof(url), "git://127.0.0.1:%d/a.git", ntohs(at.sin_port));
	struct tk_repo src = git_source(s, url);
	src.deadline_s = 1;
	struct tk_revision r;
	struct tk_error err = {0};
	assert_int_equal(tk_repo_find_newest(&src, &r, &err), TK_ETIMEOUT);
	assert_non_null(strstr(err.message, "up: cannot reach git://127.0.0.1:"));
	close(fd);
	assert_int_equal(tk_repo_find_newest(&src, &r, &err), TK_EIO); /* and one that is gone */
}

static void self_source(void **state)
{
	const struct scratch *s = *state;
	char id[128], before[4096], after[4096], *dir = NULL, line[64];
	sh(s, "git init -q proj && cd proj && mkdir kernels && echo 1 >kernels/a && git add . && "
	      "git commit -q -m "
	      "'mine' && echo x >untracked");
	ask(s, id, sizeof(id), "git -C proj rev-parse HEAD");
	char *folder = url_of(s, "proj/kernels");
	struct tk_repo src = {.kind = TK_REPO_SELF,
	        .name = "self",
	        .url = folder,
	        .cache_dir = s->cache,
	        .deadline_s = 60};
	struct tk_revision r;
	OK(tk_repo_find_newest(&src, &r, err));
	assert_string_equal(r.id, id);
	assert_int_equal(r.position, 1);
	assert_false(r.dirty);
	sh(s, "echo 2 >proj/kernels/a");
	OK(tk_repo_find_newest(&src, &r, err));
	assert_true(r.dirty);
	ask(s, before, sizeof(before),
	        "find proj/.git -type f | sort | xargs sha256sum | sha256sum");
	OK(tk_repo_checkout(&src, r.id, &dir, err));
	ask(s, after, sizeof(after), "find proj/.git -type f | sort | xargs sha256sum | sha256sum");
	assert_string_equal(before, after); /* nothing was written into the user's repository */
	char *command = NULL;
	assert_true(asprintf(&command, "cat '%s/kernels/a'", dir) > 0);
	ask(s, line, sizeof(line), command);
	assert_string_equal(line, "1"); /* the commit, not the dirty tree */
	tk_repo_remove_checkout(&src, dir);
	free(command);
	struct tk_error err = {0};
	src.url = "/nonexistent";
	assert_int_equal(tk_repo_find_newest(&src, &r, &err), TK_ENOTFOUND);
	assert_string_equal(err.message, "self: no such folder: /nonexistent");
	src.url = s->dir;
	assert_int_not_equal(tk_repo_find_newest(&src, &r, &err), TK_OK);
	assert_non_null(strstr(err.message, "is not inside a git repository"));
	free(folder);
}

/* A work tree as a commit: changed and new files are in it, ignored ones are not; the user's
 * repository is not written to, and equal files are the same commit. */
static void snapshots(void **state)
{
	const struct scratch *s = *state;
	char head[128], before[128], after[128], line[128], *dir = NULL, *again = NULL;
	sh(s, "git init -q proj && cd proj && echo 1 >a && echo build >.gitignore && git "
	      "add . && "
	      "git commit -q -m one && echo secret >.git/info/exclude");
	ask(s, head, sizeof(head), "git -C proj rev-parse HEAD");
	char *folder = url_of(s, "proj");
	struct tk_repo src = {
	        .kind = TK_REPO_SELF, .name = "self", .cache_dir = s->cache, .deadline_s = 60};
	struct tk_revision r, other;
	OK(tk_repo_snapshot(&src, folder, &dir, &r, err));
	assert_false(r.dirty);
	assert_string_equal(r.id, head);
	tk_repo_remove_checkout(&src, dir);
	sh(s, "cd proj && echo 2 >a && echo 3 >new && echo 4 >build && echo 5 >secret");
	ask(s, before, sizeof(before),
	        "find proj/.git -type f | sort | xargs sha256sum | sha256sum");
	OK(tk_repo_snapshot(&src, folder, &dir, &r, err));
	ask(s, after, sizeof(after), "find proj/.git -type f | sort | xargs sha256sum | sha256sum");
	assert_string_equal(before, after);
	assert_true(r.dirty);
	assert_string_equal(r.parent, head);
	char *command = NULL;
	assert_true(
	        asprintf(&command, "git -C '%s' ls-tree --name-only HEAD | tr '\\n' ' '", dir) > 0);
	ask(s, line, sizeof(line), command);
	assert_string_equal(line, ".gitignore a new ");
	free(command);
	OK(tk_repo_snapshot(&src, folder, &again, &other, err));
	assert_string_equal(r.id, other.id);
	tk_repo_remove_checkout(&src, dir);
	tk_repo_remove_checkout(&src, again);
	struct tk_error err = {0};
	assert_int_equal(tk_repo_snapshot(&src, s->dir, &dir, &r, &err), TK_EUSAGE);
	free(folder);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)
	const struct CMUnitTest tests[] = {T(snapshots), T(newest_and_parent), T(branch_tag_prefix),
	        T(missing_things), T(first_parent), T(history_limits), T(path_filter), T(rebased),
	        T(checkout), T(submodules), T(hostile), T(hanging_remote), T(self_source)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
