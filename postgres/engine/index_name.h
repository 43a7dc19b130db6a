// An IndexName says which index of the server it is, and what its folder is called.
#pragma once

#include "postgres/channel/requests.h"
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace farvec::postgres {

struct IndexName {
  std::uint64_t number = 0;  ///< random, made with the index
  std::uint32_t tablespace = 0;
  std::uint32_t database = 0;
  std::uint32_t file = 0;

  auto operator<=>(const IndexName&) const = default;
};

IndexName name_of(const AskedIndex& asked);
AskedIndex asked_of(const IndexName& name);

/// Returns "1663-5-16384-0123456789abcdef".
std::string to_string(const IndexName& name);
/// Returns none for a text that to_string() does not write.
std::optional<IndexName> parse_index_name(std::string_view text);

}  // namespace farvec::postgres
