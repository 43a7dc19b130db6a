# Headers, static libraries, binaries and farvecConfig.cmake.
