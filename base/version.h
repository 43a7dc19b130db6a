// Says which farvec this is, for --version, manifests and measurements.
#pragma once

#include <string_view>

namespace farvec {

/// Returns the version, "0.1.0".
std::string_view version();
/// Returns the abbreviated git commit of the build, with "-dirty" when the tree had changes;
/// "unknown" outside a git checkout.
std::string_view commit();

}  // namespace farvec
