# The Debian packages, a component of install() each; scripts/packages/make.sh makes them of a
# release tree. What only they hold is left out of `cmake --install`.
set(FARVEC_PACKAGE_CONTACT "farvec maintainers <farvec@example.org>" CACHE STRING
    "Maintainer of the Debian packages, NAME <ADDRESS>: of whoever publishes them")
set(packages_source ${PROJECT_SOURCE_DIR}/scripts/packages)
set(packages_binary ${PROJECT_BINARY_DIR}/packages)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL tool memory_node compute_node library dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_CONTACT "${FARVEC_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_VENDOR farvec)
# CPack's own default, which it does not put before the descriptions of the packages.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Units and configuration lie outside of the prefix.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/PreparePackages.cmake)

# farvec_package(COMPONENT NAME SECTION DESCRIPTION [COPYRIGHT FILE...]): what every package has; the
# first line of the description is its summary.
function(farvec_package component name section description)
  cmake_parse_arguments(ARG "" "" "COPYRIGHT" ${ARGN})
  set(copyright ${packages_binary}/${name}.copyright)
  file(WRITE ${copyright} "")
  foreach(part ${packages_source}/debian/copyright ${ARG_COPYRIGHT})
    file(READ ${part} text)
    file(APPEND ${copyright} "${text}")
  endforeach()
  install(FILES ${copyright} DESTINATION share/doc/${name} RENAME copyright
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${description}" PARENT_SCOPE)
endfunction()

# farvec_daemon_files(ROLE SUMMARY AFTER): unit, configuration and maintainer scripts of
# farvec-ROLE-node; AFTER names a unit that starts before it.
function(farvec_daemon_files role summary after)
  set(package farvec-${role}-node)
  set(component ${farvec_component_${package}})
  set(config /etc/farvec/${role}-node.conf)
  set(made ${packages_binary}/${package})
  configure_file(${packages_source}/debian/daemon.service.in ${made}/${package}.service @ONLY)
  foreach(script postinst prerm postrm)
    configure_file(${packages_source}/debian/${script}.in ${made}/${script} @ONLY
                   FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                    WORLD_READ WORLD_EXECUTE)
  endforeach()
  file(WRITE ${made}/conffiles "${config}\n")
  install(FILES ${made}/${package}.service DESTINATION /lib/systemd/system
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${packages_source}/${role}-node.conf DESTINATION /etc/farvec
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA
      ${made}/postinst ${made}/prerm ${made}/postrm ${made}/conffiles PARENT_SCOPE)
  # libfabric is opened when it is asked for, which dpkg-shlibdeps does not see; the configuration
  # as it comes asks.
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "adduser, libfabric1" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_RECOMMENDS farvec PARENT_SCOPE)
endfunction()

farvec_package(tool farvec science "vector search over memory of other machines (tool)
Builds indexes of vectors, searches and measures them over local memory, RDMA,
CXL and persistent memory and NVMe, tells which of these suits given data, and
asks the memory nodes and compute nodes that serve an index.

With completion for bash, zsh and fish, and examples of files to launch and to
watch nodes."
  COPYRIGHT ${packages_source}/debian/copyright-chart.js)
install(FILES ${FARVEC_CHART_LICENCE} DESTINATION share/doc/farvec RENAME chart.js.copyright
        COMPONENT tool EXCLUDE_FROM_ALL)
set(launch ${PROJECT_SOURCE_DIR}/scripts/launch)
install(FILES ${launch}/launch.toml ${launch}/monitoring/alerts.yml
              ${launch}/monitoring/dashboard.json
        DESTINATION share/doc/farvec/examples COMPONENT tool EXCLUDE_FROM_ALL)
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS libfabric1)
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "farvec-memory-node, farvec-compute-node")

farvec_package(memory_node farvec-memory-node net
"vector search over memory of other machines (memory node)
The daemon that holds the bytes of an index in its memory and gives them to
compute nodes to read: mapped, over RDMA, or through libfabric. It runs no
search code.

With a user of its own, a systemd unit, and /etc/farvec/memory-node.conf.")
farvec_daemon_files(memory "farvec memory node" "")

farvec_package(compute_node farvec-compute-node net
"vector search over memory of other machines (compute node)
The daemon that answers searches over gRPC: many at once, each of which reads
the records that it needs from the memory of memory nodes, or from an index or
a collection of this machine.

With a user of its own, a systemd unit, and /etc/farvec/compute-node.conf.")
farvec_daemon_files(compute "farvec compute node" " farvec-memory-node.service")

farvec_package(library libfarvec0 libs
"vector search over memory of other machines (C interface)
The shared library of those who ask compute nodes from C, or from a language
that can call C: searches, inserts, deletes and reads, over gRPC.")
# CPack adds scripts that call ldconfig.
file(WRITE ${packages_binary}/libfarvec0/shlibs "libfarvec 0 libfarvec0 (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${packages_binary}/libfarvec0/shlibs)

farvec_package(dev libfarvec-dev libdevel
"vector search over memory of other machines (development files)
Headers, static libraries and the CMake package of farvec: graphs and clusters
of vectors, their layouts, reads of far memory, and the C interface.")
# What farvecConfig.cmake looks for.
string(JOIN ", " CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libfarvec0 (= ${PROJECT_VERSION})"
  libboost-context-dev libdaxctl-dev libeigen3-dev libfabric-dev libfmt-dev libgrpc++-dev
  libhdf5-dev libibverbs-dev libisal-dev libndctl-dev libnuma-dev libpmem2-dev libprotobuf-dev
  librdmacm-dev libroaring-dev libspdlog-dev libssl-dev liburing-dev libxxhash-dev libyaml-cpp-dev
  nlohmann-json3-dev pkgconf prometheus-cpp-dev zlib1g-dev)

# The extension of the server whose pg_config was found, where one was.
get_property(postgres_major GLOBAL PROPERTY farvec_postgres_major)
if(postgres_major)
  list(APPEND CPACK_COMPONENTS_ALL postgres_package)
  farvec_package(postgres_package postgresql-${postgres_major}-farvec database
"vector search over memory of other machines (PostgreSQL ${postgres_major})
The extension farvec: types for vectors with their distances, indexes of them in
an engine of the server's own or on farvec's compute nodes, and searches of such
nodes from SQL.

CREATE EXTENSION farvec puts it into a database. Indexes need it in
shared_preload_libraries too.")
  set(CPACK_DEBIAN_POSTGRES_PACKAGE_PACKAGE_DEPENDS
      "postgresql-${postgres_major}, libfarvec0 (= ${PROJECT_VERSION})")
  list(APPEND packaged_extension postgres_extension farvec-postgres-engine)
endif()
include(CPack)

# What has to be built before the packages are made; tests and benches are in none.
add_custom_target(packaged DEPENDS ${rooms} farvec_c farvec farvec-memory-node farvec-compute-node shell_files
                  ${packaged_extension})
