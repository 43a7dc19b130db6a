# cmake -DBUILD=... -DCONSUMER=... -DEXAMPLE=... -DWORK=... -DCXX=... -DLIBDIR=... -P check_install.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${CONSUMER} -B ${WORK}/build -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
run(${WORK}/build/c_consumer)
# A program of C needs no more than what pkg-config says.
set(ENV{PKG_CONFIG_PATH} ${WORK}/prefix/${LIBDIR}/pkgconfig)
execute_process(COMMAND pkg-config --cflags --libs farvec OUTPUT_VARIABLE flags
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(cc ${CONSUMER}/main.c -o ${WORK}/c_program ${flags})
run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${WORK}/prefix/${LIBDIR} ${WORK}/c_program)
run(${WORK}/prefix/bin/farvec --help)
foreach(file share/man/man1/farvec-sweep.1 share/zsh/site-functions/_farvec
             share/fish/vendor_completions.d/farvec.fish
             share/bash-completion/completions/farvec-memory-node)
  if(NOT EXISTS ${WORK}/prefix/${file})
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()

run(${CMAKE_COMMAND} -G Ninja -S ${EXAMPLE} -B ${WORK}/example -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/example)
set(images /usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz)
run(${WORK}/prefix/bin/farvec dataset sample ${images} ${WORK}/base.u8bin --first 300)
foreach(tier dram emulated:rdma)
  execute_process(COMMAND ${WORK}/example/search ${WORK}/base.u8bin ${WORK}/base.u8bin
                          ${WORK}/example.index ${tier}
                  COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE found)
  if(NOT found MATCHES "nearest to query 0: row 0 at distance 0")
    message(FATAL_ERROR "the example found: ${found}")
  endif()
endforeach()
file(REMOVE_RECURSE ${WORK})
