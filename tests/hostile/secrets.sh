# Secrets where people keep them: neither a build nor a backend reads one, whoever the tracker runs
# as and whatever sandbox it has. Without one they are read.
. "$TK_LIB"
[ "$(id -u)" -eq 0 ] || skip "only root can put secrets everywhere and run as others"
w=$(mktemp -d /var/tmp/tracker-secrets-XXXXXX) name=tracker-canary-$$
others=({/etc,/srv,/opt,/tmp,/dev/shm}/"$name")
trap 'code=$?; kill "$holder"; rm -rf -- "$scratch" "$w" "${others[@]}"; exit $code' EXIT
export HOME=$w/home TRACKER_CACHE=$w/home/cache CANARY=canary-of-the-environment
places=("${others[@]}" "$HOME/$name" "$TRACKER_CACHE/artifacts/other/$name")
mkdir -p "$w/adapters/toy" "$w/backend" "$TRACKER_CACHE/artifacts/other" && cd "$w" || exit 1
git init -q -b main upstream && git -C upstream commit -q --allow-empty -m one
cat >tracker.yml <<'YML'
machine: testbed
devices: ["null:0"]
paths: { adapters: adapters }
upstreams:
  - { name: toy, kind: git, url: upstream, adapter: toy }
YML
cat >backend/look <<SH
#!/bin/bash
for f in ${places[*]} /proc/[0-9]*/environ; do
	case \$(tr -d '\\0' <"\$f") in *canary-of*) found+=("\$f") ;; esac
done 2>/dev/null
[ -z "\$CANARY" ] || found+=(CANARY)
echo "LOOKED: \${found[*]}"
exit \$((100 + \${#found[@]}))
SH
cp backend/look adapters/toy/build && chmod +x backend/look adapters/toy/build
: >adapters/toy/tools
cat >backend.c <<C
#include <stdlib.h>
#include <sys/wait.h>
const void *tk_backend_entry(void);
const void *tk_backend_entry(void) { _Exit(WEXITSTATUS(system("$w/backend/look"))); }
C
cc -shared -fPIC -o backend/canary.so backend.c || fail "the backend does not compile"

# look WHO METHOD: what a build and a backend found
look() {
	local as=() uid=0
	case $1 in
	container) # as Docker starts it
		printf -v caps ",+%s" chown dac_override fowner fsetid kill setgid setuid setpcap \
			net_bind_service sys_chroot mknod setfcap
		as=(setpriv --bounding-set=-all"$caps")
		;;
	user)
		uid=64000
		as=(setpriv --reuid=64000 --regid=64000 --clear-groups --bounding-set=-all)
		;;
	esac
	(umask 077 && tee "${places[@]}" <<<"canary-of-a-file" >/dev/null)
	chown -R $uid:$uid "$w" "${others[@]}"
	chmod "$([ "$1" = open ] && echo 755 || echo 700)" "$w" "$HOME"
	export TRACKER_SANDBOX_METHOD=$2
	"${as[@]}" bash -c 'exec -a tracker-holder sleep 600' &
	holder=$!
	rm -rf "$TRACKER_CACHE"/artifacts/????????????????*
	run "${as[@]}" timeout 100 "$TRACKER" build toy
	build=$(cat "$TRACKER_CACHE"/artifacts/????????????????*/build.log)
	run "${as[@]}" timeout 100 "$TRACKER" run ./backend/canary.so gemm:m=8,n=8,k=8
	backend=$out$err
	kill "$holder"
}

look open none
[[ $build == "LOOKED: ${places[*]}"* ]] ||
	fail "a build without a sandbox reads only: $build"
[[ $backend =~ "code 10"[7-9] ]] || fail "a backend without a sandbox: $backend"

for who in open root container user; do
	for method in bubblewrap landlock; do
		[ $who-$method != container-bubblewrap ] || continue # it has no namespaces
		look $who $method
		[[ $build == "LOOKED: " ]] || fail "$who, $method: a build says: $build"
		[[ $backend == *"code 100 "* ]] || fail "$who, $method: a backend says: $backend"
	done
done
