# usage: wheels.sh uv|pip   Wheels that were made to harm: their files stay in the environment, and
#                           their code runs in the sandbox of the build alone.
. "$TK_LIB"
index_py=$TK_SOURCE_ROOT/tests/cli/package/index.py
if [ "$1" = uv ]; then
	command -v uv >/dev/null || skip "no uv is here"
else
	python3 -c 'import ensurepip, venv' 2>/dev/null || skip "no python3-venv is here"
	folders=
	IFS=: read -ra all <<<"$PATH"
	for folder in "${all[@]}"; do [ -x "$folder/uv" ] || folders+=${folders:+:}$folder; done
	PATH=$folders
	type python3 git >/dev/null 2>&1 || skip "uv is in the folder of other programs"
fi

ran=$PWD/ran outside=$PWD/outside
echo kernel >kernel
python3 "$index_py" add index 1.0 kernel "pth=$ran" &&
	python3 "$index_py" add index 2.0 kernel "outside=$outside" &&
	python3 "$index_py" add index 1.0 kernel "pth=$ran" name=fake_companion ||
	fail "no wheels"
python3 "$index_py" serve index >port &
server=$!
trap 'kill $server 2>/dev/null; rm -rf -- "$scratch"' EXIT
while [ ! -s port ]; do sleep 0.1; done

mkdir -p adapters/own
echo 'fake-companion==1.0' >adapters/own/requirements
cat >adapters/own/build <<'SH'
#!/bin/sh
"$TK_SRC/bin/python" -c 'import fake_companion, fake_pkg' && echo "error: the build has both" >&2
exit 1
SH
chmod +x adapters/own/build
cat >tracker.yml <<YML
paths: { adapters: adapters }
upstreams:
  - { name: fake, kind: package, package: fake-pkg, adapter: own,
      index: "http://127.0.0.1:$(cat port)/simple" }
YML
# pip is slow, and refuses the path of 2.0 by itself
[ "$1" = uv ] && versions="1.0 2.0" || versions=1.0
for version in $versions; do
	run tracker build fake --rev=$version
	assert_code 3
	[ $version = 2.0 ] || assert_err "the build has both"
	[ ! -e "$ran" ] || fail "code of a wheel ran outside the sandbox"
	[ ! -e "$outside" ] || fail "a wheel wrote outside its environment"
done
