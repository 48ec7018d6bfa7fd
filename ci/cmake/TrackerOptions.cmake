# Options, compiler settings, and the one function that makes a layer.
option(TRACKER_TESTS "Build the tests (needs cmocka)" OFF)
option(TRACKER_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(TRACKER_TSAN "Build with ThreadSanitizer" OFF)
option(TRACKER_FUZZ "Build the libFuzzer programs, with sanitizers (needs clang)" OFF)
option(TRACKER_SITE_ASSETS "Fetch Chart.js, its plugins and the font of the site with npm" ON)
option(TRACKER_WERROR "Treat warnings as errors" OFF)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CMAKE_INCLUDE_CURRENT_DIR OFF)

find_program(TRACKER_CCACHE ccache)
if(TRACKER_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${TRACKER_CCACHE}")
endif()

if(TRACKER_TESTS)
  # many programs are linked: with the fastest linker that is there
  include(CheckCCompilerFlag)
  set(CMAKE_REQUIRED_LINK_OPTIONS -fuse-ld=mold)
  check_c_compiler_flag(-fuse-ld=mold TRACKER_HAS_MOLD)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(TRACKER_HAS_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

add_library(tk_flags INTERFACE)
target_compile_definitions(tk_flags INTERFACE _GNU_SOURCE)
target_compile_options(tk_flags INTERFACE -Wall -Wextra -Wshadow -Wstrict-prototypes
  -Wmissing-prototypes
  -Wpointer-arith -Wwrite-strings -Wvla -Wformat=2 -Wno-format-nonliteral -Wno-unused-parameter
  -Wno-missing-field-initializers)
if(TRACKER_WERROR)
  target_compile_options(tk_flags INTERFACE -Werror)
endif()
if(TRACKER_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TRACKER_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang")
  endif()
  set(TRACKER_SANITIZE ON)
  target_compile_options(tk_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TRACKER_SANITIZE)
  target_compile_options(tk_flags INTERFACE -fsanitize=address,undefined
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  # A program that lies where it was linked starts with a fifth fewer page faults; tests start many.
  target_link_options(tk_flags INTERFACE -fsanitize=address,undefined
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()

if(TRACKER_TSAN)
  if(TRACKER_SANITIZE)
    message(FATAL_ERROR
      "TRACKER_TSAN and TRACKER_SANITIZE exclude each other: expected one of them")
  endif()
  target_compile_options(tk_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(tk_flags INTERFACE -fsanitize=thread)
endif()

# tk_layer(name [SOURCES generated.c ...] LINK layer ... PRIVATE third-party ...)
# A static library of every .c file below the current folder. Headers are included with their
# folder: "base/error.h", "store/store.h".
function(tk_layer name)
  cmake_parse_arguments(L "" "" "SOURCES;LINK;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.c")
  add_library(tk_${name} STATIC ${sources} ${L_SOURCES})
  target_link_libraries(tk_${name} PUBLIC tk_flags ${L_LINK} PRIVATE ${L_PRIVATE})
  target_include_directories(tk_${name} PUBLIC "${PROJECT_SOURCE_DIR}/runner"
    "${PROJECT_SOURCE_DIR}")
endfunction()
