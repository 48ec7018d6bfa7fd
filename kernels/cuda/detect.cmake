# What of CUDA is here? Sets, for kernels/cuda/CMakeLists.txt:
#   TK_CUDA             ON where there is a compiler that works
#   TK_CUBLAS_INCLUDE   TK_CUBLAS_LIBRARY TK_CUBLASLT_LIBRARY     empty where one of them is missing
#   TK_CUDNN_INCLUDE    TK_CUDNN_LIBRARY TK_CUDNN_FRONTEND_INCLUDE
# Nothing is downloaded and nothing is required: TRACKER_CUDA=AUTO says what is missing and goes on,
# ON stops, OFF does not look.
set(TRACKER_CUDA AUTO CACHE STRING
  "Build the modules for NVIDIA GPUs: AUTO (where nvcc is found), ON, OFF")
set_property(CACHE TRACKER_CUDA PROPERTY STRINGS AUTO ON OFF)
option(TRACKER_CUDA_VENDOR "Build backends on cuBLAS and cuDNN where they are found" ON)
set(TRACKER_CUDA_ARCHITECTURES "" CACHE STRING "As CMAKE_CUDA_ARCHITECTURES; empty: 80, 90a, 100 and PTX of the newest, as far as nvcc knows them")
option(TRACKER_CUDA_CHECK_ONLY
  "On a machine without an NVIDIA GPU, compile kernels without optimising them or their traces" OFF)
set(TRACKER_CUBLAS_ROOT "" CACHE PATH "Folder with include/cublasLt.h and the libraries of cuBLAS")
set(TRACKER_CUDNN_ROOT "" CACHE PATH "Folder with include/cudnn.h and the libraries of cuDNN")
set(TRACKER_CUDNN_FRONTEND_ROOT "" CACHE PATH "Folder with include/cudnn_frontend.h (header only)")

function(tk_cuda_missing what details)
  tk_toolkit_missing(CUDA NVIDIA "${what}" "${details}"
    "install NVIDIA's CUDA toolkit (nvcc), then ")
endfunction()

# nvcc, and the architectures that this one knows. A compiler that cannot compile (too new a gcc,
# say) counts as none.
macro(tk_find_nvcc)
  set(TK_CUDA OFF)
  file(GLOB tk_toolkits LIST_DIRECTORIES true /usr/local/cuda-*)
  list(SORT tk_toolkits COMPARE NATURAL ORDER DESCENDING)
  list(TRANSFORM tk_toolkits APPEND /bin)
  find_program(TRACKER_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda/bin
    ${tk_toolkits} PATH_SUFFIXES bin
    DOC "NVIDIA's compiler")
  if(NOT TRACKER_NVCC)
    tk_cuda_missing("no nvcc" "looked in PATH, CUDA_PATH, /usr/local/cuda*")
    return()
  endif()
  set(ENV{CUDACXX} "${TRACKER_NVCC}")
  include(CheckLanguage)
  check_language(CUDA)
  check_language(CXX)
  if(NOT CMAKE_CUDA_COMPILER OR NOT CMAKE_CXX_COMPILER)
    tk_cuda_missing("${TRACKER_NVCC} or the C++ compiler does not work"
      "details: ${CMAKE_BINARY_DIR}/CMakeFiles/CMakeError.log")
    return()
  endif()
  if(TRACKER_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "${TRACKER_CUDA_ARCHITECTURES}")
  else()
    tk_default_architectures()
  endif()
  enable_language(CXX)
  enable_language(CUDA)
  if(TRACKER_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${TRACKER_CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${TRACKER_CCACHE}")
  endif()
  find_package(CUDAToolkit QUIET)
  if(NOT TARGET CUDA::cudart_static)
    tk_cuda_missing("${TRACKER_NVCC} comes without the static runtime" "libcudart_static.a")
    return()
  endif()
  tk_fast_compile()
  set(TK_CUDA ON)
endmacro()

# Half a minute instead of four: kernels that nothing here can run are compiled and assembled as
# fast as nvcc can (it then names losses of performance), and not once more with their traces.
macro(tk_fast_compile)
  if(TRACKER_CUDA_CHECK_ONLY AND NOT EXISTS /dev/nvidiactl)
    set(TRACKER_TRACE OFF)
    execute_process(COMMAND "${TRACKER_NVCC}" --help OUTPUT_VARIABLE tk_nvcc_help ERROR_QUIET)
    if(tk_nvcc_help MATCHES "--Ofast-compile")
      string(APPEND CMAKE_CUDA_FLAGS " --Ofast-compile=max")
    endif()
  endif()
endmacro()

# Machine code for A100, H100/H200 and B200, and PTX from which a driver makes code for whatever is
# newer.
macro(tk_default_architectures)
  execute_process(COMMAND "${TRACKER_NVCC}" --list-gpu-code OUTPUT_VARIABLE tk_code_cache
    ERROR_QUIET)
  set(CMAKE_CUDA_ARCHITECTURES)
  set(tk_newest 80)
  foreach(tk_arch IN ITEMS 80 90 100)
    if(tk_code_cache MATCHES "sm_${tk_arch}[^0-9]")
      set(tk_newest ${tk_arch})
      if(tk_arch EQUAL 90)
        list(APPEND CMAKE_CUDA_ARCHITECTURES 90a-real)
      else()
        list(APPEND CMAKE_CUDA_ARCHITECTURES ${tk_arch}-real)
      endif()
    endif()
  endforeach()
  list(APPEND CMAKE_CUDA_ARCHITECTURES ${tk_newest}-virtual)
endmacro()

# Where the packages of the python3 in use are: pip installs NVIDIA's libraries there, headers
# included.
function(tk_python_folders out)
  find_program(TRACKER_PYTHON3 python3 DOC "The Python whose nvidia-* packages may be used")
  set(folders)
  if(TRACKER_PYTHON3)
    execute_process(COMMAND "${TRACKER_PYTHON3}" -c "import site, sysconfig
print(';'.join(dict.fromkeys([sysconfig.get_path('platlib'), sysconfig.get_path('purelib'),
  site.getusersitepackages()])))"
      OUTPUT_VARIABLE folders ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE TIMEOUT 20)
  endif()
  set(${out} "${folders}" PARENT_SCOPE)
endfunction()

# tk_find_library(PREFIX header "lib;lib" root...): the first root that has the header and all
# libraries, so that they fit each other. Sets <PREFIX>_INCLUDE and <PREFIX>_LIBRARIES in the
# caller; both empty where there is none.
function(tk_find_library prefix header libraries)
  set(${prefix}_INCLUDE "" PARENT_SCOPE)
  set(${prefix}_LIBRARIES "" PARENT_SCOPE)
  foreach(root IN LISTS ARGN)
    if(NOT root OR NOT IS_DIRECTORY "${root}")
      continue()
    endif()
    file(GLOB header_at LIST_DIRECTORIES false "${root}/include/${header}"
      "${root}/include/*-linux-gnu/${header}"
      "${root}/targets/*/include/${header}")
    if(NOT header_at)
      continue()
    endif()
    set(found)
    foreach(library IN LISTS libraries)
      file(GLOB candidates LIST_DIRECTORIES false "${root}/lib64/lib${library}.so*"
        "${root}/lib/lib${library}.so*"
        "${root}/lib/*-linux-gnu/lib${library}.so*" "${root}/targets/*/lib/lib${library}.so*")
      list(SORT candidates COMPARE NATURAL)
      if(candidates)
        list(GET candidates 0 candidate)
        list(APPEND found "${candidate}")
      endif()
    endforeach()
    list(LENGTH found have)
    list(LENGTH libraries need)
    if(have EQUAL need)
      list(GET header_at 0 header_at)
      get_filename_component(header_at "${header_at}" DIRECTORY)
      set(${prefix}_INCLUDE "${header_at}" PARENT_SCOPE)
      set(${prefix}_LIBRARIES "${found}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

macro(tk_find_vendor_libraries)
  tk_python_folders(tk_python)
  set(tk_toolkit_roots "${CUDAToolkit_TARGET_DIR}" "${CUDAToolkit_LIBRARY_ROOT}" "$ENV{CUDA_PATH}"
    /usr/local/cuda)
  set(tk_cublas_roots ${TRACKER_CUBLAS_ROOT})
  set(tk_cudnn_roots ${TRACKER_CUDNN_ROOT})
  set(tk_frontend_roots ${TRACKER_CUDNN_FRONTEND_ROOT})
  list(APPEND tk_cublas_roots ${tk_toolkit_roots} /usr)
  list(APPEND tk_cudnn_roots ${tk_toolkit_roots} /usr)
  list(APPEND tk_frontend_roots ${TRACKER_CUDNN_ROOT} ${tk_toolkit_roots} /usr/local /usr)
  foreach(tk_folder IN LISTS tk_python)
    list(APPEND tk_cublas_roots "${tk_folder}/nvidia/cu${CUDAToolkit_VERSION_MAJOR}"
      "${tk_folder}/nvidia/cublas")
    list(APPEND tk_cudnn_roots "${tk_folder}/nvidia/cudnn")
    list(APPEND tk_frontend_roots "${tk_folder}")
  endforeach()
  tk_find_library(TK_CUBLAS cublasLt.h "cublas;cublasLt" ${tk_cublas_roots})
  tk_find_library(TK_CUDNN cudnn_graph.h "cudnn" ${tk_cudnn_roots})
  tk_find_library(TK_CUDNN_FRONTEND cudnn_frontend.h "" ${tk_frontend_roots})
endmacro()
