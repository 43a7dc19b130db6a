// The source of the target that compiles the headers of all tests: tests/CMakeLists.txt names them.
