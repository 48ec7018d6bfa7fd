# Histories for the tests of `tracker diff`: `history SCRIPT` writes tracker.db in this folder, see
# tests/unit/decide/write_history.c. Nights are numbered from 2026-01-01.
write_history=${TK_BUILD_ROOT:?}/tests/write_history
history() { printf '%b' "$1" | "$write_history" tracker.db || fail "write_history failed"; }
export TRACKER_NOW=2026-01-02T06:00:00Z

two_revisions='build\taaa111aaa111\t10\tb\th1\tGood
night\t0
point\tb\tgemm 512\t1e6
point\tb\tgemm 64\t2e6
point\tb\tattention\t3e6
point\tb\tgone\t3e6
build\tbbb222bbb222\t13\tb\th2\tSpoil the blocking
night\t1
point\tb\tgemm 512\t1.4e6
point\tb\tgemm 64\t2.001e6
fail\tb\tattention\tcrashed\tsignal 11
'
