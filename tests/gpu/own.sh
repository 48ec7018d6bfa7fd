#!/bin/bash
# Every kernel of kernels/gpu and every Hopper kernel of kernels/cuda on a real GPU, in every
# configuration: types, transposes, odd sizes, batches, masks, grouped heads; each result verified
# by the tracker. Prints a table and fails where a result is wrong, or unsupported though it should
# not be.
#
# usage: tests/gpu/own.sh [TRACKER [RESULTS.json [BACKENDS]]]
#        BACKENDS: a regular expression, default all
# shellcheck disable=SC1091   # found at run time
. "$(dirname "$0")/check.sh"
only=${3:-.}

# every BACKEND "CONFIG..." PROBLEM...: in each of its configurations
every() {
	local backend=$1 config
	[[ $backend =~ $only ]] || return 0
	for config in $2; do
		go "$backend" "--hot --config-of-backend=$config" "${@:3}"
	done
}

mapfile -t narrow < <(
	for type in a=f16 a=bf16,c=f32; do
		gemm m=257,n=129,k=65 $type
		gemm m=512,n=256,k=384 $type
		gemm m=96,n=33,k=64,batch=5 $type
		gemm m=136,n=264,k=72,batch=2 $type
		echo "gemm:m=1,n=4096,k=4096,$type,tb=t"
		echo "gemm:m=1,n=1,k=1,$type"
	done
)
mapfile -t wide < <(
	gemm m=257,n=129,k=65 a=f32
	gemm m=512,n=256,k=384 a=f32
	gemm m=96,n=33,k=64,batch=5 a=f32
	echo "gemm:m=1,n=1,k=1,a=f32"
)
every gemm_naive_cuda "block-32x8 block-16x16 block-8x32" "${wide[@]}" "${narrow[@]}"
every gemm_shared_cuda "tile-32x32 tile-16x16" "${wide[@]}" "${narrow[@]}"
every gemm_register_cuda "tile-128x128 tile-64x64" "${wide[@]}" "${narrow[@]}"
every gemm_pipelined_cuda "tile-128x128" "${wide[@]}" "${narrow[@]}"
every gemm_matrix_cuda "tile-128x256x32-stages-4 tile-64x64x64-stages-4" "${narrow[@]}"

# Rows of multiples of 16 bytes: what the copy engine asks for.
mapfile -t aligned < <(
	for type in a=f16 a=bf16 a=bf16,c=f32; do
		gemm m=264,n=136,k=72 $type
		gemm m=512,n=512,k=512 $type
		gemm m=96,n=40,k=64,batch=5 $type
		gemm m=712,n=1000,k=1096,batch=2 $type
		echo "gemm:m=257,n=129,k=1000,$type,tb=t"
		echo "gemm:m=1,n=4096,k=4096,$type,tb=t"
		echo "gemm:m=1,n=1,k=520,$type,tb=t"
		echo "?gemm:m=8,n=8,k=8,$type"
	done
	for type in a=e4m3,c=bf16 a=e4m3,c=f16 a=e4m3,c=f32 a=e4m3,b=e5m2,c=bf16 \
		a=e5m2,b=e4m3,c=bf16; do
		echo "gemm:m=257,n=136,k=1040,$type,tb=t"
		echo "gemm:m=513,n=129,k=1024,$type,tb=t,batch=2"
	done
	echo "?gemm:m=64,n=64,k=64,a=f32"
	echo "?gemm:m=64,n=63,k=63,a=f16"
)
every hopper_gemm \
	"tile-128x256-cluster-2 tile-128x192 tile-128x128 tile-64x192 tile-64x128 default" \
	"${aligned[@]}"
# some have too few steps
every hopper_gemm "tile-64x128-split-2 tile-64x128-split-4 tile-64x128-split-8" \
	"${aligned[@]/#gemm/?gemm}"

mapfile -t dense < <(
	for dtype in f16 bf16; do
		for causal in 0 1; do
			for d in 64 128 256; do
				echo "attention:b=2,h=4,sq=512,d=$d,dtype=$dtype,causal=$causal"
				echo "attention:b=1,h=2,sq=1,d=$d,dtype=$dtype,causal=$causal"
			done
			echo "attention:b=2,h=8,hkv=2,sq=384,d=64,dtype=$dtype,causal=$causal"
			echo "attention:b=1,h=8,hkv=1,sq=200,skv=333,d=128,dtype=$dtype,causal=$causal"
			echo "attention:b=1,h=8,hkv=4,sq=$((333 - 133 * causal)),skv=200,d=256,dtype=$dtype,causal=$causal"
			echo "attention:b=3,h=3,sq=129,skv=257,d=64,dtype=$dtype,causal=$causal"
			echo "attention:b=4,h=16,hkv=4,sq=1,skv=1024,d=128,dtype=$dtype,causal=$causal"
			echo "attention:b=2,h=6,hkv=2,sq=1000,skv=1000,d=128,dtype=$dtype,causal=$causal"
			echo "attention:b=1,h=2,sq=256,d=64,scale=0.3,dtype=$dtype,causal=$causal"
			echo "?attention:b=1,h=2,sq=100,d=40,dtype=$dtype,causal=$causal"
		done
	done
)
every flash_cuda "default other-keys queries-64" "${dense[@]}"
every hopper_flash "default" "${dense[@]}"
mapfile -t backward < <(printf '%s\n' "${dense[@]}" | sed -e 's/$/,dir=bwd/' -e '/d=256/s/^?*/?/')
every flash_cuda "default" "${backward[@]}"
every hopper_flash "default" "${backward[@]}"

mapfile -t sparse < <(
	for dtype in f16 bf16; do
		for causal in 0 1; do
			for d in 64 128; do
				echo "nsa:b=2,s=512,h=32,hkv=2,d=$d,block_size=32,selected_blocks=4,window=100,dtype=$dtype,causal=$causal"
				echo "nsa:b=1,s=333,h=16,hkv=1,d=$d,block_size=64,selected_blocks=3,dtype=$dtype,causal=$causal"
			done
			echo "nsa:b=1,s=1000,h=8,hkv=2,d=128,block_size=17,selected_blocks=5,window=1,dtype=$dtype,causal=$causal"
			echo "nsa:b=1,s=130,h=48,hkv=2,d=64,block_size=16,selected_blocks=2,window=512,dtype=$dtype,causal=$causal"
		done
	done
)
every nsa_cuda "keys-16-stages-3 keys-32-stages-2" "${sparse[@]}"

# Blocks of a multiple of 64 keys, groups of 8 to 64 heads; lists so sparse that a warpgroup passes
# many steps by.
mapfile -t blocks < <(
	for dtype in f16 bf16; do
		for causal in 0 1; do
			for d in 64 128; do
				echo "nsa:b=2,s=512,h=32,hkv=2,d=$d,block_size=64,selected_blocks=4,window=100,dtype=$dtype,causal=$causal"
				echo "nsa:b=1,s=333,h=16,hkv=1,d=$d,block_size=64,selected_blocks=3,dtype=$dtype,causal=$causal"
				echo "nsa:b=1,s=1000,h=16,hkv=2,d=$d,block_size=128,selected_blocks=3,window=1,dtype=$dtype,causal=$causal"
				echo "nsa:b=1,s=777,h=64,hkv=2,d=$d,block_size=64,selected_blocks=5,window=512,dtype=$dtype,causal=$causal"
				echo "nsa:b=1,s=130,h=64,hkv=1,d=$d,block_size=64,selected_blocks=2,window=64,dtype=$dtype,causal=$causal"
				echo "nsa:b=1,s=4096,h=16,hkv=1,d=$d,block_size=64,selected_blocks=2,window=64,dtype=$dtype,causal=$causal"
			done
		done
	done
	echo "?nsa:b=1,s=130,h=16,hkv=1,d=64,block_size=32,selected_blocks=2,dtype=f16,causal=1"
	echo "?nsa:b=1,s=130,h=12,hkv=1,d=64,block_size=64,selected_blocks=2,dtype=f16,causal=1"
)
every hopper_nsa "warpgroups-3 warpgroups-2" "${blocks[@]}"

report
