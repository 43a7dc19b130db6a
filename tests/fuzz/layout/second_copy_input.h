// What layout_second_copy_fuzz and the writer of its seeds agree on.
#pragma once

#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "layout/index/second_copy.h"

namespace farvec::fuzz {

/// A byte, and what is before the rows of a second copy.
class SecondCopyInput {
 public:
  /// In the first byte: the checksums are made right first, or the index has bytes and not bits.
  static constexpr std::uint8_t kSeal = 1;
  static constexpr std::uint8_t kBytes = 2;

  static layout::Manifest reduced_manifest(bool bytes) {
    layout::Manifest manifest;
    manifest.metric = bytes ? Metric::l2 : Metric::hamming;
    manifest.stored_type = manifest.source_type = bytes ? ElementType::i8 : ElementType::b1;
    manifest.dimension = 9;
    manifest.count = 5;
    manifest.dataset.xxh3 = 77;
    manifest.second_copy.emplace();
    return manifest;
  }

  explicit SecondCopyInput(std::span<const std::byte> input) {
    const auto flags = input.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(input[0]);
    manifest_ = reduced_manifest((flags & kBytes) != 0);
    begin_.resize(layout::second_copy_geometry(manifest_).offset_of(0));
    const auto bytes = input.subspan(std::min<std::size_t>(input.size(), 1));
    std::ranges::copy(bytes.first(std::min(bytes.size(), begin_.size())), begin_.begin());
    auto header = load_unaligned<layout::SecondCopyHeader>(begin_.data());
    if ((flags & kSeal) != 0) {
      const std::size_t parameters =
          layout::reduction_parameters(header.reduction, manifest_.dimension);
      header.parameters_checksum =
          XXH3_64bits(begin_.data() + layout::kSecondCopyBlock, parameters * sizeof(float));
      header.header_checksum =
          XXH3_64bits(&header, offsetof(layout::SecondCopyHeader, header_checksum));
      store_unaligned(begin_.data(), header);
    }
    manifest_.second_copy->type = header.type;
    manifest_.second_copy->header_checksum = header.header_checksum;
    if (static_cast<std::size_t>(header.type) >= kElementTypes.size()) {
      manifest_.second_copy->type = ElementType::f32;  // a manifest has no such type
    }
  }

  const layout::Manifest& manifest() const { return manifest_; }
  std::span<const std::byte> begin() const { return begin_; }

 private:
  layout::Manifest manifest_;
  std::vector<std::byte> begin_;
};

}  // namespace farvec::fuzz
