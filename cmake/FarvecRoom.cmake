# farvec_room(NAME DEPENDS ...): one library target from all sources below the current folder.
# A room without sources is an interface target. What lies in `exclude` folders is not taken.
function(farvec_room name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  foreach(excluded ${ARG_EXCLUDE})
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${excluded})
  endforeach()
  if(sources)
    add_library(${name} STATIC ${sources})
    set(scope PUBLIC)
    set_target_properties(${name} PROPERTIES OUTPUT_NAME farvec_${name})
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(farvec::${name} ALIAS ${name})
  target_include_directories(${name} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/farvec>)
  target_compile_features(${name} ${scope} cxx_std_20)
  target_link_libraries(${name} ${scope} ${ARG_DEPENDS})
  set_property(GLOBAL APPEND PROPERTY FARVEC_ROOMS ${name})
endfunction()

# farvec_isa_flags(FILE FLAGS...): compile one kernel file for one instruction set.
function(farvec_isa_flags file)
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${ARGN}")
endfunction()

# farvec_unit_tests(ROOM [DEPENDS ...]): one GoogleTest program from tests/unit/ROOM/*_test.cc.
function(farvec_unit_tests room)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${room}_test ${sources})
  target_link_libraries(${room}_test PRIVATE ${room} ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  target_include_directories(${room}_test PRIVATE ${PROJECT_SOURCE_DIR})
  add_dependencies(unit_tests ${room}_test)
  gtest_discover_tests(${room}_test TEST_PREFIX "${room}." DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 300 LABELS unit)
endfunction()
