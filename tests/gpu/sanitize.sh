#!/bin/bash
# compute-sanitizer over all kernels of our own, at small and odd sizes and in every configuration:
# out-of-bounds and misaligned accesses (memcheck), races in shared memory (racecheck), reads of
# what nobody wrote (initcheck), wrong barriers (synccheck). Each is launched twice, and the results
# must be equal.
#
# usage: tests/gpu/sanitize.sh LAUNCH_KERNELS BACKENDS_FOLDER [TOOLS [BACKENDS]]
#        TOOLS: default "memcheck racecheck initcheck synccheck"; none: without the sanitizer.
#        BACKENDS: a regular expression, default all
# shellcheck disable=SC2054   # the commas belong to the problems
set -uo pipefail
[ -e /dev/nvidiactl ] || {
	echo "there is no NVIDIA GPU here"
	exit 77
}
launch=$1
modules=$2
tools=${3:-memcheck racecheck initcheck synccheck}
only=${4:-.}
bad=0

# look BACKEND CONFIG PROBLEM...
look() {
	local backend=$1 config=$2 tool output status same word
	shift 2
	[[ $backend =~ $only ]] || return 0
	for tool in $tools; do
		if [ "$tool" = none ]; then
			output=$("$launch" "$modules/tk_device_cuda.so" \
				"$modules/tk_backend_$backend.so" "$config" "$@" 2>&1)
		else
			output=$(compute-sanitizer --tool "$tool" --error-exitcode 9 "$launch" \
				"$modules/tk_device_cuda.so" "$modules/tk_backend_$backend.so" \
				"$config" "$@" 2>&1)
		fi
		status=$?
		same=$(grep -c '^same' <<<"$output")
		word=clean
		if [ $status != 0 ]; then
			word="BAD $status"
		# nothing was launched: right only where the backend is made for another processor
		elif [ "$same" = 0 ]; then
			grep -q '^unsupported.*for sm_90 alone' <<<"$output" && word=skipped ||
				word="BAD: nothing launched:"
		fi
		echo "$word $tool $backend $config $same problems"
		if [[ $word = BAD* ]]; then
			bad=$((bad + 1))
			grep -v '^same' <<<"$output" | head -30
		fi
	done
}

gemm=(gemm:m=65,n=129,k=40,a=f16 gemm:m=33,n=70,k=37,a=bf16,ta=t,tb=t,c=f32 \
	gemm:m=130,n=66,k=72,a=f16,tb=t,batch=2)
look gemm_naive_cuda default "${gemm[@]}" gemm:m=65,n=33,k=40,a=f32
look gemm_shared_cuda tile-32x32 "${gemm[@]}" gemm:m=65,n=33,k=40,a=f32
look gemm_shared_cuda tile-16x16 "${gemm[@]}"
look gemm_register_cuda tile-128x128 "${gemm[@]}" gemm:m=65,n=33,k=40,a=f32
look gemm_register_cuda tile-64x64 "${gemm[@]}"
look gemm_pipelined_cuda default "${gemm[@]}" gemm:m=65,n=33,k=40,a=f32
look gemm_matrix_cuda tile-128x256x32-stages-4 "${gemm[@]}"
look gemm_matrix_cuda tile-64x64x64-stages-4 "${gemm[@]}"
aligned=(gemm:m=264,n=136,k=584,a=f16 gemm:m=257,n=264,k=200,a=bf16,tb=t,c=f32 \
	gemm:m=136,n=129,k=328,a=f16,ta=t,tb=t gemm:m=72,n=264,k=528,a=bf16,ta=t,batch=2
	gemm:m=65,n=136,k=1040,a=e4m3,tb=t,c=bf16)
for config in tile-128x256-cluster-2 tile-128x192 tile-128x128 tile-64x192 tile-64x128 \
	tile-64x128-split-4; do
	look hopper_gemm $config "${aligned[@]}"
done
dense=(attention:b=1,h=2,hkv=1,sq=65,skv=133,d=64,dtype=f16,causal=1 \
	attention:b=1,h=2,sq=130,d=128,dtype=bf16,causal=0 \
	attention:b=2,h=1,sq=67,d=256,dtype=f16,causal=1
	attention:b=1,h=1,sq=1,skv=200,d=128,dtype=bf16,causal=1)
for config in default other-keys queries-64; do
	look flash_cuda $config "${dense[@]}"
done
look flash_cuda default "${dense[@]/%/,dir=bwd}"
look hopper_flash default "${dense[@]}" attention:b=1,h=1,sq=300,skv=400,d=128,dtype=bf16,causal=1
look hopper_flash default "${dense[@]/%/,dir=bwd}" \
	attention:b=1,h=2,hkv=1,sq=300,skv=400,d=128,dtype=bf16,causal=1,dir=bwd
sparse=(nsa:b=1,s=133,h=16,hkv=1,d=128,block_size=32,selected_blocks=2,window=40,dtype=bf16 \
	nsa:b=1,s=70,h=12,hkv=2,d=64,block_size=17,selected_blocks=3,dtype=f16,causal=0)
look nsa_cuda keys-16-stages-3 "${sparse[@]}"
look nsa_cuda keys-32-stages-2 "${sparse[@]}"
blocks=(nsa:b=1,s=133,h=16,hkv=1,d=128,block_size=64,selected_blocks=2,window=40,dtype=bf16 \
	nsa:b=1,s=270,h=16,hkv=2,d=64,block_size=64,selected_blocks=3,dtype=f16,causal=0)
look hopper_nsa warpgroups-3 "${blocks[@]}"
look hopper_nsa warpgroups-2 "${blocks[@]}"
look ceiling_cuda default copy:bytes=1000003,dtype=e4m3 read:bytes=1000004 \
	read:bytes=8192,cache=l1,passes=2 read:bytes=40960,cache=l2,passes=3 \
	read:bytes=24576,passes=5 \
	fma:count=100000,dtype=f32 fma:count=100000,dtype=f16
echo "$bad bad"
[ $bad = 0 ]
