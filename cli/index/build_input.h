// Provides what every build begins with: the options that name the vectors, and the vectors.
#pragma once

#include <string>

#include "base/command_line.h"
#include "dataset/vector_set.h"

namespace farvec::cli {

struct BuildInput {
  std::string data;
  std::string metric;
  std::string name;  ///< name of the data set in reports; empty: its folder or file
  bool allow_nonfinite = false;
};

void add_input_options(Command& command, BuildInput& input);

/// Loads the rows of the file and says on stderr how many were dropped. Throws Error.
dataset::VectorSet load_source(const BuildInput& input);

}  // namespace farvec::cli
