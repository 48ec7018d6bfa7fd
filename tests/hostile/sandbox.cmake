# Hostile builds and workers, once with each method of the sandbox. Included from
# tests/CMakeLists.txt.
foreach(method IN ITEMS bubblewrap landlock limits)
  foreach(name IN ITEMS build_attacks worker_attacks)
    add_test(NAME hostile.${name}.${method} COMMAND bash "${CMAKE_CURRENT_LIST_DIR}/${name}.sh"
      ${method})
    set_tests_properties(hostile.${name}.${method} PROPERTIES LABELS cli TIMEOUT 300
      SKIP_RETURN_CODE 77
      ENVIRONMENT "TRACKER=$<TARGET_FILE:tracker>;TRACKER_BACKENDS=${CMAKE_BINARY_DIR}/backends;TK_LIB=${CMAKE_CURRENT_SOURCE_DIR}/cli/lib.sh;TK_SOURCE_ROOT=${PROJECT_SOURCE_DIR};TK_BUILD_ROOT=${CMAKE_BINARY_DIR};TZ=UTC;LC_ALL=C")
  endforeach()
endforeach()
foreach(method IN ITEMS bubblewrap landlock)
  add_test(NAME hostile.python_modules.${method}
    COMMAND bash "${CMAKE_CURRENT_LIST_DIR}/python_modules.sh" ${method})
  set_tests_properties(hostile.python_modules.${method} PROPERTIES LABELS cli TIMEOUT 300
    SKIP_RETURN_CODE 77
    ENVIRONMENT "TRACKER=$<TARGET_FILE:tracker>;TRACKER_BACKENDS=${CMAKE_BINARY_DIR}/backends;TK_LIB=${CMAKE_CURRENT_SOURCE_DIR}/cli/lib.sh;TK_SOURCE_ROOT=${PROJECT_SOURCE_DIR};TK_BUILD_ROOT=${CMAKE_BINARY_DIR};TZ=UTC;LC_ALL=C")
endforeach()
foreach(name IN ITEMS signal_attacks terminal_attack)
  add_executable(${name} "${CMAKE_CURRENT_LIST_DIR}/${name}.c")
  target_link_libraries(${name} PRIVATE tk_base)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  foreach(method IN ITEMS none bubblewrap landlock limits)
    add_test(NAME hostile.${name}.${method} COMMAND ${name} ${method})
    set_tests_properties(hostile.${name}.${method} PROPERTIES LABELS hostile TIMEOUT 120
      SKIP_RETURN_CODE 77 ENVIRONMENT "TK_BUILD_ROOT=${CMAKE_BINARY_DIR}")
  endforeach()
endforeach()
add_test(NAME hostile.secrets COMMAND bash "${CMAKE_CURRENT_LIST_DIR}/secrets.sh")
set_tests_properties(hostile.secrets PROPERTIES LABELS cli TIMEOUT 300 SKIP_RETURN_CODE 77
  ENVIRONMENT "TRACKER=$<TARGET_FILE:tracker>;TRACKER_BACKENDS=${CMAKE_BINARY_DIR}/backends;TK_LIB=${CMAKE_CURRENT_SOURCE_DIR}/cli/lib.sh;TK_SOURCE_ROOT=${PROJECT_SOURCE_DIR};TZ=UTC;LC_ALL=C")
