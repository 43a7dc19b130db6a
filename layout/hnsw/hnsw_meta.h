// Page 0 of an HNSW graph says what the graph is, and where everything begins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "base/types.h"
#include "layout/hnsw/hnsw_shape.h"
#include "layout/hnsw/partition_page.h"

namespace farvec::layout {

inline constexpr std::uint64_t kHnswMagic = 0x57534e4856524146;  // "FARVHNSW"
/// Version 1, which is read too, has a map of partitions that counts nothing.
inline constexpr std::uint32_t kHnswVersion = 2;
inline constexpr std::uint32_t kHnswOldestVersion = 1;
/// HnswParameters::most_insert_pages when every page of vertices may be an insert page.
inline constexpr std::uint32_t kMillionPages = 1'000'000;

/// HnswParameters are the parameters that never change.
struct HnswParameters {
  std::uint64_t magic = kHnswMagic;
  std::uint32_t version = kHnswVersion;
  std::uint32_t page_bytes = 8192;
  std::uint32_t dimension = 0;
  std::uint32_t m = 24;
  std::uint32_t ef_construction = 200;
  std::uint8_t type = 0;    ///< ElementType of the stored vectors
  std::uint8_t metric = 0;  ///< the graph's Metric
  std::uint8_t max_level = kHnswMaxLevel;
  std::uint8_t zero = 0;
  std::uint64_t seed = 1;  ///< seed of the levels
  /// The most partitions that get an insert page because of their inserts, for a million pages of
  /// vertices; at most kMillionPages. 0: the share of partitions with one stays as it is.
  std::uint32_t most_insert_pages = 0;
  std::uint32_t zero2 = 0;
};
static_assert(sizeof(HnswParameters) == 48);

/// An HnswState is the state that changes.
struct HnswState {
  std::uint32_t loaded = 0;    ///< 0 until the first load was complete
  std::uint32_t vertices = 0;  ///< vertices that are not marked
  std::uint32_t marked = 0;
  PageNumber entry_page = kNoPage;  ///< where searches begin; kNoPage in an empty graph
  std::uint16_t entry_slot = 0xffff;
  std::uint16_t entry_level = 0;
  /// Where new vertices go when no other page is chosen for them.
  PageNumber insert_page = kNoPage;
  PageNumber free_pages = kNoPage;  ///< first page of the list of pages with free space
  PageNumber id_map = kNoPage;      ///< root of the id map
  std::uint32_t id_map_height = 0;  ///< height of the root above the leaves
  PageNumber partitions = kNoPage;  ///< first page of the partition map of colocation, or kNoPage
  /// Indexed by HnswPageKind; unused pages are not counted.
  std::array<std::uint32_t, kHnswPageKinds> pages{};
  std::uint32_t insert_pages = 0;  ///< partitions that have an insert page; version 1: 0

  HnswPlace entry() const { return {entry_page, entry_slot}; }
  void set_entry(HnswPlace place, std::uint32_t level) {
    entry_page = place.page;
    entry_slot = place.slot;
    entry_level = static_cast<std::uint16_t>(level);
  }
  std::uint32_t& pages_of(HnswPageKind kind) { return pages[static_cast<std::size_t>(kind)]; }
};
static_assert(sizeof(HnswState) == 64);

/// An HnswMeta is the tuple at slot 0 of page 0.
struct HnswMeta {
  HnswParameters parameters;
  HnswState state;

  ElementType type() const { return static_cast<ElementType>(parameters.type); }
  Metric metric() const { return static_cast<Metric>(parameters.metric); }
  HnswShape shape() const {
    return {parameters.page_bytes, parameters.dimension, type(), parameters.m,
            parameters.max_level};
  }
  PartitionMapShape partition_map() const {
    PartitionMapShape map{parameters.page_bytes};
    if (parameters.version == 1) map.entry_bytes = sizeof(PageNumber);
    return map;
  }
};
static_assert(sizeof(HnswMeta) == 112 && offsetof(HnswMeta, state) == 48);

/// Reads the metadata on page 0. data_loss when there is none or it contradicts itself;
/// failed_precondition when it has another version or was never finished. The messages say what is
/// wrong.
Result<HnswMeta> read_hnsw_meta(std::span<const std::byte> page);

}  // namespace farvec::layout
