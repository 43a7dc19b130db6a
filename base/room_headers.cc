// The source of the target that compiles the headers of all rooms: base/CMakeLists.txt names them.
