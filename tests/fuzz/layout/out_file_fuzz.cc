// Any bytes are the rows of a segment that are out; or an Error.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "layout/collection/out_file.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/layout/collection_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farvec;
  if (size == 0) return 0;
  static const fuzz::FuzzFile target(".out");
  const auto file = fuzz::segment_file_of(std::as_bytes(std::span(data, size)));
  const auto& path = target.write(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  fuzz::expect_error_at_most([&] {
    const RowSet out = layout::read_out_file(path, fuzz::kFuzzSegment);
    FARVEC_CHECK(out.count() == fuzz::kFuzzSegment.out_count);
    FARVEC_CHECK(out.to_words(fuzz::kFuzzSegment.rows) == fuzz::words_of(file));
  });
  return 0;
}
