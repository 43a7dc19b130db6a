# Headers, static libraries, binaries and farvecConfig.cmake.
#   cmake --install build/release --prefix DIR [--component tool|memory_node|compute_node|library|dev]
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(farvec_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/farvec)
get_property(rooms GLOBAL PROPERTY FARVEC_ROOMS)

# Which component a program and what comes with it belong to.
set(farvec_component_farvec tool)
set(farvec_component_farvec-memory-node memory_node)
set(farvec_component_farvec-compute-node compute_node)

install(TARGETS ${rooms} EXPORT farvecTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(EXPORT farvecTargets NAMESPACE farvec:: DESTINATION ${farvec_cmake_dir} COMPONENT dev)

# Below include/farvec, so that an installed room is included as inside the project.
get_property(folders GLOBAL PROPERTY FARVEC_ROOM_FOLDERS)
foreach(folder ${folders})
  cmake_path(GET folder PARENT_PATH parent)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION include/farvec/${parent} COMPONENT dev
          FILES_MATCHING PATTERN "*.h" PATTERN "client/c" EXCLUDE)
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/rpc/generated/rpc DESTINATION include/farvec COMPONENT dev
        FILES_MATCHING PATTERN "*.pb.h")

# The C interface: its library alone, and what programs are built with.
install(TARGETS farvec_c EXPORT farvecTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev
                PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
        PUBLIC_HEADER DESTINATION include COMPONENT dev)
file(RELATIVE_PATH farvec_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" farvec_pc_prefix ${farvec_pc_prefix})
configure_file(${PROJECT_SOURCE_DIR}/client/c/farvec.pc.in ${PROJECT_BINARY_DIR}/farvec.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/farvec.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

foreach(program farvec farvec-memory-node farvec-compute-node)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
            COMPONENT ${farvec_component_${program}})
  endif()
endforeach()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/farvecConfig.cmake.in ${PROJECT_BINARY_DIR}/farvecConfig.cmake
  INSTALL_DESTINATION ${farvec_cmake_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/farvecConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/farvecConfig.cmake
              ${PROJECT_BINARY_DIR}/farvecConfigVersion.cmake
        DESTINATION ${farvec_cmake_dir} COMPONENT dev)
