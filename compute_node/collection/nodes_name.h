// What --collection names: a folder, or a collection on memory nodes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace farvec::compute_node {

/// Of "nodes:NAME" the name, which may be empty: see collection::nodes_collection(). None: a
/// folder.
inline std::optional<std::string> nodes_name(std::string_view collection) {
  constexpr std::string_view kOnNodes = "nodes:";
  if (!collection.starts_with(kOnNodes)) return std::nullopt;
  return std::string(collection.substr(kOnNodes.size()));
}

}  // namespace farvec::compute_node
