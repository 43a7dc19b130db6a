# Headers, static libraries, binaries and farvecConfig.cmake.
#   cmake --install build/release --prefix DIR
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(farvec_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/farvec)
get_property(rooms GLOBAL PROPERTY FARVEC_ROOMS)

install(TARGETS ${rooms} EXPORT farvecTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT farvecTargets NAMESPACE farvec:: DESTINATION ${farvec_cmake_dir})

# Below include/farvec, so that an installed room is included as inside the project.
foreach(room ${rooms})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION include/farvec
          FILES_MATCHING PATTERN "*.h")
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/rpc/generated/rpc DESTINATION include/farvec
        FILES_MATCHING PATTERN "*.pb.h")

foreach(program farvec farvec-memory-node farvec-compute-node)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/farvecConfig.cmake.in ${PROJECT_BINARY_DIR}/farvecConfig.cmake
  INSTALL_DESTINATION ${farvec_cmake_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/farvecConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/farvecConfig.cmake
              ${PROJECT_BINARY_DIR}/farvecConfigVersion.cmake
        DESTINATION ${farvec_cmake_dir})
