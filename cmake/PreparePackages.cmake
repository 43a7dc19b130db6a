# Run by CPack when the files of the packages lie in their places: what Debian wants of them.
#   the changelog, with the commit that is packaged; compressed man pages; libraries without the
#   lines of the sources
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

execute_process(COMMAND git -C ${CMAKE_CURRENT_LIST_DIR} log -1 --format=%h|%aD
                OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT said)
  execute_process(COMMAND date -R OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(said "unknown|${date}")
endif()
string(REPLACE "|" ";" said "${said}")
list(POP_FRONT said commit date)

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} key)
  set(name ${CPACK_DEBIAN_${key}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr)
  set(changelog ${root}/share/doc/${name}/changelog)
  file(WRITE ${changelog} "farvec (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
       "  * Commit ${commit}.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  file(GLOB pages ${root}/share/man/man1/*.1)
  run(gzip -9nf ${changelog} ${pages})
  file(GLOB_RECURSE libraries ${root}/*.a)
  foreach(library ${libraries})
    run(strip --strip-debug --enable-deterministic-archives ${library})
  endforeach()
endforeach()
