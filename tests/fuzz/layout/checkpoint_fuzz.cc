// Any bytes are the checkpoint file of a store; or an Error.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/memory.h"
#include "layout/store/checkpoint.h"
#include "layout/store/store_page.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/layout/store_fuzz.h"

namespace {

using namespace farvec;
using namespace farvec::layout;

void seal(std::span<std::byte> bytes) {
  if (bytes.size() < sizeof(StoreCheckpoint)) return;
  auto checkpoint = load_unaligned<StoreCheckpoint>(bytes.data());
  seal_checkpoint(checkpoint);
  store_unaligned(bytes.data(), checkpoint);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(data, size)).subspan(1);
  std::vector<std::byte> bytes(input.begin(), input.end());
  if ((data[0] & fuzz::kSealCheckpoint) != 0) seal(bytes);
  fuzz::expect_error_at_most([&] {
    const StoreCheckpoint checkpoint = decode_checkpoint(bytes, "checkpoint");
    FARVEC_CHECK(bytes.size() == sizeof(checkpoint) && checkpoint.version == kStoreVersion &&
                 is_store_page_bytes(checkpoint.page_bytes));
  });
  return 0;
}
