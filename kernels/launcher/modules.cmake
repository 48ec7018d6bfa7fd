# The launcher of compiled kernel packages for one vendor: tk_launcher_module(cuda tk_cuda_module),
# called from kernels/cuda, kernels/hip and kernels/cpu.
# Needs jansson and libcrypto, as the tracker itself does; the kernels alone (upstream `self`) are
# built without it.
set(TK_LAUNCHER_DIR "${CMAKE_CURRENT_LIST_DIR}")
set(TK_LAUNCHER_SOURCES launcher.c package.c manifest.c arguments.c)
list(TRANSFORM TK_LAUNCHER_SOURCES PREPEND "${TK_LAUNCHER_DIR}/")

function(tk_launcher_module kind maker)
  set(TK_LAUNCHER_BUILT FALSE PARENT_SCOPE)
  find_package(PkgConfig QUIET)
  if(NOT PKG_CONFIG_FOUND)
    return()
  endif()
  pkg_check_modules(TK_LAUNCHER_LIBRARIES QUIET IMPORTED_TARGET jansson libcrypto)
  if(NOT TK_LAUNCHER_LIBRARIES_FOUND)
    message(STATUS "${kind}: no jansson or libcrypto, so no launcher of compiled kernel packages")
    return()
  endif()
  cmake_language(CALL ${maker} backend launcher_${kind} SOURCES ${TK_LAUNCHER_SOURCES}
    "${TK_LAUNCHER_DIR}/driver_${kind}.c" ${ARGN}
    LINK PkgConfig::TK_LAUNCHER_LIBRARIES ${CMAKE_DL_LIBS})
  target_include_directories(tk_backend_launcher_${kind} PRIVATE "${TK_LAUNCHER_DIR}")
  set(TK_LAUNCHER_BUILT TRUE PARENT_SCOPE)
endfunction()
