# farvec_unity(TARGET FILE...): with FARVEC_UNITY the files of each folder are compiled as one, which
# costs half as much. A name in an unnamed namespace must be the only one of its folder for that.
function(farvec_unity target)
  if(NOT FARVEC_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(file ${ARGN})
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    get_filename_component(folder ${file} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} folder)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/${file} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
  # What GCC holds against such a name in a header is no fault in a file that was included.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<COMPILE_LANGUAGE:CXX>>:-Wno-subobject-linkage>)
endfunction()

# farvec_unity_group(TARGET FOLDER...): the files of these folders below the current one are compiled as
# one, where farvec_unity() would have one of each folder: what their headers and templates cost is paid
# once. `.` is the current folder. A name in an unnamed namespace must be the only one of all. Files that
# are compiled alone stay alone.
function(farvec_unity_group target)
  get_target_property(sources ${target} SOURCES)
  list(GET ARGN 0 group)
  string(MAKE_C_IDENTIFIER "${target}_${group}" group)
  foreach(folder ${ARGN})
    cmake_path(ABSOLUTE_PATH folder NORMALIZE)
    string(REGEX REPLACE "/$" "" folder ${folder})
    foreach(file ${sources})
      get_filename_component(parent ${file} DIRECTORY)
      get_source_file_property(grouped ${file} UNITY_GROUP)
      if(parent STREQUAL folder AND grouped)
        set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${group})
      endif()
    endforeach()
  endforeach()
endfunction()

# farvec_precompile(TARGET ARGUMENT...): as target_precompile_headers(), in builds that are made from
# nothing. Most of the time that a small file takes goes into headers. -fpch-preprocess is for ccache.
function(farvec_precompile target)
  if(FARVEC_UNITY AND NOT FARVEC_SANITIZE)
    target_precompile_headers(${target} ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endfunction()

# Rooms that a search runs through. GCC inlines less in a large file: compiled folder by folder they
# searched 4% (DRAM) and 8% (modelled RDMA) slower, so an optimised build has their files alone.
set(FARVEC_HOT_ROOMS base distance quantization layout coroutines disk transport graph cluster
                     slotted search paged)

# farvec_room(NAME DEPENDS ...): one library target from all sources below the current folder. A room of
# two words, as ssd_baseline/paged, has the second for its name.
# A room without sources is an interface target. Files and folders of EXCLUDE are not taken. Of a
# room with `hot` files only these are compiled alone, as the files of hot rooms are.
function(farvec_room name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;EXCLUDE;HOT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  foreach(excluded ${ARG_EXCLUDE})
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${excluded})
    foreach(source ${sources})
      cmake_path(IS_PREFIX path ${source} inside)
      if(inside)
        list(REMOVE_ITEM sources ${source})
      endif()
    endforeach()
  endforeach()
  if(sources)
    add_library(${name} STATIC ${sources})
    set(scope PUBLIC)
    set_target_properties(${name} PROPERTIES OUTPUT_NAME farvec_${name})
    if(FARVEC_SANITIZE OR NOT name IN_LIST FARVEC_HOT_ROOMS)
      set(together ${sources})
      if(NOT FARVEC_SANITIZE)
        list(TRANSFORM ARG_HOT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
        list(REMOVE_ITEM together ${ARG_HOT})
      endif()
      farvec_unity(${name} ${together})
    else()
      farvec_precompile(${name} REUSE_FROM room_headers)
    endif()
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
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}
             OUTPUT_VARIABLE folder)
  set_property(GLOBAL APPEND PROPERTY FARVEC_ROOM_FOLDERS ${folder})
endfunction()

# farvec_isa_flags(FILE FLAGS...): compile one kernel file for one instruction set, for which headers
# that were compiled for another one are of no use.
function(farvec_isa_flags file)
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${ARGN}"
                              SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# farvec_test_flags(TARGET): tests run for seconds and are compiled often: not optimised, but where a
# sanitizer makes them slow. The code under test keeps its own flags. -fpch-preprocess is for ccache.
function(farvec_test_flags target)
  set(flags -O0 -g0)
  if(FARVEC_SANITIZE)
    set(flags -O1)
  endif()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE GTest::gmock)
  target_compile_options(${target} PRIVATE "$<$<CONFIG:RelWithDebInfo>:${flags}>"
                         $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

# farvec_test_program(TARGET): a GoogleTest program, with the headers that tests/CMakeLists.txt
# compiles once for all of them.
function(farvec_test_program target)
  farvec_test_flags(${target})
  target_link_libraries(${target} PRIVATE GTest::gtest_main)
  target_precompile_headers(${target} REUSE_FROM test_headers)
endfunction()

# farvec_slow_tests(TEST...): tests of the current folder that scripts/test.sh leaves to others
# (docs/decisions/035-slow-tests-take-turns.md). CI has one half of them at a time: they are dealt out
# in turn, so each half has about as many of each kind.
function(farvec_slow_tests)
  foreach(test ${ARGN})
    get_property(half GLOBAL PROPERTY farvec_half_of_next)
    if(NOT half)
      set(half 0)
    endif()
    set_property(TEST ${test} APPEND PROPERTY LABELS slow half-${half})
    math(EXPR half "1 - ${half}")
    set_property(GLOBAL PROPERTY farvec_half_of_next ${half})
  endforeach()
endfunction()

# farvec_kill_tests(TEST [LABELS LABEL...] COMMAND WORD... [ENVIRONMENT VARIABLE...] [SHORT WORD...])
# TEST of `scripts/test.sh --long`, and TEST_50, a slow one, which kills 50 times by each of the variables
# that end in KILLS: SHORT is its command where it is another one.
function(farvec_kill_tests test)
  cmake_parse_arguments(ARG "" "" "LABELS;COMMAND;SHORT;ENVIRONMENT" ${ARGN})
  if(NOT ARG_SHORT)
    set(ARG_SHORT ${ARG_COMMAND})
  endif()
  add_test(NAME ${test} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(${test} PROPERTIES LABELS "${ARG_LABELS};long" TIMEOUT 14400
                       ENVIRONMENT "${ARG_ENVIRONMENT}")
  list(TRANSFORM ARG_ENVIRONMENT REPLACE "(KILLS)=.*" "\\1=50")
  add_test(NAME ${test}_50 COMMAND ${ARG_SHORT} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(${test}_50 PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 1200
                       ENVIRONMENT "${ARG_ENVIRONMENT}")
  farvec_slow_tests(${test}_50)
endfunction()

# farvec_unit_tests(FOLDER [DEPENDS ...]): one GoogleTest program from all of tests/unit/FOLDER, which has
# the name of the room in that folder. Each of its tests is a test of its own. Under a sanitizer there are
# FARVEC_SHARDS tests instead, which share the program's tests: there a process of each, with fixtures of
# each, takes most of the time.
set(FARVEC_SHARDS 6)
function(farvec_unit_tests folder)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
  cmake_path(GET folder FILENAME room)
  if(NOT sources)
    return()
  endif()
  add_executable(${room}_test ${sources})
  farvec_unity(${room}_test ${sources})
  target_link_libraries(${room}_test PRIVATE ${room} ${ARG_DEPENDS})
  farvec_test_program(${room}_test)
  add_dependencies(unit_tests ${room}_test)
  if(NOT FARVEC_SANITIZE)
    gtest_discover_tests(${room}_test TEST_PREFIX "${room}." DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT 300 LABELS unit)
    return()
  endif()
  math(EXPR last "${FARVEC_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(test ${room}.shard_${shard}_of_${FARVEC_SHARDS})
    add_test(NAME ${test} COMMAND ${room}_test WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    # The thread sanitizer makes some tests twenty times slower.
    set_tests_properties(${test} PROPERTIES LABELS unit TIMEOUT 1200
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${FARVEC_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()
