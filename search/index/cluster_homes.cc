#include "search/index/cluster_homes.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/posting_block.h"

namespace farvec::search {
namespace {

constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

/// Calls visit(address) for the addresses of some rows, ascending.
template <typename Visit>
void for_each_ascending(std::span<const NodeId> rows, const std::vector<std::uint32_t>& address_of,
                        std::uint64_t limit, const Visit& visit) {
  std::vector<std::uint64_t> words(limit / 64 + 1);
  for (const NodeId row : rows)
    words[address_of[row] / 64] |= std::uint64_t{1} << address_of[row] % 64;
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::uint64_t bits = words[w]; bits != 0; bits &= bits - 1) {
      visit(static_cast<std::uint32_t>(64 * w + static_cast<unsigned>(std::countr_zero(bits))));
    }
  }
}

}  // namespace

ClusterHomes::ClusterHomes(const layout::ClusterLocator& locator, std::span<const std::byte> region)
    : at_(locator.geometry().count, kNowhere) {
  if (region.size() < locator.region_bytes()) {
    throw Error("the records have {} bytes, the table tells of {}", region.size(),
                locator.region_bytes());
  }
  const Records records{locator, region};
  const bool lists = locator.geometry().kind == layout::ClusterLayoutKind::decoupled;
  for (ClusterId c = 0; c < locator.geometry().clusters; ++c) {
    lists ? take_list(records, c) : take_group(records, c);
  }
  const auto missing = std::find(at_.begin(), at_.end(), kNowhere);
  if (missing == at_.end()) return;
  throw Error("row {} is in no cluster: the index is damaged; rebuild it", missing - at_.begin());
}

void ClusterHomes::put(NodeId row, std::uint32_t at, ClusterId cluster) {
  if (row >= at_.size()) {
    throw Error("cluster {} has a row that does not exist: the index is damaged; rebuild it",
                cluster);
  }
  if (at_[row] == kNowhere) at_[row] = at;
}

void ClusterHomes::take_group(const Records& records, ClusterId cluster) {
  const layout::ClusterLocator& locator = records.locator;
  const layout::ByteRange group = locator.group(cluster);
  const std::uint32_t count = locator.entry(cluster).group_records;
  if (count == 0) return;
  const bool addresses = locator.geometry().groups();
  const std::uint32_t first = addresses ? locator.first_of_group(cluster) : cluster;
  // What elements a vector has makes no difference here.
  const PostingBlock block{locator.rows(records.region.subspan(group.offset, group.bytes),
                                        locator.geometry().vector_bytes, ElementType::u8),
                           {}};
  for (std::uint32_t i = 0; i < count; ++i) {
    put(block.id(i), addresses ? first + i : first, cluster);
  }
}

void ClusterHomes::take_list(const Records& records, ClusterId cluster) {
  const layout::ByteRange list = records.locator.list(cluster);
  std::vector<layout::Address> members(records.locator.entry(cluster).list_addresses);
  const Status status = records.locator.read_list(
      cluster, records.region.subspan(list.offset, list.bytes), members.data());
  if (!status.ok()) throw Error("cluster {}: {}: rebuild the index", cluster, status.message());
  for (const layout::Address row : members) put(row, cluster, cluster);
}

cluster::ClusterMatches ClusterHomes::matches(const layout::ClusterLocator& locator,
                                              std::span<const NodeId> rows) const {
  const layout::ClusterGeometry& geometry = locator.geometry();
  cluster::ClusterMatches matches =
      geometry.groups() ? by_address(locator, rows) : by_home(geometry, rows);
  for (ClusterId c = 0; c < geometry.clusters; ++c)
    matches.holding += matches.count_of(c) > 0 ? 1 : 0;
  return matches;
}

cluster::ClusterMatches ClusterHomes::by_address(const layout::ClusterLocator& locator,
                                                 std::span<const NodeId> rows) const {
  cluster::ClusterMatches matches;
  const std::uint32_t clusters = locator.geometry().clusters;
  matches.places.reserve(rows.size());
  for_each_ascending(rows, at_, locator.address_limit(),
                     [&](std::uint32_t address) { matches.places.push_back(address); });
  matches.ends.reserve(clusters);
  auto end = matches.places.begin();
  for (ClusterId c = 0; c < clusters; ++c) {
    const std::uint32_t records = locator.entry(c).group_records;
    if (records > 0) {
      const std::uint64_t beyond = std::uint64_t{locator.first_of_group(c)} + records;
      while (end != matches.places.end() && *end < beyond) ++end;
    }
    matches.ends.push_back(static_cast<std::uint32_t>(end - matches.places.begin()));
  }
  return matches;
}

cluster::ClusterMatches ClusterHomes::by_home(const layout::ClusterGeometry& geometry,
                                              std::span<const NodeId> rows) const {
  cluster::ClusterMatches matches;
  std::vector<std::uint32_t> next(std::size_t{geometry.clusters} + 1);
  for (const NodeId row : rows) ++next[at_[row] + 1];
  for (ClusterId c = 0; c < geometry.clusters; ++c) next[c + 1] += next[c];
  matches.ends.assign(next.begin() + 1, next.end());
  if (!geometry.decouples()) return matches;
  matches.places.resize(rows.size());
  for (const NodeId row : rows) matches.places[next[at_[row]]++] = row;
  return matches;
}

}  // namespace farvec::search
