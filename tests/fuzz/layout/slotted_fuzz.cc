// Any bytes are a slotted page with its records, or a record; or data_loss.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "layout/pages/slotted_page.h"
#include "layout/pages/slotted_record.h"

namespace {

using namespace farvec;
using namespace farvec::layout;

const SlottedGeometry kGeometry{.payload = PayloadKind::code,
                                .extension_bits = 4,
                                .payload_bytes = 20,
                                .page_bytes = 4096,
                                .max_degree = 40,
                                .pages = 3,
                                .count = 1000};

void read_record(std::span<const std::byte> bytes) {
  std::vector<NodeId> scratch(kGeometry.scratch_ids());
  const auto record = decode_slotted_record(kGeometry, bytes, scratch);
  if (!record.ok()) return;
  FARVEC_CHECK(record.value().degree <= kGeometry.max_degree);
  volatile const std::byte last = record.value().vector[kGeometry.payload_bytes - 1];
  (void)last;
}

/// A page that begins with the input and whose checksum holds.
void read_page(std::span<const std::byte> input) {
  std::vector<std::byte> bytes(kGeometry.page_bytes);
  // The input's first bytes are header and slots, its last ones the heap.
  const std::size_t front = std::min<std::size_t>(input.size() / 2, kGeometry.page_bytes / 2);
  const std::size_t back = std::min<std::size_t>(input.size() - front, kGeometry.page_bytes / 2);
  std::memcpy(bytes.data(), input.data(), front);
  std::memcpy(bytes.data() + bytes.size() - back, input.data() + input.size() - back, back);
  store_unaligned(bytes.data(), page_checksum(bytes, 1));
  const auto page = SlottedPage::parse(kGeometry, 1, bytes);
  if (!page.ok()) return;
  for (std::uint32_t i = 0; i < page.value().count(); ++i) {
    const PageSlot slot = page.value().slot(i);
    const auto found = page.value().find(slot.id);
    FARVEC_CHECK(found.ok() && found.value().offset == slot.offset);
    read_record(page.value().record(slot));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  read_record(input);
  if (input.empty()) return 0;
  read_page(input);
  (void)SlottedPage::parse(kGeometry, 1, input);
  return 0;
}
