// Any bytes are the ids of a segment's rows, each once; or an Error.
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "base/check.h"
#include "layout/collection/segment_ids.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/layout/collection_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farvec;
  if (size == 0) return 0;
  static const fuzz::FuzzFile target(".ids");
  const auto file = fuzz::segment_file_of(std::as_bytes(std::span(data, size)));
  const auto& path = target.write(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  fuzz::expect_error_at_most([&] {
    const auto ids = layout::read_segment_ids(path, fuzz::kFuzzSegment);
    FARVEC_CHECK(ids.size() == fuzz::kFuzzSegment.rows && ids == fuzz::words_of(file));
    FARVEC_CHECK(std::set(ids.begin(), ids.end()).size() == ids.size());
  });
  return 0;
}
