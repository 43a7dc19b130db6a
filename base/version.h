// Which farvec this is: for --version, manifests and measurements.
#pragma once

#include <string_view>

namespace farvec {

/// "0.1.0".
std::string_view version();
/// Abbreviated git commit this was built from, with "-dirty" when the tree had changes; "unknown"
/// outside a git checkout.
std::string_view commit();

}  // namespace farvec
