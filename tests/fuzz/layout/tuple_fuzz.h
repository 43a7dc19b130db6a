// The schema whose tuples layout_tuple_fuzz reads, and its seeds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "layout/attributes/tuple.h"
#include "tests/fuzz/seed_files.h"

namespace farvec::fuzz {

inline layout::Schema tuple_schema() {
  return layout::parse_schema(
      "u: u64 not null, i: i64, f: f64, b: bool, t: timestamp, s: string, l: set, p: bytes, n: "
      "i64");
}

inline void write_tuples(const std::filesystem::path& folder) {
  const std::vector<layout::Value> values = {std::uint64_t{7},
                                             std::int64_t{-5},
                                             0.5,
                                             true,
                                             std::int64_t{-1},
                                             std::string("caf\xc3\xa9"),
                                             std::vector<std::string>{"a", "bc", "d"},
                                             std::string("\0\xff", 2),
                                             layout::Value{}};
  const layout::Schema schema = tuple_schema();
  for (const std::size_t columns : {schema.size(), std::size_t{3}}) {
    std::vector<std::byte> tuple;
    const std::vector<layout::Column> first(schema.columns().begin(),
                                            schema.columns().begin() + columns);
    append_tuple(layout::Schema(first), std::span(values).first(columns), tuple);
    write_seed(seed_path(folder, "layout_tuple_fuzz", std::to_string(columns)), tuple);
  }
}

}  // namespace farvec::fuzz
