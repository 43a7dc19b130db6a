// Any text is a manifest that survives writing and reading again, or an Error; never a crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "layout/index/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto manifest = farvec::layout::manifest_from_json(text, "fuzz");
    const std::string written = farvec::layout::manifest_to_json(manifest);
    const auto again = farvec::layout::manifest_from_json(written, "fuzz");
    FARVEC_CHECK(farvec::layout::manifest_to_json(again) == written);
    if (manifest.is_graph()) manifest.graph_geometry().validate();
  } catch (const farvec::Error&) {
    return 0;
  }
  return 0;
}
