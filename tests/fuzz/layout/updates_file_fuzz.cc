// Any bytes are the rows of a segment that were updated; or an Error.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "layout/collection/updates_file.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/layout/collection_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farvec;
  if (size == 0) return 0;
  static const fuzz::FuzzFile target(".updates");
  static const layout::Schema schema = fuzz::change_schema();
  const auto file = fuzz::updates_file_of(std::as_bytes(std::span(data, size)));
  const auto& path = target.write(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  fuzz::expect_error_at_most([&] {
    const layout::UpdatedTuples updates = layout::read_updates(path, fuzz::kFuzzSegment, schema);
    FARVEC_CHECK(updates.count() == fuzz::kFuzzSegment.update_count);
    // Writing them makes the same bytes again.
    const std::string again = std::string(path) + ".again";
    layout::write_updates(again, fuzz::kFuzzSegment, updates);
    std::ifstream stream(again, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    FARVEC_CHECK(std::ranges::equal(std::as_bytes(std::span(bytes)), file));
  });
  return 0;
}
