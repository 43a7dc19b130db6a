// Any bytes are a collection's catalogue, which has the same bytes again; or an Error. The first
// byte is no part of them: whether the checksums are made right.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "layout/collection/catalogue.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/layout/collection_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farvec;
  if (size == 0) return 0;
  const auto bytes = fuzz::catalogue_of(std::as_bytes(std::span(data, size)));
  fuzz::expect_error_at_most([&] {
    const layout::Catalogue catalogue = layout::decode_catalogue(bytes, "input");
    const layout::Catalogue again =
        layout::decode_catalogue(layout::encode_catalogue(catalogue), "itself");
    FARVEC_CHECK(again.manifest == catalogue.manifest);
    FARVEC_CHECK(again.segments.size() == catalogue.segments.size());
    for (std::size_t i = 0; i < again.segments.size(); ++i) {
      FARVEC_CHECK(again.segments[i].out.count() == catalogue.manifest.segments[i].out_count);
      FARVEC_CHECK(again.segments[i].out.rows_beyond(catalogue.segments[i].out).empty());
      FARVEC_CHECK(again.segments[i].attributes == catalogue.segments[i].attributes);
      const layout::UpdatedTuples& updates = catalogue.segments[i].updates;
      FARVEC_CHECK(again.segments[i].updates.rows() == updates.rows());
      for (const NodeId row : updates.rows()) {
        FARVEC_CHECK(std::ranges::equal(again.segments[i].updates.find(row), updates.find(row)));
      }
    }
  });
  return 0;
}
