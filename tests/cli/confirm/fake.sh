# An upstream `fake` in up/ whose kernel takes the time that its source says, as noisy as it says:
#   .
#   fake.sh
# Compiled from each revision anew, but for what no revision changes. tracker.yml measures it on the
# null device; DEVICES of several problems: suite.yml.
git init -q -b main up
mkdir -p adapters/fake
cat >adapters/fake/build <<'SH'
#!/bin/sh
set -e
mkdir -p "$TK_OUT/lib"
. "$TK_SRC/kernel"
[ "$builds" = yes ] || { echo "error: this revision does not build"; exit 1; }
# the default of `slow` becomes what the source says, times a factor of each process
sed "s/\.slow = 1,/.slow = noisy($slow, $noise, $crashes, $pad, $eats, $shy),/" "$TK_KERNELS/null/null_options.c" >options.c
cat >noisy.h <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
/* the file `machine`: how slow the machine is tonight, 0: everything crashes; pad: other machine
 * code that takes no time */
static inline double noisy(double slow, double noise, int crashes, int pad, int eats, int shy)
{
	double machine = 1;
	fputs("opened\n", stderr);
	FILE *f = fopen(MACHINE, "r");
	if (f && fscanf(f, "%lf", &machine) != 1)
		machine = 1;
	if (f)
		fclose(f);
	struct timespec t;
	for (volatile int i = 0; i < pad; i++)
		;
	clock_gettime(CLOCK_MONOTONIC, &t);
	unsigned long x = ((unsigned long)t.tv_nsec ^ (unsigned long)getpid() * 2654435761ul) *
		6364136223846793005ul;
	double u = (double)(x >> 40) / (double)(1ul << 24);
	if (eats) { /* MiB, for longer than the parent looks away */
		static volatile char *full;
		full = memset(malloc((size_t)eats << 20), 1, (size_t)eats << 20);
		(void)*full;
		usleep(200000);
	}
	if (shy && flock(open(MACHINE ".lock", O_RDWR | O_CREAT, 0600), LOCK_EX | LOCK_NB) != 0)
		abort(); /* another process of it lives */
	if (machine == 0 || (crashes && u < 0.15))
		abort();
	return slow * (1 + noise * (u - 0.5)) * machine;
}
C
cc -shared -fPIC -fvisibility=hidden -O1 -D_GNU_SOURCE -include noisy.h \
	-DMACHINE="\"$machine\"" $LDFLAGS -I"$TK_KERNELS/null" -I"$TK_KERNELS/abi" \
	-o "$TK_OUT/lib/tk_backend_null.so" options.c -Wl,--whole-archive @FAKE_NULL@ \
	-Wl,--no-whole-archive -lm
SH
sed -i "s|@FAKE_NULL@|$(dirname "$TRACKER")/tests/libfake_null.a|" adapters/fake/build
chmod +x adapters/fake/build
cat >suite.yml <<'YML'
title: one
source: made for this test
problems:
  - gemm: { m: 64, n: 64, k: 64 }
YML

# commit SUBJECT [slow=F] [noise=F] [crashes=1] [builds=no] [pad=N] [eats=MIB] [shy=1]
commit() {
	local slow=1 noise=0 crashes=0 builds=yes pad=0 eats=0 shy=0 subject=$1
	shift
	[ $# -eq 0 ] || local "$@"
	printf 'slow=%s\nnoise=%s\ncrashes=%s\nbuilds=%s\npad=%s\neats=%s\nshy=%s\nmachine=%s\n# %s\n' "$slow" "$noise" "$crashes" "$builds" "$pad" "$eats" "$shy" "$PWD/machine" "$subject" >up/kernel
	git -C up add kernel
	git -C up commit -q -m "$subject"
}

# configure [UPSTREAM OPTIONS] [BUDGETS]
configure() {
	cat >tracker.yml <<YML
machine: testbed
sandbox: off # the kernel reads the file "machine"
devices: ["null:0"]
suites: [suite.yml]
paths: { adapters: adapters }
budgets: { job: 20s, measure: 50ms ${2:-} }
thresholds: { min_effect_time: 0ns }
control: { every: 0 }
upstreams:
  - { name: fake, kind: git, url: up, adapter: fake, backends: ["null"],
      options: "seed=1,noise=0.001${1:+,$1}" }
YML
}
