// node_address() reads the address grpc://HOST:PORT, which may stand in place of a folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace farvec::python {

/// Returns what follows "grpc://"; none: the text is a path of this machine.
inline std::optional<std::string> node_address(std::string_view path) {
  constexpr std::string_view kScheme = "grpc://";
  if (!path.starts_with(kScheme)) return std::nullopt;
  return std::string(path.substr(kScheme.size()));
}

}  // namespace farvec::python
