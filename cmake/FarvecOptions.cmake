# Compiler settings that every target shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

set(FARVEC_SANITIZE "" CACHE STRING "Sanitizer to build with: address, thread, or empty")
string(COMPARE NOTEQUAL "${FARVEC_SANITIZE}" "" sanitized)
option(FARVEC_TESTS "Build tests and benches (need GoogleTest and Google Benchmark)" ON)
option(FARVEC_BENCHES "Build the benches with everything else" ON)
option(FARVEC_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
option(FARVEC_UNITY "Compile the files of a folder together: for builds that are made from nothing"
       ${sanitized})
option(FARVEC_PYTHON "Build the Python package's extension module (needs nanobind)" OFF)
option(FARVEC_CCACHE "Use ccache when it is installed" ON)
option(FARVEC_LLD "Link with lld when it is installed" ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# Sanitized code is built for tests alone: -O1 halves the time to compile it, and -Og takes another
# third off what the address and undefined-behaviour sanitizers add.
set(optimisation -O3)
if(FARVEC_SANITIZE STREQUAL "address")
  set(optimisation -Og)
elseif(FARVEC_SANITIZE)
  set(optimisation -O1)
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "${optimisation} -g1")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "${optimisation} -g1")

# -ffp-contract=off: a float result must not depend on whether the compiler fused a multiply-add,
# because counts per query are compared exactly between builds.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Werror -ffp-contract=off)
# Position-independent code is for the shared objects of Python alone; nobody puts another function
# in a function's place, so that GCC may inline across the functions of a file, as Clang does.
add_compile_options(-fno-semantic-interposition)
# Sanitizers unwind by frame pointers. Elsewhere it is one register more and two instructions fewer a
# call; profilers and debuggers have unwinding tables.
if(FARVEC_SANITIZE)
  add_compile_options(-fno-omit-frame-pointer)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

if(FARVEC_SANITIZE STREQUAL "address")
  # GCC 12 sees an overflow in fmt's headers that is not there, only when it instruments them.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
  add_link_options(-fsanitize=address,undefined)
elseif(FARVEC_SANITIZE STREQUAL "thread")
  # GCC says that TSan does not see atomic_thread_fence; the project uses none on shared data.
  add_compile_options(-fsanitize=thread -Wno-tsan)
  add_link_options(-fsanitize=thread)
elseif(NOT FARVEC_SANITIZE STREQUAL "")
  message(FATAL_ERROR "FARVEC_SANITIZE must be address, thread or empty, not '${FARVEC_SANITIZE}'")
endif()

if(FARVEC_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(FARVEC_LLD)
  # A program takes it a sixth of the time that it takes GNU ld.
  find_program(FARVEC_LD_LLD ld.lld)
  if(FARVEC_LD_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

if(FARVEC_CCACHE)
  find_program(CCACHE_PROGRAM ccache)
  if(CCACHE_PROGRAM)
    # Without this ccache keeps nothing that is compiled with precompiled headers.
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
    set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  endif()
endif()
