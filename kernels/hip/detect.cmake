# What of ROCm is here? Sets, for kernels/hip/CMakeLists.txt:
#   TK_HIP              ON where there is a compiler that works
#   TK_ROCBLAS TK_HIPBLASLT TK_ROCM_SMI
#                       the libraries; empty where one, or its header, is missing
# Nothing is downloaded and nothing is required: TRACKER_HIP=AUTO says what is missing and goes on,
# ON stops, OFF does not look.
set(TRACKER_HIP AUTO CACHE STRING
  "Build the modules for AMD GPUs: AUTO (where hipcc is found), ON, OFF")
set_property(CACHE TRACKER_HIP PROPERTY STRINGS AUTO ON OFF)
option(TRACKER_HIP_VENDOR "Build backends on rocBLAS and hipBLASLt where they are found" ON)
set(TRACKER_HIP_ARCHITECTURES "gfx90a;gfx942"
  CACHE STRING "As CMAKE_HIP_ARCHITECTURES: MI200 and MI300 unless said otherwise")
set(TRACKER_ROCM_ROOT "" CACHE PATH "Where ROCm is, with include/hip and lib; empty: ROCM_PATH, /opt/rocm, what hipconfig says, /usr")

function(tk_hip_missing what details)
  tk_toolkit_missing(HIP AMD "${what}" "${details}" "install ROCm (hipcc), then ")
endfunction()

# hipcc, and whether it makes code for every architecture that is wanted: distributions' old ones do
# not know gfx942.
macro(tk_find_hipcc)
  set(TK_HIP OFF)
  set(tk_rocm_roots ${TRACKER_ROCM_ROOT} $ENV{ROCM_PATH} $ENV{HIP_PATH} /opt/rocm)
  list(TRANSFORM tk_rocm_roots APPEND /bin OUTPUT_VARIABLE tk_rocm_bins)
  find_program(TRACKER_HIPCC hipcc HINTS ${tk_rocm_bins} DOC "AMD's compiler")
  if(NOT TRACKER_HIPCC)
    tk_hip_missing("no hipcc" "looked in PATH, ROCM_PATH, /opt/rocm")
    return()
  endif()
  list(TRANSFORM TRACKER_HIP_ARCHITECTURES PREPEND --offload-arch= OUTPUT_VARIABLE tk_hip_targets)
  tk_try_hipcc()
  if(NOT TK_HIP)
    list(JOIN TRACKER_HIP_ARCHITECTURES " " tk_words)
    tk_hip_missing("${TRACKER_HIPCC} cannot compile for ${tk_words}"
      "details: ${CMAKE_BINARY_DIR}/hip-try.log")
    return()
  endif()
  set(CMAKE_HIP_ARCHITECTURES "${TRACKER_HIP_ARCHITECTURES}")
  set(CMAKE_HIP_PLATFORM amd)
  enable_language(HIP)
  tk_rocm_library(TK_HIP_RUNTIME amdhip64 hip/hip_runtime_api.h)
  tk_rocm_library(TK_ROCM_SMI rocm_smi64 rocm_smi/rocm_smi.h)
  if(TRACKER_HIP_VENDOR)
    tk_rocm_library(TK_ROCBLAS rocblas rocblas/rocblas.h)
    tk_rocm_library(TK_HIPBLASLT hipblaslt hipblaslt/hipblaslt.h)
  endif()
  execute_process(COMMAND "${TRACKER_HIPCC}" --version OUTPUT_VARIABLE TK_HIP_VERSION ERROR_QUIET)
  string(REGEX MATCH "HIP version: *([0-9.]+)" TK_HIP_VERSION "${TK_HIP_VERSION}")
  set(TK_HIP_VERSION "${CMAKE_MATCH_1}")
endmacro()

# A kernel as small as they come, for all architectures; the answer is kept until one of them or the
# compiler changes.
function(tk_try_hipcc)
  set(wanted "${TRACKER_HIPCC} ${TRACKER_HIP_ARCHITECTURES}")
  if(NOT TK_HIP_TRIED STREQUAL wanted)
    file(WRITE "${CMAKE_BINARY_DIR}/hip-try.hip"
      "#include <hip/hip_runtime.h>\n__global__ void f(float *x) { x[threadIdx.x] = 1; }\n")
    execute_process(COMMAND "${TRACKER_HIPCC}" -x hip ${tk_hip_targets} -c hip-try.hip -o hip-try.o
      WORKING_DIRECTORY "${CMAKE_BINARY_DIR}" RESULT_VARIABLE code OUTPUT_VARIABLE log
      ERROR_VARIABLE log)
    file(WRITE "${CMAKE_BINARY_DIR}/hip-try.log" "${log}")
    set(TK_HIP_TRIED "${wanted}" CACHE INTERNAL "")
    set(TK_HIP_TRIED_CODE "${code}" CACHE INTERNAL "")
  endif()
  if(TK_HIP_TRIED_CODE EQUAL 0)
    set(TK_HIP ON PARENT_SCOPE)
  endif()
endfunction()

# tk_rocm_library(OUT library header): a library with its header, or empty.
function(tk_rocm_library out library header)
  find_path(${out}_INCLUDE ${header} HINTS ${tk_rocm_roots} PATH_SUFFIXES include)
  find_library(${out}_FILE ${library} HINTS ${tk_rocm_roots} PATH_SUFFIXES lib lib64)
  mark_as_advanced(${out}_INCLUDE ${out}_FILE)
  set(${out} "" PARENT_SCOPE)
  if(${out}_INCLUDE AND ${out}_FILE)
    set(${out} "${${out}_FILE}" PARENT_SCOPE)
  endif()
endfunction()
