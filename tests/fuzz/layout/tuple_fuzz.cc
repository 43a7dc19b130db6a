// Any bytes are the attributes of a row, whose values make the same bytes; or an Error.
#include "tests/fuzz/layout/tuple_fuzz.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "layout/attributes/tuple.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farvec;
  static const layout::Schema schema = fuzz::tuple_schema();
  const auto bytes = std::as_bytes(std::span(data, size));
  fuzz::expect_error_at_most([&] {
    layout::check_tuple(bytes, schema, "fuzz");
    const layout::Tuple tuple(bytes);
    std::vector<layout::Value> values;
    std::vector<layout::Column> columns;
    for (std::size_t i = 0; i < load_unaligned<std::uint16_t>(bytes.data()); ++i) {
      values.push_back(tuple.value(schema, i));
      columns.push_back(schema[i]);
    }
    std::vector<std::byte> again;
    append_tuple(layout::Schema(columns), values, again);
    FARVEC_CHECK(std::ranges::equal(again, bytes));
  });
  return 0;
}
