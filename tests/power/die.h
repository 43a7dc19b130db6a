// The end of a life that finds something wrong.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace farvec::power {

/// Ends the process when `work` throws, saying what.
template <typename Work>
void or_die(Work&& work) {
  try {
    work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wrong: %s\n", error.what());
    std::_Exit(1);
  }
}

}  // namespace farvec::power
