// tell_refusals() tells the user why a node keeps a command waiting.
#pragma once

#include <functional>
#include <string>

namespace farvec::cli {

/// Returns what an attempt's `refused` calls: it prints the node's reason to stderr, and the same
/// reason again only when it has heard another one in between. The command goes on.
std::function<void(const std::string& why)> tell_refusals();

}  // namespace farvec::cli
