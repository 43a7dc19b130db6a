// Makes memory whose cache lines are visited in a random order that is known beforehand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/memory.h"

namespace farvec::measure {

/// Gives a permutation of count() lines that looks random: neighbours in it are far apart, with no
/// stride that a prefetcher could learn. It is the same on every machine.
class LineOrder {
 public:
  /// Orders as many lines as `bytes` hold, rounded down to a power of two. Throws Error for less
  /// than kLeastBytes.
  explicit LineOrder(std::size_t bytes);

  std::size_t count() const { return mask_ + 1; }
  /// Returns the line at that place; after the last comes the first again.
  std::size_t at(std::uint64_t place) const {
    // Each step can be undone modulo a power of two, so no two places have the same line.
    std::uint64_t x = place & mask_;
    x = (x * 0x9e3779b97f4a7c15u) & mask_;
    x ^= x >> shift_;
    x = (x * 0xbf58476d1ce4e5b9u) & mask_;
    x ^= x >> shift_;
    return (x * 0x94d049bb133111ebu) & mask_;
  }

  static constexpr std::size_t kLeastBytes = 64 * 64 * kCacheLineBytes;

 private:
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
};

enum class Pages : std::uint8_t { small, huge };

/// Returns "4k" or "huge".
std::string_view to_string(Pages pages);
/// Throws an Error that names the accepted words.
Pages parse_pages(std::string_view text);

struct Unmap {
  std::size_t bytes = 0;
  void operator()(std::byte* start) const;
};

/// Holds lines that form one ring. Each holds the address of the next in a LineOrder's order, so a
/// line cannot be asked for before the line before it has come. The memory is resident from
/// construction on.
class WorkingSet {
 public:
  /// Throws Error where LineOrder does, SystemError when there is no memory.
  WorkingSet(std::size_t bytes, Pages pages);
  WorkingSet(const WorkingSet&) = delete;
  WorkingSet& operator=(const WorkingSet&) = delete;

  const LineOrder& order() const { return order_; }
  std::size_t bytes() const { return order_.count() * kCacheLineBytes; }
  const std::byte* data() const { return data_; }
  const std::byte* line(std::uint64_t place) const {
    return data_ + order_.at(place) * kCacheLineBytes;
  }
  /// Returns the share of its memory that is in huge pages, which the kernel reports: it may refuse
  /// them.
  double huge_share() const { return huge_share_; }

  /// Returns the line whose address `line` holds.
  static const std::byte* next(const std::byte* line) {
    return load_unaligned<const std::byte*>(line);
  }

 private:
  void map(Pages pages);

  const LineOrder order_;
  HugeBuffer huge_;
  std::unique_ptr<std::byte, Unmap> small_;
  std::byte* data_ = nullptr;  ///< start of the lines, in huge_ or small_
  double huge_share_ = 0;
};

}  // namespace farvec::measure
