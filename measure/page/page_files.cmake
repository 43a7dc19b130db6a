# What pages of reports are made of, as text in the room (docs/decisions/029-pages-hold-chart-js.md):
# ${page_files}, made of the files of this folder.
find_file(FARVEC_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH)
find_file(FARVEC_CHART_LICENCE copyright PATHS /usr/share/doc/libjs-chart.js NO_DEFAULT_PATH)
if(NOT FARVEC_CHART_JS OR NOT FARVEC_CHART_LICENCE)
  message(FATAL_ERROR "Chart.js or its licence is missing: scripts/install-deps.sh --programs, or "
                      "name both by FARVEC_CHART_JS and FARVEC_CHART_LICENCE")
endif()
set(page ${CMAKE_CURRENT_LIST_DIR})
set(page_scripts ${page}/series.js ${page}/charts.js ${page}/table.js ${page}/page.js)
set(page_files ${CMAKE_CURRENT_BINARY_DIR}/page_files.cc)
set(page_script ${CMAKE_CURRENT_BINARY_DIR}/page.js)
add_custom_command(OUTPUT ${page_files}
  COMMAND ${CMAKE_COMMAND} -E cat ${page_scripts} > ${page_script}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${page_files} -DNAMESPACE=farvec::measure::page_files
          "-DFILES=html=${page}/page.html|css=${page}/page.css|js=${page_script}|chart_js=${FARVEC_CHART_JS}|chart_licence=${FARVEC_CHART_LICENCE}"
          -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake
  DEPENDS ${page_scripts} ${page}/page.html ${page}/page.css ${FARVEC_CHART_JS}
          ${FARVEC_CHART_LICENCE} ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake
  VERBATIM)
set_source_files_properties(${page_files} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
