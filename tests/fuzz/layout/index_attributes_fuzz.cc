// Any bytes are the schema and the attributes of an index, as a memory node holds them; or an
// Error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "layout/collection/index_attributes.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/layout/index_attributes_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farvec;
  const fuzz::IndexAttributesInput input(std::as_bytes(std::span(data, size)));
  const layout::Manifest manifest = fuzz::attributed_manifest();
  const layout::IndexAttributesBytes bytes = input.bytes();
  fuzz::expect_error_at_most([&] {
    const layout::Schema schema = layout::decode_index_schema(bytes, manifest, "the input");
    const layout::Tuples tuples = layout::decode_index_tuples(bytes, manifest, schema, "the input");
    FARVEC_CHECK(tuples.count() == manifest.count);
    layout::check_tuples(tuples.view(), schema, "the tuples");
    layout::require_index_attributes(bytes, manifest, "the input");
  });
  fuzz::expect_error_at_most(
      [&] { layout::require_index_attributes(bytes, manifest, "the input"); });
  return 0;
}
