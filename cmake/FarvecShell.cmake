# Completion for shells and man pages, made from the programs' own --help when they are built.
find_program(FARVEC_SHELL_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(FARVEC_SHELL_PYTHON python3 REQUIRED)
set(shell ${PROJECT_BINARY_DIR}/shell)
set(programs farvec farvec-memory-node farvec-compute-node)
file(GLOB scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scripts/shell/*.py)
add_custom_command(OUTPUT ${shell}/made
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${shell}
  COMMAND ${FARVEC_SHELL_PYTHON} -B ${PROJECT_SOURCE_DIR}/scripts/shell/make.py
          ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${shell}
  COMMAND ${CMAKE_COMMAND} -E touch ${shell}/made
  DEPENDS ${programs} ${scripts} VERBATIM)
add_custom_target(shell_files ALL DEPENDS ${shell}/made)

# What is of one program goes with it; zsh has one file for all of them.
set(data ${CMAKE_INSTALL_DATADIR})
install(DIRECTORY ${shell}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tool
        REGEX "farvec-(memory|compute)-node" EXCLUDE)
install(DIRECTORY ${shell}/zsh/ DESTINATION ${data}/zsh/site-functions COMPONENT tool)
foreach(program ${programs})  # bash loads the file of the name that is typed
  set(component ${farvec_component_${program}})
  install(FILES ${shell}/bash/farvec DESTINATION ${data}/bash-completion/completions
          RENAME ${program} COMPONENT ${component})
  install(FILES ${shell}/fish/${program}.fish DESTINATION ${data}/fish/vendor_completions.d
          COMPONENT ${component})
  if(NOT component STREQUAL tool)
    install(FILES ${shell}/man1/${program}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
            COMPONENT ${component})
  endif()
endforeach()
