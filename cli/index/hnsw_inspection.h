// Prints what `farvec inspect` says of an HNSW graph on pages.
#pragma once

#include <string>

namespace farvec::cli {

struct HnswInspectionOptions {
  bool json = false;
  bool verify = false;
  bool quiet = false;  ///< whether the progress of `verify` is not shown
};

/// Prints what the graph is. Throws Error when the graph does not hold together, after it has said
/// what is wrong.
void inspect_hnsw(const std::string& path, const HnswInspectionOptions& options);

}  // namespace farvec::cli
