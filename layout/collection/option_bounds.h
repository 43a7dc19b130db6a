// Says which values the options of a collection may have, for code that is asked to make one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "layout/collection/collection_manifest.h"

namespace farvec::layout {

/// A range of values; both ends are allowed.
template <typename Value>
struct OptionBounds {
  Value least;
  Value most;
};

inline constexpr OptionBounds<std::uint32_t> kMemtableRowsBounds{
    1, CollectionOptions::kMostMemtableRows};
inline constexpr OptionBounds<std::uint32_t> kMergeFanoutBounds{2, 64};
inline constexpr OptionBounds<std::uint32_t> kDegreeBounds{1, 1024};
inline constexpr OptionBounds<std::uint32_t> kListBounds{1, 10000};
inline constexpr OptionBounds<double> kAlphaBounds{1, 4};
/// 0 stands for the vectors themselves.
inline constexpr OptionBounds<std::uint32_t> kCodeBitsBounds{0, 8};
inline constexpr OptionBounds<std::uint64_t> kClusterBytesBounds{
    1, ClusterSegmentOptions::kMostClusterBytes};
inline constexpr OptionBounds<std::uint32_t> kReplicasBounds{1, kMaxReplicas};
/// 0 is allowed too.
inline constexpr OptionBounds<double> kClosureRatioBounds{1, 100};
inline constexpr OptionBounds<double> kBalanceBounds{1, 1e6};

/// Spells the name of an option in the caller's way: for "memtable_rows" it returns that or
/// "--memtable-rows".
using SpellOption = std::function<std::string(std::string_view name)>;
inline std::string as_it_is(std::string_view name) {
  return std::string(name);
}
/// Spells a name in the way of the tool's options.
std::string as_tool_option(std::string_view name);

/// Checks the dimension and options of a collection that is to be made. Throws StatusError
/// (invalid_argument) with the first name, in `spell`'s form, whose value is not allowed, and the
/// values that are.
void check_new_collection(const CollectionManifest& manifest, const SpellOption& spell);

/// Says whether segments that are graphs may have this layout.
bool can_be_segment(LayoutKind layout);

}  // namespace farvec::layout
