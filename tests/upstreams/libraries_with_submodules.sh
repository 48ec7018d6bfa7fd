#!/bin/bash
# libraries_with_submodules.sh FOLDER: repositories with the structure of FlashAttention, CUTLASS
# and FlashInfer: submodules by relative URL, some out of reach, pictures of megabytes, 16 commits
# of kernels, comments, Python, documents and submodules. For tests/cli/build/fake_nvcc.sh.
set -eu
mkdir -p "$1"
cd "$1"
commit() { # REPOSITORY SUBJECT: a day later
	stamp=$((${stamp:-1767225600} + 86400))
	git -C "$1" add --ignore-removal . # submodules have no folder
	GIT_AUTHOR_DATE=@$stamp GIT_COMMITTER_DATE=@$stamp git -C "$1" commit -q -m "$2"
}
new() { # NAME FOLDER...
	git init -q -b main "$1"
	git -C "$1" config uploadpack.allowFilter true
	(cd "$1" && mkdir -p media docs "${@:2}" && head -c 4000000 /dev/urandom >media/a.png)
}
point() { # REPOSITORY PATH COMMIT [URL]
	[ -z "${4:-}" ] ||
		printf '[submodule "%s"]\npath = %s\nurl = %s\n' "$2" "$2" "$4" >>"$1/.gitmodules"
	git -C "$1" update-index --add --cacheinfo "160000,$3,$2"
}
kernel() { # FILE HEADER...: a kernel for each instance, made of the headers' values
	printf '#include "%s"\n' kernel.h "${@:2}" >"$1"
	cat >>"$1" <<-'END'
		#define PASTE_(a, b) a##b
		#define PASTE(a, b) PASTE_(a, b)
		extern "C" {
		extern const struct kernel KERNEL;
		const struct kernel KERNEL = {};
		int PASTE(value_, KERNEL)(int);
		int PASTE(value_, KERNEL)(int x) { return x * LIBRARY_VALUE + CUTE_VALUE; }
		}
	END
}
history() { # REPOSITORY CODE TWO THREE: 15 commits; TWO and THREE are functions
	for i in $(seq 1 15); do
		case $((i % 5)) in
		0) echo "#define LIBRARY_VALUE $i" >"$1/$2" ;;
		1) echo "// $i" >>"$1/$2" ;;
		2) echo "$i" >"$1/docs/page" ;;
		3) "$3" ;;
		4) "$4" ;;
		esac
		commit "$1" "commit $i"
	done
}

new cutlass include/cutlass include/cute tools/util/include
printf '#define CUTLASS_%s 4\n' MAJOR MINOR PATCH >cutlass/include/cutlass/version.h
kernel cutlass/include/fake.cpp cutlass/gemm.h cute/tensor.hpp
sed -i 's/= {}/= {check}/; s/^extern "C" {/static const char *check(const struct tk_gemm *) { return nullptr; }\n&/' \
	cutlass/include/fake.cpp
cute() { echo "#define CUTE_VALUE $i" >cutlass/include/cute/tensor.hpp; }
unused() { echo "#define UNUSED $i" >cutlass/include/cutlass/unused.h; }
i=0 && cute && unused && echo '#define LIBRARY_VALUE 3' >cutlass/include/cutlass/gemm.h
commit cutlass CUTLASS
history cutlass include/cutlass/gemm.h cute unused
mapfile -t cutlass < <(git -C cutlass log --reverse --format=%H)

new flash-attention hopper csrc
echo '__version__ = "3.0.0"' >flash-attention/hopper/__init__.py
echo '#define LIBRARY_VALUE 5' >flash-attention/hopper/flash_fwd_launch_template.h
kernel flash-attention/hopper/fake.cpp flash_fwd_launch_template.h cute/tensor.hpp
point flash-attention csrc/cutlass "${cutlass[0]}" ../cutlass
point flash-attention csrc/composable_kernel "${cutlass[0]}" https://ck.invalid/ck.git
point flash-attention third_party/aiter "${cutlass[0]}" https://aiter.invalid/aiter.git
# shellcheck disable=SC2317 # called by name
python() { echo "# $i" >>flash-attention/hopper/setup.py; }
# shellcheck disable=SC2317
bump() { point flash-attention csrc/cutlass "${cutlass[i / 3]}"; }
commit flash-attention FlashAttention
history flash-attention hopper/flash_fwd_launch_template.h python bump

headers=include/flashinfer/attention
new flashinfer $headers/hopper
echo 0.4.0 >flashinfer/version.txt
echo '#define LIBRARY_VALUE 7' >flashinfer/$headers/hopper/prefill_sm90.cuh
echo 'int64_t batch_indices_offset;' >flashinfer/$headers/scheduler.cuh
kernel flashinfer/fake.cpp flashinfer/attention/hopper/prefill_sm90.cuh cute/tensor.hpp
point flashinfer 3rdparty/cutlass "${cutlass[0]}" ../cutlass
point flashinfer 3rdparty/spdlog "${cutlass[0]}" https://spdlog.invalid/spdlog.git
python() { echo "# $i" >>flashinfer/setup.py; }
bump() { point flashinfer 3rdparty/cutlass "${cutlass[i / 3]}"; }
commit flashinfer FlashInfer
history flashinfer $headers/hopper/prefill_sm90.cuh python bump
