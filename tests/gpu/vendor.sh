#!/bin/bash
# Every vendor backend on a real GPU: operations, types, transposes, odd sizes, masks, grouped
# heads, both directions; each result verified by the tracker. Prints a table and fails where a
# result is wrong, or unsupported though it should not be.
#
# usage: tests/gpu/vendor.sh [TRACKER [RESULTS.json]]
#        TRACKER: default build/tracker
#        A GPU and python3 are needed.
#
# A problem with `?` before it may be unsupported: it depends on the device or the version of the
# library.
# shellcheck disable=SC1091   # found at run time
. "$(dirname "$0")/check.sh"

mapfile -t all < <(
	for type in a=f32 a=tf32 a=f16 a=bf16 a=f16,c=f32 a=bf16,c=f32; do
		gemm m=257,n=129,k=65 $type
		gemm m=512,n=256,k=384 $type
		gemm m=96,n=33,k=64,batch=5 $type
		echo "gemm:m=1,n=4096,k=4096,$type,tb=t"
		echo "gemm:m=1,n=1,k=1,$type"
	done
	gemm m=130,n=70,k=90 a=f64
	gemm m=256,n=256,k=128 a=f16,acc=f16
	echo "?gemm:m=64,n=64,k=64,a=f32,c=f16"
)
go cublas --hot "${all[@]}" "?gemm:m=64,n=64,k=64,a=e4m3,tb=t"
go cublaslt --hot "${all[@]}"

mapfile -t fp8 < <(
	for types in a=e4m3,c=bf16 a=e4m3,c=f16 a=e4m3,c=f32 a=e4m3,b=e5m2,c=bf16 \
		a=e5m2,b=e4m3,c=bf16 a=e5m2,b=e4m3,c=f32; do
		echo "gemm:m=256,n=512,k=384,$types,tb=t"
		echo "gemm:m=16,n=4096,k=4096,$types,tb=t"
		echo "?gemm:m=128,n=64,k=256,$types,tb=t,batch=3"
		echo "?gemm:m=256,n=512,k=384,$types,ta=t"
	done
	echo "?gemm:m=257,n=129,k=65,a=e4m3,tb=t"
	echo "?gemm:m=64,n=64,k=64,a=e5m2,tb=t"
)
go cublaslt --hot "${fp8[@]}"
go cublaslt "--hot --options=fast_accum=1" "gemm:m=256,n=512,k=4096,a=e4m3,c=bf16,tb=t"
# Off its alignment: kernels of the library, and the comparison of results with verified ones.
mapfile -t unaligned < <(
	for offset in 2 4 8 16 64; do
		gemm m=256,n=512,k=384 a=bf16,offset=$offset
		echo "gemm:m=257,n=129,k=65,a=bf16,offset=$offset"
	done
)
go cublaslt "" "${unaligned[@]}" gemm:m=257,n=129,k=65,a=f32,offset=4
go cublaslt "--hot --options=workspace_mib=0" "gemm:m=128,n=128,k=16384,a=bf16,tb=t"
for i in 0 1 2 3 4 5 6 7; do
	go cublaslt "--config-of-backend=heuristic-$i" "?gemm:m=2048,n=2048,k=2048,a=bf16,tb=t"
done

mapfile -t forward < <(
	for dtype in f16 bf16; do
		for causal in 0 1; do
			for d in 64 128 256; do
				echo "attention:b=2,h=4,sq=512,d=$d,dtype=$dtype,causal=$causal"
			done
			echo "attention:b=2,h=8,hkv=2,sq=384,d=64,dtype=$dtype,causal=$causal"
			echo "attention:b=1,h=8,hkv=1,sq=200,skv=333,d=128,dtype=$dtype,causal=$causal"
			echo "attention:b=3,h=3,sq=129,skv=257,d=64,dtype=$dtype,causal=$causal"
			echo "?attention:b=4,h=16,hkv=4,sq=1,skv=1024,d=128,dtype=$dtype,causal=$causal"
			echo "?attention:b=1,h=2,sq=100,d=40,dtype=$dtype,causal=$causal"
			echo "?attention:b=1,h=4,sq=256,d=192,dv=128,dtype=$dtype,causal=$causal"
			echo "attention:b=1,h=2,sq=256,d=64,scale=0.3,dtype=$dtype,causal=$causal"
		done
	done
)
go cudnn --hot "${forward[@]}" "?attention:b=1,h=2,sq=64,d=64,dtype=f32" \
	"?attention:b=1,h=2,sq=64,d=60"
mapfile -t backward < <(printf '%s\n' "${forward[@]}" | sed -e 's/$/,dir=bwd/' -e '/d=256/s/^?*/?/')
go cudnn --hot "${backward[@]}"
go cublas_native --hot "${forward[@]/#\?/}" \
	"attention:b=2,h=4,hkv=2,sq=129,skv=257,d=48,dtype=f32,causal=1" \
	"attention:b=1,h=2,sq=512,d=64,dtype=f32" \
	"?attention:b=1,h=2,sq=64,d=64,dir=bwd"
go ceiling_cuda "" copy:bytes=1,dtype=e4m3 copy:bytes=1000003,dtype=e4m3 copy:bytes=268435456 \
	read:bytes=4 read:bytes=1000004 read:bytes=268435456 \
	fma:count=1 fma:count=1000000000,dtype=f32 fma:count=100000000000,dtype=f16 \
	fma:count=100000000000,dtype=bf16 "?fma:count=1000,dtype=f64"
go ceiling_cuda --hot read:bytes=8192,cache=l1,passes=2 read:bytes=8650752,cache=l1,passes=250 \
	read:bytes=40960,cache=l2,passes=3 read:bytes=12582912,cache=l2,passes=171 \
	read:bytes=24576,passes=5 "?read:bytes=1000004,passes=2"
go control_cuda "" gemm:m=512,n=512,k=512 gemm:m=100,n=70,k=33 "?gemm:m=64,n=64,k=64,a=f16"

# A few large ones, cold, for a look at the rates.
mapfile -t large < <(
	for type in a=bf16 a=f16 a=tf32 a=f32; do
		echo "gemm:m=4096,n=4096,k=4096,$type,tb=t"
	done
)
go cublas "" "${large[@]}"
go cublaslt "" "${large[@]}" "gemm:m=4096,n=4096,k=4096,a=e4m3,c=bf16,tb=t"
mapfile -t long < <(
	for d in 64 128; do
		for causal in 0 1; do
			echo "attention:b=8,h=$((2048 / d)),sq=2048,d=$d,dtype=bf16,causal=$causal"
			echo "attention:b=8,h=$((2048 / d)),sq=2048,d=$d,dtype=bf16,causal=$causal,dir=bwd"
		done
	done
)
go cudnn "" "${long[@]}" "attention:b=4,h=8,sq=2048,d=256,dtype=f16,causal=1"
go cublas_native "" "attention:b=4,h=8,sq=2048,d=256,dtype=f32,causal=1" \
	"attention:b=4,h=8,sq=2048,d=256,dtype=f16,causal=1"

report
