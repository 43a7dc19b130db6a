// What main() of a program that counts and does not time has to do.
#pragma once

#include <exception>
#include <iostream>

#include "base/command_line.h"

namespace farvec {

/// Parses, runs, and answers with the exit code; errors go to stderr.
template <typename Run>
int run_bench(CommandLine& app, int argc, char** argv, Run&& run) {
  if (const auto status = app.parse(argc, argv)) return *status;
  try {
    run();
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace farvec
