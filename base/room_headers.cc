// This file is the source of the target that compiles the headers of hot rooms, which
// base/CMakeLists.txt names.
