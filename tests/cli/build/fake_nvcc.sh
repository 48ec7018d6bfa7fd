# A compiler that stands in for nvcc:  . fake_nvcc.sh
# Names each compiled file in bin/compiled. It is c++ on the library's fake.cpp, which replaces
# kernel.cu, kernel_sm80.cu or backward.cu, without the options of nvcc alone.
mkdir bin
cat >bin/nvcc <<'NVCC'
#!/bin/bash
args=()
while (($#)); do
	case $1 in
	--version) exec echo "fake nvcc 13.0.1" ;;
	-gencode | -cudart) shift ;;
	-arch=* | --expt-* | --use_fast_math) ;;
	-Xcompiler) args+=(-fPIC); shift ;;
	-Xlinker) args+=("-Wl,$2"); shift ;;
	-E) preprocess=1; args+=(-E) ;;
	kernel.cu | kernel_sm80.cu | backward.cu) kernel=1 f=(*/fake.cpp) args+=("${f[-1]}") ;;
	*) args+=("$1") ;;
	esac
	shift
done
if [ -n "$kernel" ] && [ -z "$preprocess" ]; then echo kernel >>"${0%/*}/compiled"; fi
exec c++ "${args[@]}"
NVCC
chmod +x bin/nvcc
export PATH=$PWD/bin:$PATH CCACHE_DISABLE=1
