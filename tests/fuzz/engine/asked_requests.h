// What the fuzz target and the writer of its seeds agree on: the form of an input, and the index
// that requests ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "layout/attributes/schema.h"
#include "postgres/channel/requests.h"

namespace farvec::fuzz {

/// An input is requests, one after the other. Each begins with one of these.
struct RequestHead {
  std::uint8_t operation;
  std::uint8_t is_named;  ///< odd: its first bytes are replaced by the index's name
  std::uint16_t bytes;    ///< how many follow; fewer where the input ends
};

inline constexpr AskOpen kAskedShape{.index = {.number = 0x1234567890abcdef,
                                               .tablespace = 1663,
                                               .database = 5,
                                               .file = 16'384,
                                               .zero = 0},
                                     .type = 0,
                                     .metric = 0,
                                     .dimension = 3,
                                     .degree = 8,
                                     .build_list = 16,
                                     .begins = kAskBegins,
                                     .columns = {2, 6, 7},
                                     .pool_bytes = 0,
                                     .layout = 0,
                                     .code_bits = 0,
                                     .tier = {}};

/// The columns of that shape.
inline layout::Schema asked_schema() {
  return layout::Schema({{.name = "c1", .type = layout::ColumnType::i64},
                         {.name = "c2", .type = layout::ColumnType::string},
                         {.name = "c3", .type = layout::ColumnType::set}});
}

template <typename T>
void append_value(std::vector<std::byte>& to, const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace farvec::fuzz
