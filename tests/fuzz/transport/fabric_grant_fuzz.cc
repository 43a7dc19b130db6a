// Any bytes are a grant that survives writing and reading again, or an Error.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "tests/fuzz/fuzz_file.h"
#include "transport/fabric/grant.h"
#include "transport/grant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farvec;
  // Nothing may be read behind the input.
  const auto input = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> bytes(input.begin(), input.end());
  fuzz::expect_error_at_most([&] {
    const transport::FabricGrant grant = transport::decode_grant(bytes, "fuzz");
    FARVEC_CHECK(!grant.regions.empty() && grant.regions.size() <= transport::kMaxGrantedRegions);
    for (const auto& region : grant.regions) {
      FARVEC_CHECK(region.bytes > 0 &&
                   region.address <= std::numeric_limits<std::uint64_t>::max() - region.bytes);
    }
    const std::string written = transport::encode_grant(grant);
    FARVEC_CHECK(written.size() == size);
    const auto again = transport::decode_grant(std::as_bytes(std::span(written)), "fuzz");
    FARVEC_CHECK(transport::encode_grant(again) == written);
  });
  return 0;
}
