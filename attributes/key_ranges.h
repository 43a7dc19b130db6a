// KeyRanges are a set of keys, the form in which numbers of all types are compared.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace farvec::attributes {

/// All keys from `first` to `last`, both included.
struct KeyRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  auto operator<=>(const KeyRange&) const = default;
};

/// KeyRanges are a value. Equal sets have equal ranges: these ascend, and between two of them is a
/// key that the set does not have.
class KeyRanges {
 public:
  /// Makes the empty set.
  KeyRanges() = default;
  /// Takes ranges in any order, which may overlap.
  explicit KeyRanges(std::vector<KeyRange> ranges);

  const std::vector<KeyRange>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  bool contains(std::uint64_t key) const;
  /// Returns the number of keys, or `most` where there are more.
  std::uint64_t count_up_to(std::uint64_t most) const;

  KeyRanges united(const KeyRanges& other) const;
  KeyRanges common(const KeyRanges& other) const;
  /// Returns the keys of `domain` that are not in this set.
  KeyRanges complement(KeyRange domain) const;

  auto operator<=>(const KeyRanges&) const = default;

 private:
  std::vector<KeyRange> ranges_;
};

}  // namespace farvec::attributes
