// Any bytes are what a memory node says of a lease: with a fault, or such that it can be used.
#include <google/protobuf/stubs/logging.h>

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "layout/index/manifest.h"
#include "tests/fuzz/fuzz_file.h"
#include "tiers/attach/attach_answer.h"
#include "transport/grant.h"

namespace {
/// Most inputs are none, and Protobuf would say so of each.
[[maybe_unused]] const auto kSilenced = google::protobuf::SetLogHandler(nullptr);
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farvec;
  memory_node::v1::AttachResponse response;
  if (!response.ParseFromArray(data, static_cast<int>(size))) return 0;
  if (!tiers::fault_of(response).empty()) return 0;
  FARVEC_CHECK(response.lease_id().size() == sizeof(transport::GrantLease));
  FARVEC_CHECK(response.lease_ms() > 0);
  FARVEC_CHECK(response.regions_size() > 0);
  for (const auto& region : response.regions()) {
    FARVEC_CHECK(region.offset() + region.bytes() >= region.offset());
  }
  FARVEC_CHECK(!response.has_verbs() || static_cast<std::uint16_t>(response.verbs().port()) > 0);
  fuzz::expect_error_at_most(
      [&] { (void)layout::manifest_from_json(response.manifest_json(), "fuzz"); });
  return 0;
}
