#!/bin/bash
# Archives that were made to fill the disk: a bundle of builds and the archive of a history are
# refused at the caps that docs/how-to/add-a-backend.md has, with nothing left on the disk.
# shellcheck disable=SC1090,SC2154
. "$TK_LIB"
command -v zstd >/dev/null || skip "zstd is not installed"
cat >make.py <<'PYTHON'
import io, sys, tarfile


def add(tar, name, size=0, kind=tarfile.REGTYPE):
    entry = tarfile.TarInfo(name)
    entry.type, entry.size = kind, size
    tar.addfile(entry, open("/dev/zero", "rb") if size else None)


def folders(tar, depth):
    add(tar, "/".join(["d"] * depth) + "/file")


def entries(tar, count):
    # all by one name: making 200001 headers takes longer than refusing them
    header = tarfile.TarInfo("e").tobuf(tar.format)
    for _ in range(count):
        tar.fileobj.write(header)


def bytes_of(tar, mebibytes):
    add(tar, "zeros", mebibytes << 20)


def sparse(tar, gibibytes):
    # 4 bytes of content; the rest is a hole
    entry = tarfile.TarInfo("sparse")
    entry.pax_headers = {
        "GNU.sparse.map": "0,4",
        "GNU.sparse.size": str(gibibytes << 30),
        "GNU.sparse.numblocks": "1",
    }
    entry.size = 4
    tar.addfile(entry, io.BytesIO(b"data"))


kinds = {"folders": folders, "entries": entries, "mebibytes": bytes_of, "sparse": sparse}
with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.PAX_FORMAT) as tar:
    kinds[sys.argv[1]](tar, int(sys.argv[2]))
PYTHON
mkdir -p server/files/plain
make() { # make NAME KIND COUNT
	python3 make.py "$2" "$3" | zstd -q -1 -o "server/files/plain/$1.tar.zst" || fail "$1"
}
make deep folders 70
make deepest folders 20000
make many entries 200001
make dense mebibytes 300
make sparse sparse 100
# within the caps: refused for what it has not
make allowed folders 60

python3 "$TK_SOURCE_ROOT/tests/cli/push/server.py" server >port &
server=$!
trap 'kill $server' EXIT
until [ -s port ]; do sleep 0.05; done
url=http://127.0.0.1:$(cat port)/plain

# refused NAME PHRASE: both commands that unpack what others made
refused() {
	run tracker build --import="server/files/plain/$1.tar.zst"
	[ "$code" -eq 4 ] || fail "$1: build --import ended with $code"
	assert_err "$2"
	run tracker pull "$url/$1.tar.zst"
	[ "$code" -eq 4 ] || fail "$1: pull ended with $code"
	assert_err "$2"
	assert_eq "$(find . "$TRACKER_CACHE" \( -name '.new-*' -o -name .pull -o -name '*.db' \) \
		2>/dev/null)" ""
}
refused deep "too many folders"
refused deepest "refused"
refused many "more than 200000 entries"
refused dense "more than 1000 times its size"
before=$(df --output=used -k . | tail -1)
refused sparse "unpacks to more than"
after=$(df --output=used -k . | tail -1)
[ $((after - before)) -lt 1048576 ] || fail "the sparse file took $((after - before)) KiB"

run tracker build --import=server/files/plain/allowed.tar.zst
! grep -q "refused" "$err_file" || fail "60 folders were refused"
