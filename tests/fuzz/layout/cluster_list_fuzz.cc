// Any bytes are a cluster's list of addresses in the region, or data_loss.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "layout/cluster/cluster_layout.h"
#include "tests/fuzz/layout/cluster_fuzz.h"

namespace {

using namespace farvec;
using namespace farvec::layout;

constexpr std::uint64_t kCount = 40;

/// One cluster whose list has so many addresses; the index has no other bytes.
ClusterLocator locator_of(std::uint32_t addresses, std::uint32_t address_bytes) {
  ClusterGeometry geometry;
  geometry.kind = ClusterLayoutKind::decoupled;
  geometry.vector_bytes = fuzz::kVectorBytes;
  geometry.clusters = 1;
  geometry.address_bytes = address_bytes;
  geometry.count = kCount;
  geometry.members = kCount;
  HugeBuffer table(sizeof(ClusterEntry));
  const std::uint64_t begin = kRegionHeaderBytes + kCount * geometry.record_bytes();
  const ClusterEntry entry{kRegionHeaderBytes, begin, 0, addresses};
  std::memcpy(table.data(), &entry, sizeof(entry));
  return {geometry, std::move(table), 0, begin + geometry.list_bytes(entry)};
}

void read_list(const ClusterLocator& locator, std::span<const std::byte> bytes) {
  std::vector<Address> addresses(locator.max_members());
  if (!locator.read_list(0, bytes, addresses.data()).ok()) return;
  for (const Address address : addresses) FARVEC_CHECK(address < locator.address_limit());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ClusterLocator locators[] = {locator_of(kCount, 3), locator_of(kCount, 4)};
  // Nothing may be read behind the input.
  const auto input = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> bytes(input.begin(), input.end());
  for (const ClusterLocator& locator : locators) {
    read_list(locator, bytes);
    // With a checksum that holds, what it covers may be anything.
    std::vector<std::byte> list(locator.list(0).bytes);
    const std::size_t packed = list.size() - sizeof(std::uint32_t);
    std::copy_n(input.begin(), std::min(size, packed), list.begin());
    store_unaligned(list.data() + packed, list_checksum({list.data(), packed}, 0));
    read_list(locator, list);
  }
  return 0;
}
