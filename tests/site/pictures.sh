#!/bin/bash
# The pictures of pages that links to them show: pictures.sh SITE_SEED TRACKER
# MAKE_HISTORY
set -eu
seed=$(realpath "$1") tracker=$(realpath "$2") make=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$seed" h.db demo --no-hostile
site() { # FOLDER [OPTIONS]
	TRACKER_NOW=2026-11-20T08:00:00Z "$tracker" --db=h.db -q site "--out=$1" "${@:2}" >/dev/null
}
site plain
site site --base-url=https://example.org/kernels
! grep -rq 'og:image' plain || { echo "a picture without an address" >&2; exit 1; }
[ -z "$(find plain -name '*.png')" ] || { echo "pictures without an address" >&2; exit 1; }
cat >check.py <<'END'
import glob, os, re, struct, zlib

WIDTH, HEIGHT, LEVELS = 1200, 630, 16
TEXT, BAD = 11, 12


def decode(path):
    """How often each ink is in a picture."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, pixels = 8, b""
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            assert struct.unpack(">IIBB", body[:10]) == (WIDTH, HEIGHT, 8, 3), path
        pixels += body if kind == b"IDAT" else b""
        at += size + 12
    raw, above, inks = zlib.decompress(pixels), bytes(WIDTH), {}
    for y in range(HEIGHT):
        filtered, row = raw[y * (WIDTH + 1)], raw[y * (WIDTH + 1) + 1 : (y + 1) * (WIDTH + 1)]
        assert filtered in (0, 2), (path, filtered)
        if filtered == 2:
            row = bytes((a + b) & 255 for a, b in zip(row, above))
        for pixel in row:
            if pixel % LEVELS:
                inks[pixel // LEVELS] = inks.get(pixel // LEVELS, 0) + 1
        above = row
    return inks


own = 0
for path in glob.glob("site/**/*.html", recursive=True):
    page = open(path, encoding="utf-8").read()
    (picture,) = re.findall(r'<meta property="og:image" content="([^"]*)">', page)
    assert picture.startswith("https://example.org/kernels/"), picture
    picture = "site/" + picture[len("https://example.org/kernels/") :]
    assert os.path.exists(picture), (path, picture)
    is_own = picture == path[: -len(".html")] + ".png"
    assert is_own or picture == "site/index.png", (path, picture)
    own += is_own
    if '<svg class="trend"' in page or '<svg class="roofline"' in page:
        assert is_own, "%s has a chart, but not its picture" % path
assert own == len(glob.glob("site/**/*.png", recursive=True)), own

inks = decode("site/index.png")
assert inks[TEXT] > 5000 and inks[0] > 1000, "the headline and an index: %s" % inks
(regressed,) = glob.glob("site/series/epyc-lab.cpu.openblas.gemm-f32-1024x1024x1024-nn.cold.png")
inks = decode(regressed)
assert inks[BAD] > 200 and inks[0] > 2000, "a line and the mark of the regression: %s" % inks
inks = decode("site/kernels/attention.png")
assert len(inks) > 2, "a colour for each backend: %s" % inks
END
python3 check.py
# without a change nothing is drawn again; a rebuilt site has the same pictures
site site --base-url=https://example.org/kernels
cp -r site kept
site site --base-url=https://example.org/kernels --full
diff -r -x 'site-state.*' kept site

# of many series, only those that changed have one
"$make" many.db --series=450 --nights=3 >/dev/null
TRACKER_NOW=@1700200000 "$tracker" --db=many.db -q site --out=many --base-url=https://example.org \
	>/dev/null
[ -z "$(find many/series -name '*.png')" ] || { echo "too many pictures" >&2; exit 1; }
grep -L '"og:image" content="https://example.org/index.png"' many/series/*.html >without || true
[ ! -s without ] || { echo "without a picture: $(head -n 3 without)" >&2; exit 1; }
