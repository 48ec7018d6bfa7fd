# Run at build time: FROM (package files), WORK (where npm works), TO (the folder of assets). Never
# fails the build.
set(files
  chart.js/dist/chart.umd.min.js chart.js/LICENSE.md
  hammerjs/hammer.min.js hammerjs/LICENSE.md
  chartjs-plugin-zoom/dist/chartjs-plugin-zoom.min.js chartjs-plugin-zoom/LICENSE.md
  chartjs-plugin-annotation/dist/chartjs-plugin-annotation.min.js
  chartjs-plugin-annotation/LICENSE.md
  @kurkle/color/LICENSE.md
  @fontsource-variable/inter/files/inter-latin-wght-normal.woff2
  @fontsource-variable/inter/LICENSE)

function(give_up reason)
  message("site assets: ${reason}")
  message("site assets: the site will have tables and drawings, but no interactive charts, and the font of the system. To try again: cmake ${CMAKE_BINARY_DIR} && ninja")
  file(WRITE "${TO}/.stamp" "failed\n")
endfunction()

function(lay_out)
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    if(name MATCHES "^LICENSE")
      get_filename_component(package "${file}" DIRECTORY)
      string(REPLACE "/" "-" package "${package}")
      string(REPLACE "@" "" package "${package}")
      configure_file("${WORK}/node_modules/${file}" "${TO}/licence-${package}.txt" COPYONLY)
    elseif(name MATCHES "[.]woff2$")
      configure_file("${WORK}/node_modules/${file}" "${TO}/${name}" COPYONLY)
    else()
      file(READ "${WORK}/node_modules/${file}" text)
      string(REGEX REPLACE "\n?//# sourceMappingURL=[^\n]*\n?" "\n" text "${text}")
      file(WRITE "${TO}/${name}" "${text}")
    endif()
  endforeach()
  file(WRITE "${TO}/.stamp" "ok\n")
endfunction()

find_program(NPM npm)
file(MAKE_DIRECTORY "${WORK}" "${TO}")
if(NOT NPM)
  give_up("npm is not installed (Debian, Ubuntu: apt-get install npm)")
  return()
endif()
configure_file("${FROM}/package.json" "${WORK}/package.json" COPYONLY)
configure_file("${FROM}/package-lock.json" "${WORK}/package-lock.json" COPYONLY)
execute_process(COMMAND "${NPM}" ci --ignore-scripts --no-audit --no-fund --prefer-offline
  --fetch-retries=1 --fetch-timeout=30000
  WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output
  TIMEOUT 180)
if(NOT code EQUAL 0)
  string(REGEX MATCH "npm ERR![^\n]*|npm error[^\n]*" first "${output}")
  give_up("npm ci failed (${code}): ${first}")
  return()
endif()
lay_out()
