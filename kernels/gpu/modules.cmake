# The modules of this folder, for one vendor: tk_gpu_modules(cuda tk_cuda_module) in kernels/cuda,
# and the same in kernels/hip. `maker` is the function that makes a module there, called as
# tk_module() is; the names end in the vendor's, so that both can lie in one folder.
# Sets TK_GPU_MODULES to the backends' names.
set(TK_GPU_SOURCE_DIR "${CMAKE_CURRENT_LIST_DIR}")

# What both vendors' device layers are made of; device/device.h says what each adds.
set(TK_GPU_DEVICE_SOURCES device.c device_memory_load.c device_compare.cu
  device_kernels.cu)
list(TRANSFORM TK_GPU_DEVICE_SOURCES PREPEND "${TK_GPU_SOURCE_DIR}/device/")

# GEMM, and attention in two products, by a vendor's BLAS (blas.h): the backends `name` and
# `name`_native. tk_gpu_blas_modules(cublas cuda tk_cuda_module LINK ...)
function(tk_gpu_blas_modules name kind maker)
  cmake_language(CALL ${maker} backend ${name} SOURCES "${TK_GPU_SOURCE_DIR}/blas_backend.c"
    ${ARGN})
  cmake_language(CALL ${maker} backend ${name}_native SOURCES
    "${TK_GPU_SOURCE_DIR}/native_attention.c" "${TK_GPU_SOURCE_DIR}/softmax.cu" ${ARGN})
  tk_gpu_settings(${name} ${kind})
  tk_gpu_settings(${name}_native ${kind})
endfunction()

function(tk_gpu_modules kind maker)
  set(built)
  tk_gpu_module(control_${kind} ${kind} ${maker} control.c control_kernel.cu)
  tk_gpu_module(ceiling_${kind} ${kind} ${maker} ceiling.c ceiling_memory.cu ceiling_rate.cu)
  foreach(step IN ITEMS 1_naive 2_shared 3_register 4_pipelined 5_matrix)
    string(REGEX REPLACE "^[0-9]_" "" name "${step}")
    tk_gpu_module(gemm_${name}_${kind} ${kind} ${maker} gemm_backend.c gemm_${step}.cu)
  endforeach()
  tk_gpu_module(flash_${kind} ${kind} ${maker} attention_backend.c flash_module.cu flash_forward.cu
    flash_backward.cu)
  foreach(name IN ITEMS shared register pipelined matrix)
    tk_traced_module(gemm_${name}_${kind})
  endforeach()
  tk_traced_module(flash_${kind})
  tk_gpu_module(nsa_${kind} ${kind} ${maker} attention_backend.c nsa_forward.cu)
  tk_traced_module(nsa_${kind})
  set(TK_GPU_MODULES ${built} PARENT_SCOPE)
endfunction()

macro(tk_gpu_module name kind maker)
  set(sources ${ARGN})
  list(TRANSFORM sources PREPEND "${TK_GPU_SOURCE_DIR}/")
  cmake_language(CALL ${maker} backend ${name} SOURCES ${sources})
  tk_gpu_settings(${name} ${kind})
  list(APPEND built ${name})
endmacro()

function(tk_gpu_settings name kind)
  target_include_directories(tk_backend_${name} PRIVATE "${TK_GPU_SOURCE_DIR}")
  target_compile_definitions(tk_backend_${name} PRIVATE TK_GPU_KIND="${kind}")
endfunction()
