// The source of the target that compiles the headers of hot rooms: base/CMakeLists.txt names them.
