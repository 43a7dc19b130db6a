#include "layout/collection/place_file.h"

#include <cstddef>
#include <cstring>

#include "base/check.h"
#include "base/error.h"
#include "layout/collection/struct_file.h"

namespace farvec::layout {
namespace {

constexpr std::uint64_t kPlaceMagic = 0x31'65'63'61'6c'70'66;  // "fplace1"

/// The whole file. The checksum is that of all before it.
struct PlaceBytes {
  std::uint64_t magic;
  std::uint64_t pool_bytes;
  char tier[kMostTierWord + 1];  ///< zeros at its end, one at least
  std::uint32_t zero;
  std::uint32_t checksum;
};
static_assert(sizeof(PlaceBytes) == 128 && offsetof(PlaceBytes, checksum) == 124);

}  // namespace

IndexPlace read_place(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kPlaceFile;
  if (!std::filesystem::exists(path)) return {};
  const auto bytes = read_struct<PlaceBytes>(path, kPlaceMagic, "a place");
  if (bytes.tier[kMostTierWord] != 0 || bytes.tier[0] == 0) {
    throw Error("'{}' is damaged", path.string());
  }
  return {bytes.tier, bytes.pool_bytes};
}

void write_place(const std::filesystem::path& folder, const IndexPlace& place) {
  FARVEC_CHECK(!place.tier.empty() && place.tier.size() <= kMostTierWord, "the tier '{}'",
               place.tier);
  PlaceBytes bytes{};
  bytes.magic = kPlaceMagic;
  bytes.pool_bytes = place.pool_bytes;
  std::memcpy(bytes.tier, place.tier.data(), place.tier.size());
  write_struct(folder / kPlaceFile, bytes);
}

}  // namespace farvec::layout
