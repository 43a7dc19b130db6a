// A Budget is the memory_budget of Python's calls: bytes, a text like "512MiB" or "20%", or None.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace farvec::python {

using Budget = std::optional<std::variant<std::int64_t, std::string>>;

/// Returns the budget in the form of the tool's option; empty: there is none.
inline std::string to_budget(const Budget& budget) {
  if (!budget) return "";
  const auto* const bytes = std::get_if<std::int64_t>(&*budget);
  return bytes != nullptr ? std::to_string(*bytes) : std::get<std::string>(*budget);
}

}  // namespace farvec::python
