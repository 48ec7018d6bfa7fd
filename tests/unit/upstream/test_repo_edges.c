/* Repositories in unusual states: shallow, empty, moved branches and tags, odd names, no network,
 * interrupted work. All of them are real ones. */
#include "base/clock.h"
#include "repository.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* A repository `name` with so many empty commits "1", "2", ... */
static void make(const struct scratch *s, const char *name, int commits)
{
	sh(s,
	        "git init -q '%s' && cd '%s' && for i in $(seq %d); do git commit -q --allow-empty "
	        "-m "
	        "$i; done",
	        name, name, commits);
}

static void expect_newest(const struct tk_repo *src, const char *subject, int64_t position)
{
	struct tk_revision r;
	OK(tk_repo_find_newest(src, &r, err));
	assert_string_equal(r.subject, subject);
	assert_int_equal(r.position, position);
}

static void expect_named(const struct tk_repo *src, const char *rev, const char *subject)
{
	struct tk_revision r;
	OK(tk_repo_find_revision(src, rev, &r, err));
	assert_string_equal(r.subject, subject);
}

static void refuse_named(
        const struct tk_repo *src, const char *rev, int status, const char *message)
{
	struct tk_revision r = {.position = 77};
	struct tk_error err = {0};
	int got = tk_repo_find_revision(src, rev, &r, &err);
	if (got != status || !strstr(err.message, message))
		fail_msg("%.80s: status %d, \"%s\"", rev, got, err.message);
	assert_int_equal(r.position, 77); /* written on success only */
}

static void refuse_newest(const struct tk_repo *src, int status, const char *message)
{
	struct tk_revision r = {.position = 77};
	struct tk_error err = {0};
	int got = tk_repo_find_newest(src, &r, &err);
	if (got != status || !strstr(err.message, message))
		fail_msg("status %d, \"%s\"", got, err.message);
	assert_int_equal(r.position, 77);
}

/* ---- shallow, empty ---- */

/* As a checkout of a CI service is: the number of commits is unknown, and all else is known. */
static void positions_of_a_shallow_repository_are_unknown(void **state)
{
	const struct scratch *s = *state;
	struct tk_revision *list = NULL;
	size_t n = 0;
	make(s, "a", 4);
	sh(s, "git clone -q --depth 2 \"file://$PWD/a\" ci");
	char *folder = url_of(s, "ci");
	struct tk_repo self = {.kind = TK_REPO_SELF,
	        .name = "self",
	        .url = folder,
	        .cache_dir = s->cache,
	        .deadline_s = 60};
	expect_newest(&self, "4", 0);
	OK(tk_repo_list_revisions(&self, 0, 1, 0, &list, &n, err));
	assert_int_equal(n, 2);
	assert_int_equal(list[0].position, 0);
	assert_int_equal(list[1].position, 0);
	assert_string_equal(list[1].subject, "3");
	assert_string_equal(list[1].parent, ""); /* which was not fetched */
	free(list);
	sh(s, "cd ci && git fetch -q --unshallow");
	expect_newest(&self, "4", 4);
	free(folder);
}

static void a_repository_without_commits(void **state)
{
	const struct scratch *s = *state;
	sh(s, "git init -q empty && git init -q --bare bare.git");
	char *url = url_of(s, "empty"), *bare = url_of(s, "bare.git");
	struct tk_repo src = git_source(s, url);
	refuse_newest(&src, TK_ENOTFOUND, "up: the repository has no commit on its default branch");
	src.branch = "main";
	refuse_newest(&src, TK_ENOTFOUND, "has no branch \"main\"");
	src = git_source(s, bare);
	refuse_newest(&src, TK_ENOTFOUND, "no commit on its default branch");
	src.kind = TK_REPO_SELF;
	refuse_newest(&src, TK_EIO, "is not inside a git repository");
	src.url = url;
	refuse_newest(&src, TK_ENOTFOUND, "up: the repository has no commit yet");
	refuse_named(&src, "HEAD", TK_ENOTFOUND, "up has no revision \"HEAD\"");
	make(s, "empty", 1); /* the first commit */
	expect_newest(&src, "1", 1);
	src.kind = TK_REPO_GIT;
	expect_newest(&src, "1", 1);
	free(url);
	free(bare);
}

/* HEAD of a server may name a branch that is not there. */
static void a_default_branch_that_is_gone(void **state)
{
	const struct scratch *s = *state;
	make(s, "a", 2);
	sh(s, "cd a && git branch -q -m main trunk && git symbolic-ref HEAD refs/heads/master");
	char *url = url_of(s, "a");
	struct tk_repo src = git_source(s, url);
	refuse_newest(&src, TK_ENOTFOUND, "`branch` names another one");
	src.branch = "trunk";
	expect_newest(&src, "2", 2);
	free(url);
}

/* ---- what moves ---- */

static void tags_may_move(void **state)
{
	const struct scratch *s = *state;
	make(s, "a", 3);
	sh(s, "cd a && git tag light HEAD~1 && git tag -a -m t heavy HEAD~1 && git tag 20260301 "
	      "HEAD~1 && git branch deadbeef HEAD~1");
	static const char *const names[] = {"light", "heavy", "20260301", "deadbeef"};
	char *url = url_of(s, "a");
	struct tk_repo src = git_source(s, url);
	for (size_t i = 0; i < 4; i++)
		expect_named(&src, names[i], "2");
	sh(s, "cd a && git tag -f light >/dev/null && git tag -f -a -m t heavy && git tag -f "
	      "20260301 && git branch -f deadbeef");
	for (size_t i = 0; i < 4; i++)
		expect_named(&src, names[i], "3");
	sh(s, "cd a && git tag -d light heavy 20260301 && git branch -D deadbeef");
	for (size_t i = 0; i < 4; i++)
		refuse_named(&src, names[i], TK_ENOTFOUND, "up has no revision");
	free(url);
}

static void branches_are_pushed_by_force(void **state)
{
	const struct scratch *s = *state;
	struct tk_revision *list = NULL;
	size_t n = 0;
	make(s, "a", 5);
	char *url = url_of(s, "a");
	struct tk_repo src = git_source(s, url);
	src.branch = "main";
	expect_newest(&src, "5", 5);
	sh(s, "cd a && git reset -q --hard HEAD~3 && git commit -q --allow-empty -m other");
	expect_newest(&src, "other", 3);
	OK(tk_repo_list_revisions(&src, 0, 1, 0, &list, &n, err));
	assert_int_equal(n, 3);
	assert_string_equal(list[1].subject, "2");
	free(list);
	sh(s, "cd a && git checkout -q --orphan new && git commit -q --allow-empty -m root && git "
	      "branch -f main");
	expect_newest(&src, "root", 1); /* unrelated to what was there */
	free(url);
}

/* A branch takes the place of a folder of branches, and the other way round. */
static void branches_make_way_for_each_other(void **state)
{
	const struct scratch *s = *state;
	make(s, "a", 1);
	sh(s, "cd a && git branch dev && git commit -q --allow-empty -m 2");
	char *url = url_of(s, "a");
	struct tk_repo src = git_source(s, url);
	src.branch = "dev";
	expect_newest(&src, "1", 1);
	sh(s, "cd a && git branch -D dev && git branch dev/x");
	src.branch = "dev/x";
	expect_newest(&src, "2", 2);
	sh(s, "cd a && git branch -D dev/x && git branch dev HEAD~1");
	src.branch = "dev";
	expect_newest(&src, "1", 1);
	sh(s, "cd a && git branch -D dev");
	refuse_newest(&src, TK_ENOTFOUND, "has no branch \"dev\"");
	free(url);
}

static void a_tag_comes_before_a_branch(void **state)
{
	const struct scratch *s = *state;
	make(s, "a", 2);
	sh(s, "cd a && git tag both HEAD~1 && git branch both HEAD");
	char *url = url_of(s, "a");
	struct tk_repo src = git_source(s, url);
	expect_named(&src, "both", "1");
	expect_named(&src, "refs/heads/both", "2");
	expect_named(&src, "refs/tags/both", "1");
	src.branch = "both"; /* which is followed is a branch */
	expect_newest(&src, "2", 2);
	expect_named(&src, "HEAD", "2");
	free(url);
}

/* ---- names ---- */

static void names_of_revisions(void **state)
{
	const struct scratch *s = *state;
	static const char *const unknown[] = {"HEAD~7", "HEAD^2", "HEAD:f", "main@{u", "0000000",
	        "refs/heads/none", "HEADER", "v1^{blob}"};
	char *longest = calloc(1, 5000);
	make(s, "a", 3);
	sh(s, "cd a && echo 1 >f && git add f && git commit -q -m 4 && git tag v1");
	char *url = url_of(s, "a"), blob[128];
	ask(s, blob, sizeof blob, "git -C a rev-parse HEAD:f");
	struct tk_repo src = git_source(s, url);
	expect_named(&src, "HEAD", "4");
	expect_named(&src, "HEAD^", "3");
	expect_named(&src, "HEAD~2", "2");
	expect_named(&src, "v1~3", "1");
	expect_named(&src, "v1^{commit}", "4");
	expect_named(&src, "refs/heads/main", "4");
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		refuse_named(&src, unknown[i], TK_ENOTFOUND, "up has no revision");
	refuse_named(&src, blob, TK_ENOTFOUND, "up has no revision");
	refuse_named(&src, "refs/pull/1/head", TK_ENOTFOUND, "has no ref \"refs/pull/1/head\"");
	refuse_named(&src, "", TK_ECONFIG, "the revision is empty");
	refuse_named(&src, "v1\n", TK_ECONFIG, "control characters");
	refuse_named(&src, "v1..main", TK_ECONFIG, "expected one revision");
	refuse_named(&src, memset(longest, 'a', 4097), TK_ECONFIG, "longer than 4096 bytes");
	free(longest);
	free(url);
}

/* Blanks, quotes and other characters in the paths of the repository, the cache and the files. */
static void paths_with_blanks(void **state)
{
	const struct scratch *s = *state;
	struct scratch odd = *s;
	char *dir = NULL;
	snprintf(odd.cache, sizeof odd.cache, "%s/the cache's \"é\" $HOME", s->dir);
	sh(s, "mkdir 'my repos' && git init -q \"my repos/a 'b' \\$c\" && cd \"my repos/a 'b' "
	      "\\$c\" && mkdir 'k s' && echo 1 >'k s/f: g' && git add . && git commit -q -m one && "
	      "git commit -q --allow-empty -m two");
	char *url = url_of(s, "my repos/a 'b' $c");
	struct tk_repo src = git_source(&odd, url);
	src.path = "k s";
	src.name = "up / stream";
	expect_newest(&src, "one", 1);
	src.path = NULL;
	expect_newest(&src, "two", 2);
	OK(tk_repo_checkout(&src, "main", &dir, err));
	assert_int_equal(strncmp(dir, odd.cache, strlen(odd.cache)), 0);
	char *file = tk_path_join(dir, "k s/f: g");
	assert_true(tk_file_exists(file));
	tk_repo_remove_checkout(&src, dir);
	free(file);
	free(url);
}

static void credentials_are_not_shown(void **state)
{
	static const char *const cases[][2] = {{"https://u:p@h.org/a", "h.org/a"},
	        {"https://token@h.org/a@b", "h.org/a@b"}, {"https://h.org/a@b", NULL},
	        {"https://u:p@x@h.org/a", "h.org/a"}, {"ssh://git@h.org:22/a", "h.org:22/a"},
	        {"git@h.org:a", NULL}, {"/srv/u:p@h", NULL}, {"file:///a@b", NULL}, {"", NULL}};
	char shown[128];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *expected = cases[i][1] ? cases[i][1] : cases[i][0];
		tk_repo_redact_url(cases[i][0], shown, sizeof shown);
		const char *scheme = strstr(shown, "://");
		assert_string_equal(cases[i][1] ? scheme + 3 : shown, expected);
		if (cases[i][1]) /* the scheme stays */
			assert_int_equal(strncmp(shown, cases[i][0], (size_t)(scheme - shown)), 0);
	}
	tk_repo_redact_url("https://u:p@h.org/a", shown, 12);
	assert_string_equal(shown, "https://h.o");
}

/* ---- odd commits ---- */

static void commits_without_text_and_of_any_time(void **state)
{
	const struct scratch *s = *state;
	struct tk_revision *list = NULL;
	size_t n = 0;
	sh(s, "git init -q a && cd a && GIT_AUTHOR_DATE='@0 +0000' GIT_COMMITTER_DATE='@1 +0000' "
	      "git "
	      "commit -q --allow-empty --allow-empty-message -m '' && "
	      "GIT_AUTHOR_DATE='@4000000000 +0000' GIT_COMMITTER_DATE='@4000000000 -0330' git "
	      "commit "
	      "-q --allow-empty -m \"$(printf 'first line\\ngoes on\\n\\nbody')\" && "
	      "printf 'gr\\374n' >m && git -c i18n.commitEncoding=ISO-8859-1 commit -q "
	      "--allow-empty -F m && git commit -q --allow-empty -m \"$(printf 'a\\tb\\rc')\"");
	char *url = url_of(s, "a");
	const struct tk_repo src = git_source(s, url);
	OK(tk_repo_list_revisions(&src, 0, 1, 0, &list, &n, err));
	assert_int_equal(n, 4);
	assert_string_equal(list[0].subject, "a b c");
	assert_string_equal(list[1].subject, "gr\xc3\xbcn");
	assert_string_equal(list[2].subject, "first line goes on");
	assert_true(list[2].author_time_s == 4000000000 && list[2].commit_time_s == 4000000000);
	assert_string_equal(list[3].subject, "");
	assert_int_equal(list[3].author_time_s, 0);
	assert_int_equal(list[3].commit_time_s, 1);
	assert_string_equal(list[3].parent, "");
	free(list);
	free(url);
}

static void limits_of_lists(void **state)
{
	const struct scratch *s = *state;
	static const struct {
		size_t limit, every;
		int64_t since_s;
		const char *subjects;
	} cases[] = {{1, 1, 0, "4"}, {2, 0, 0, "43"}, {0, 3, 0, "41"}, {9, 9, 0, "4"},
	        {SIZE_MAX, 1, 0, "4321"}, {SIZE_MAX, SIZE_MAX, 0, "4"}, {2, SIZE_MAX, 0, "4"},
	        {0, 1, 1772362800, "4321"}, {0, 1, 1772362801, ""}, {2, 2, 1, "42"}};
	make(s, "a", 4);
	char *url = url_of(s, "a");
	const struct tk_repo src = git_source(s, url);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_revision *list = NULL;
		size_t n = 77;
		char subjects[8] = "";
		OK(tk_repo_list_revisions(
		        &src, cases[i].limit, cases[i].every, cases[i].since_s, &list, &n, err));
		assert_int_equal(n, strlen(cases[i].subjects));
		for (size_t k = 0; k < n; k++) {
			strcat(subjects, list[k].subject);
			assert_int_equal(list[k].position, atoi(list[k].subject));
		}
		assert_string_equal(subjects, cases[i].subjects);
		free(list);
	}
	free(url);
}

/* ---- without the upstream ---- */

/* A commit that was fetched once is found and checked out without it; what could have changed is
 * not answered from the cache. */
static void without_a_network(void **state)
{
	const struct scratch *s = *state;
	char id[128], *dir = NULL;
	make(s, "a", 2);
	sh(s, "cd a && echo 1 >f && git add f && git commit -q -m 3 && git tag v1");
	ask(s, id, sizeof id, "git -C a rev-parse HEAD");
	char *url = url_of(s, "a");
	struct tk_repo src = git_source(s, url);
	expect_newest(&src, "3", 3);
	sh(s, "mv a gone");
	expect_named(&src, id, "3");
	id[9] = '\0';
	expect_named(&src, id, "3");
	OK(tk_repo_checkout(&src, id, &dir, err));
	char *file = tk_path_join(dir, "f");
	assert_true(tk_file_exists(file));
	tk_repo_remove_checkout(&src, dir);
	refuse_newest(&src, TK_EIO, "up: cannot reach ");
	refuse_named(&src, "v1", TK_EIO, "up: cannot reach ");
	refuse_named(&src, "HEAD", TK_EIO, "up: cannot reach ");
	refuse_named(&src, "1234567", TK_EIO, "up: cannot reach ");
	struct tk_error err = {0};
	char *untouched = (char *)1;
	assert_int_equal(tk_repo_checkout(&src, "v1", &untouched, &err), TK_EIO);
	assert_ptr_equal(untouched, (char *)1);
	sh(s, "mv gone a");
	expect_newest(&src, "3", 3);
	free(file);
	free(url);
}

/* Another tracker that works with the clone is waited for, as long as the deadline says. */
static void the_clone_is_locked(void **state)
{
	const struct scratch *s = *state;
	make(s, "a", 1);
	char *url = url_of(s, "a"), lock[512];
	struct tk_repo src = git_source(s, url);
	int ready[2];
	expect_newest(&src, "1", 1);
	ask(s, lock, sizeof lock, "ls -d \"$PWD\"/cache/git/up-*.lock");
	assert_int_equal(pipe(ready), 0);
	pid_t holder = fork();
	if (!holder) {
		struct tk_lock *held = NULL;
		char c = (char)(tk_lock_wait(lock, 1, &held, NULL) != 0);
		if (write(ready[1], &c, 1) == 1)
			pause();
		_exit(1);
	}
	char failed = 1;
	assert_int_equal(read(ready[0], &failed, 1), 1);
	assert_int_equal(failed, 0);
	src.deadline_s = 0.2;
	struct tk_revision r;
	struct tk_error err = {0};
	assert_int_not_equal(tk_repo_find_newest(&src, &r, &err), 0);
	char number[16];
	snprintf(number, sizeof number, "%d", (int)holder);
	if (!strstr(err.message, number))
		fail_msg("\"%s\" does not name process %s", err.message, number);
	kill(holder, SIGKILL); /* its lock ends with it */
	waitpid(holder, NULL, 0);
	src.deadline_s = 60;
	expect_newest(&src, "1", 1);
	close(ready[0]);
	close(ready[1]);
	free(url);
}

/* ---- checkouts ---- */

static void set_age(const char *path, int64_t age_s)
{
	const struct timespec t[2] = {
	        {.tv_sec = tk_clock_now_s() - age_s}, {.tv_sec = tk_clock_now_s() - age_s}};
	assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

/* What killed trackers left is removed after two days, and nothing else. */
static void old_checkouts_are_removed(void **state)
{
	const struct scratch *s = *state;
	char *dir = NULL;
	make(s, "a", 1);
	sh(s, "mkdir -p cache/work/old cache/work/young cache/work/.hidden && touch "
	      "cache/work/old/f");
	char *url = url_of(s, "a"), *old = url_of(s, "cache/work/old"),
	     *young = url_of(s, "cache/work/young"), *hidden = url_of(s, "cache/work/.hidden");
	struct tk_repo src = git_source(s, url);
	set_age(old, 2 * 86400 + 60);
	set_age(young, 2 * 86400 - 600);
	set_age(hidden, 9 * 86400);
	OK(tk_repo_checkout(&src, "main", &dir, err));
	assert_false(tk_dir_exists(old));
	assert_true(tk_dir_exists(young));
	assert_true(tk_dir_exists(hidden));
	assert_true(tk_dir_exists(dir));
	tk_repo_remove_checkout(&src, dir);
	free(url);
	free(old);
	free(young);
	free(hidden);
}

/* The submodule is that of the revision; one whose commit is gone is an error that leaves no
 * folder. */
static void submodules_belong_to_revisions(void **state)
{
	const struct scratch *s = *state;
	char *dir = NULL, line[64], *command = NULL;
	sh(s, "git init -q lib && cd lib && echo one >l && git add l && git commit -q -m l && cd "
	      ".. "
	      "&& git init -q a && cd a && git submodule --quiet add ../lib 'deps/the lib' && git "
	      "commit -q -m first && cd ../lib && echo two >l && git commit -qam l2 && cd '../a/"
	      "deps/the lib' && git pull -q && cd ../.. && git commit -qam second");
	char *url = url_of(s, "a");
	struct tk_repo src = git_source(s, url);
	src.submodules = true;
	static const char *const content[][2] = {{"main", "two"}, {"HEAD~1", "one"}};
	for (size_t i = 0; i < 2; i++) {
		OK(tk_repo_checkout(&src, content[i][0], &dir, err));
		assert_true(asprintf(&command, "cat '%s/deps/the lib/l'", dir) > 0);
		ask(s, line, sizeof line, command);
		assert_string_equal(line, content[i][1]);
		free(command);
		tk_repo_remove_checkout(&src, dir);
	}
	sh(s, "cd lib && git reset -q --hard HEAD~1 && git reflog expire --expire=now --all && git "
	      "gc -q --prune=now && rm -rf ../cache");
	struct tk_error err = {0};
	char *untouched = NULL;
	assert_int_equal(tk_repo_checkout(&src, "main", &untouched, &err), TK_EIO);
	assert_non_null(strstr(err.message, "up: cannot fetch the submodules"));
	assert_null(untouched);
	sh(s, "test -z \"$(ls cache/work)\"");
	free(url);
}

/* ---- the enclosing repository ---- */

static void self_in_a_linked_work_tree(void **state)
{
	const struct scratch *s = *state;
	struct tk_revision r;
	char *dir = NULL;
	make(s, "a", 2);
	sh(s, "cd a && echo 1 >f && echo 1 >g && git add . && git commit -q -m 3 && git worktree "
	      "add "
	      "-q --detach ../linked HEAD");
	char *folder = url_of(s, "linked");
	struct tk_repo self = {.kind = TK_REPO_SELF,
	        .name = "self",
	        .url = folder,
	        .cache_dir = s->cache,
	        .deadline_s = 60};
	expect_newest(&self, "3", 3);
	sh(s, "touch linked/new linked/f"); /* neither changes a tracked file */
	OK(tk_repo_find_newest(&self, &r, err));
	assert_false(r.dirty);
	static const char *const changes[] = {
	        "echo 2 >f", "rm g", "chmod +x f", "git rm -q g", "git add new"};
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		sh(s, "cd linked && %s", changes[i]);
		OK(tk_repo_find_newest(&self, &r, err));
		if (!r.dirty)
			fail_msg("%s: not dirty", changes[i]);
		sh(s, "cd linked && git reset -q --hard && touch new");
	}
	OK(tk_repo_checkout(&self, "HEAD", &dir, err));
	char *file = tk_path_join(dir, "g");
	assert_true(tk_file_exists(file));
	tk_repo_remove_checkout(&self, dir);
	free(file);
	free(folder);
}

static void snapshots_of_every_kind_of_change(void **state)
{
	const struct scratch *s = *state;
	static const char *const changes[] = {"rm f", "mv f 'new\nname'", "git rm -q f",
	        "ln -s f link", "git commit -q --amend -m x"};
	make(s, "a", 1);
	sh(s, "cd a && mkdir sub && echo 1 >f && echo 1 >sub/g && git add . && git commit -q -m 2");
	char *folder = url_of(s, "a"), *sub = url_of(s, "a/sub");
	const struct tk_repo src = {
	        .kind = TK_REPO_SELF, .name = "self", .cache_dir = s->cache, .deadline_s = 60};
	char ids[8][128];
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		struct tk_revision r;
		char *dir = NULL;
		sh(s, "cd a && %s", changes[i]);
		OK(tk_repo_snapshot(&src, i % 2 ? sub : folder, &dir, &r, err));
		assert_true(r.dirty == (i != 4));
		assert_int_equal(r.position, i == 4 ? 2 : 3);
		snprintf(ids[i], sizeof ids[i], "%s", r.id);
		tk_repo_remove_checkout(&src, dir);
		sh(s, "cd a && git reset -q --hard && git clean -qfdx");
	}
	for (size_t i = 1; i < 5; i++) /* equal files, equal commits */
		for (size_t k = 0; k < i; k++)
			assert_true((strcmp(ids[i], ids[k]) == 0) == (i == 2 && k == 0));
	free(folder);
	free(sub);
}

static void what_has_no_snapshot(void **state)
{
	const struct scratch *s = *state;
	struct tk_revision r = {.position = 77};
	sh(s, "git init -q empty && git init -q --bare bare.git && echo x >file");
	static const struct {
		const char *name;
		int status;
	} cases[] = {{"bare.git", TK_EUSAGE}, {"file", TK_EUSAGE}, {"none", TK_EUSAGE},
	        {"empty", TK_EIO}};
	const struct tk_repo src = {
	        .kind = TK_REPO_SELF, .name = "self", .cache_dir = s->cache, .deadline_s = 60};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_error err = {0};
		char *folder = url_of(s, cases[i].name), *dir = NULL;
		int status = tk_repo_snapshot(&src, folder, &dir, &r, &err);
		if (status != cases[i].status || !*err.message)
			fail_msg("%s: status %d, \"%s\"", cases[i].name, status, err.message);
		assert_null(dir);
		assert_int_equal(r.position, 77);
		free(folder);
	}
	sh(s, "test ! -d cache/work || test -z \"$(ls cache/work)\"");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)
	const struct CMUnitTest tests[] = {T(positions_of_a_shallow_repository_are_unknown),
	        T(a_repository_without_commits), T(a_default_branch_that_is_gone), T(tags_may_move),
	        T(branches_are_pushed_by_force), T(branches_make_way_for_each_other),
	        T(a_tag_comes_before_a_branch), T(names_of_revisions), T(paths_with_blanks),
	        T(credentials_are_not_shown), T(commits_without_text_and_of_any_time),
	        T(limits_of_lists), T(without_a_network), T(the_clone_is_locked),
	        T(old_checkouts_are_removed), T(submodules_belong_to_revisions),
	        T(self_in_a_linked_work_tree), T(snapshots_of_every_kind_of_change),
	        T(what_has_no_snapshot)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
