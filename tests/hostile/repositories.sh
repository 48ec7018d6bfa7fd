#!/bin/bash
# Repositories and archives of builds that were made to harm: nothing of theirs runs while they are
# fetched and checked out, nothing is written outside of the tracker's folders, and each error says
# what is wrong.
# shellcheck disable=SC1090,SC1091,SC2154
. "$TK_LIB"
. "$TK_SOURCE_ROOT/tests/cli/build/toy.sh"
trap_line="touch '$scratch/owned'"
untouched() { [ ! -e "$scratch/owned" ] || fail "$1: a command of the repository ran"; }

# put MODE NAME < CONTENT: one entry of the next tree, also where git add would refuse the name
entries=$scratch/entries
put() {
	local id
	id=$(git -C up hash-object -w --stdin)
	printf '%s %s\0' "$1" "$2" >>"$entries"
	printf "%b" "$(printf %s "$id" | sed 's/../\\x&/g')" >>"$entries"
}
put_tree() { # NAME ID
	printf '40000 %s\0' "$1" >>"$entries"
	printf "%b" "$(printf %s "$2" | sed 's/../\\x&/g')" >>"$entries"
}
write_tree() {
	git -C up hash-object -t tree --literally -w --stdin <"$entries"
	rm "$entries"
}
commit_tree() { # TREE SUBJECT
	git -C up update-ref refs/heads/main "$(git -C up commit-tree "$1" -p main -m "$2")"
}
build() { run tracker build toy "$@"; untouched "${FUNCNAME[1]} $*"; }

printf '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "%s"\n' "$trap_line" >modules

# what git takes for ordinary files: filters, modules, hooks, names that look like options
printf '[core]\n\tfsmonitor = %s\n\thooksPath = hooks\n' "$trap_line" | put 100644 config
head=$(printf 'ref: refs/heads/main\n' | git -C up hash-object -w --stdin)
printf '100644 HEAD\0' >>"$entries"
printf "%b" "$(printf %s "$head" | sed 's/../\\x&/g')" >>"$entries"
settings=$(write_tree)
printf '#!/bin/sh\n%s\n' "$trap_line" | put 100755 post-checkout
hooks=$(write_tree)
printf '%s' "touch" | put 100644 "--upload-pack=touch owned"
printf '* filter=evil diff=evil merge=evil\n' | put 100644 .gitattributes
put 100644 .gitmodules <modules
printf 'x' | put 100644 $'a\nb'
put_tree hooks "$hooks"
printf '/etc/passwd' | put 120000 outside
printf '../../../../owned' | put 120000 parent
put 100644 toy.c <up/toy.c
odd=$(write_tree)
git -C up config core.fsmonitor "$trap_line"
git -C up config filter.evil.smudge "$trap_line; cat"
git -C up config filter.evil.required true
git -C up config uploadpack.packObjectsHook "$trap_line; cat"
printf '#!/bin/sh\n%s\n' "$trap_line" | tee up/.git/hooks/post-checkout >up/.git/hooks/pre-commit
chmod +x up/.git/hooks/post-checkout up/.git/hooks/pre-commit
commit_tree "$odd" $'odd \e]0;owned\a \xe2\x80\xae'
git -C up update-ref "refs/heads/--upload-pack=x" main
git -C up update-ref "refs/tags/-c" main
build
assert_code 0
build --list
assert_code 0
! LC_ALL=C grep -qP '\x1b|\x07|\xe2\x80\xae' "$out_file" || fail "a control character was printed"

# revisions that look like options or paths
for rev in "--upload-pack=$trap_line" "-c" "../../x" $'a\nb' "main@{upload}" ":/x" "ext::sh"; do
	build "--rev=$rev"
	[ "$code" = 3 ] || [ "$code" = 4 ] || fail "--rev=$rev: exit code $code"
	[ -n "$err" ] || fail "--rev=$rev: no message"
done

# trees that git itself would not make
for name in .. .GIT .git; do
	put_tree "$name" "$settings"
	put 100644 toy.c <up/toy.c
	commit_tree "$(write_tree)" "a folder named $name"
	build
	assert_code 3
	assert_err "toy"
done

# modules by a transport that runs a command
sed -i 's/^    adapter: toy/    submodules: true\n    adapter: toy/' tracker.yml
put 100644 .gitmodules <modules
put 100644 toy.c <up/toy.c
printf '160000 x\0' >>"$entries"
printf "%b" "$(git -C up rev-parse main | tr -d '\n' | sed 's/../\\x&/g')" >>"$entries"
commit_tree "$(write_tree)" "a module"
build
assert_code 0
assert_err "submodule x: the url \"ext::sh"
echo x >adapters/toy/sources
build
assert_code 3
assert_err "submodule x: the url \"ext::sh"
rm adapters/toy/sources

# a configuration that somebody sent
for line in "url: \"ext::sh -c '$trap_line'\"" "url: \"--upload-pack=$trap_line\"" \
	"branch: \"--upload-pack=$trap_line\""; do
	sed "s|^    ${line%%:*}:.*||; s|^    kind: git|    kind: git\n    $line|" tracker.yml >sent.yml
	run tracker --config=sent.yml build toy
	[ "$code" = 2 ] || [ "$code" = 3 ] || [ "$code" = 4 ] || fail "$line: exit code $code"
	[ -n "$err" ] || fail "$line: no message"
	untouched "$line"
done
