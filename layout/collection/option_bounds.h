// What the options of a collection may be, for those who are asked to make one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "layout/collection/collection_manifest.h"

namespace farvec::layout {

/// Both ends are allowed.
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
/// 0 for the vectors themselves.
inline constexpr OptionBounds<std::uint32_t> kCodeBitsBounds{0, 8};
inline constexpr OptionBounds<std::uint64_t> kClusterBytesBounds{
    1, ClusterSegmentOptions::kMostClusterBytes};
inline constexpr OptionBounds<std::uint32_t> kReplicasBounds{1, kMaxReplicas};
/// Or 0.
inline constexpr OptionBounds<double> kClosureRatioBounds{1, 100};
inline constexpr OptionBounds<double> kBalanceBounds{1, 1e6};

/// How callers write the name of an option: given "memtable_rows", answers that or
/// "--memtable-rows".
using SpellOption = std::function<std::string(std::string_view name)>;
inline std::string as_it_is(std::string_view name) {
  return std::string(name);
}
/// As the tool's options are written.
std::string as_tool_option(std::string_view name);

/// Of a collection that is to be made: its dimension and options. Throws StatusError
/// (invalid_argument) naming the first that cannot be, as `spell` has it, and what it may be.
void check_new_collection(const CollectionManifest& manifest, const SpellOption& spell);

/// Whether segments that are graphs may have it.
bool can_be_segment(LayoutKind layout);

}  // namespace farvec::layout
