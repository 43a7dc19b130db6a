// Any text is a collection's manifest that survives writing and reading again, or an Error; and the
// name of something in a folder of segments, or none.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "layout/collection/collection_manifest.h"
#include "tests/fuzz/fuzz_file.h"

namespace {

using namespace farvec;
using namespace farvec::layout;

void read_name(std::string_view text) {
  const auto name = parse_segment_name(text);
  if (!name) return;
  FARVEC_CHECK(text == name->text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_name(text);
  fuzz::expect_error_at_most([&] {
    const CollectionManifest manifest = collection_from_json(text, "fuzz");
    FARVEC_CHECK(manifest.dimension >= 1 && manifest.segments.size() <= kMostSegments);
    FARVEC_CHECK(collection_from_json(collection_to_json(manifest), "fuzz") == manifest);
  });
  return 0;
}
