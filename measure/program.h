// Runs another program and takes its output.
#pragma once

#include <string>
#include <vector>

namespace farvec::measure {

struct ProgramResult {
  int status = 0;  ///< its exit status; 128 + the signal that ended it
  std::string output;
};

/// Runs a program found in PATH, without a shell, and waits for its end. The result has its
/// standard output and error. Throws SystemError when it cannot be started, Error after having
/// killed it when it takes longer than `limit_ms`.
ProgramResult run_program(const std::vector<std::string>& command, double limit_ms);

}  // namespace farvec::measure
