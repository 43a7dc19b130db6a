#include "layout/cluster/cluster_decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace farvec::layout {
namespace {

[[noreturn]] void fail(ClusterId cluster, const char* what) {
  throw Error("cluster {}: {}: the index is damaged; rebuild it", cluster, what);
}

class Decoder {
 public:
  Decoder(const ClusterLocator& locator, std::span<const std::byte> region)
      : locator_(locator), geometry_(locator.geometry()), region_(region) {}

  DecodedClusters decode() {
    result_.vectors = HugeBuffer(geometry_.count * geometry_.vector_bytes);
    result_.homes.assign(geometry_.count, kNone);
    begins_of_lists();
    if (geometry_.kind == ClusterLayoutKind::decoupled) take_all_vectors();
    for (ClusterId c = 0; c < geometry_.clusters; ++c) take_cluster(c);
    put_homes_first();
    return std::move(result_);
  }

 private:
  static constexpr ClusterId kNone = ~ClusterId{0};

  const std::byte* record(Address address) const {
    return region_.data() + locator_.offset_of(address);
  }

  NodeId id_of(const std::byte* record, ClusterId cluster) const {
    const auto id = load_unaligned<NodeId>(record + geometry_.vector_bytes);
    if (id >= geometry_.count) fail(cluster, "it has a vector that does not exist");
    return id;
  }

  void put_vector(NodeId id, const std::byte* record) {
    std::memcpy(result_.vectors.data() + std::size_t{id} * geometry_.vector_bytes, record,
                geometry_.vector_bytes);
  }

  void take_all_vectors() {
    for (std::uint64_t i = 0; i < geometry_.count; ++i) {
      const std::byte* const from = record(static_cast<Address>(i));
      put_vector(id_of(from, 0), from);
    }
  }

  /// Calls visit(id, record, in the group) for every member of a cluster.
  template <typename Visit>
  void for_each_member(ClusterId cluster, const Visit& visit) {
    const ByteRange group = locator_.group(cluster);
    for (std::uint32_t i = 0; i < locator_.entry(cluster).group_records; ++i) {
      const std::byte* const from =
          region_.data() + group.offset + std::uint64_t{i} * geometry_.record_bytes();
      visit(id_of(from, cluster), from, true);
    }
    const ByteRange list = locator_.list(cluster);
    addresses_.resize(locator_.entry(cluster).list_addresses);
    const Status status =
        locator_.read_list(cluster, region_.subspan(list.offset, list.bytes), addresses_.data());
    if (!status.ok()) fail(cluster, status.message());
    for (const Address address : addresses_) {
      visit(id_of(record(address), cluster), record(address), false);
    }
  }

  void begins_of_lists() {
    std::vector<std::uint64_t>& begins = result_.begins;
    begins.assign(geometry_.count + 1, 0);
    for (ClusterId c = 0; c < geometry_.clusters; ++c) {
      for_each_member(c, [&](NodeId id, const std::byte*, bool) { ++begins[id + 1]; });
    }
    for (std::uint64_t v = 0; v < geometry_.count; ++v) begins[v + 1] += begins[v];
    result_.clusters.resize(begins.back());
    next_.assign(begins.begin(), begins.end() - 1);
  }

  void take_cluster(ClusterId cluster) {
    for_each_member(cluster, [&](NodeId id, const std::byte* from, bool in_group) {
      result_.clusters[next_[id]++] = cluster;
      if (in_group) put_vector(id, from);
      const bool first = result_.homes[id] == kNone;
      if (in_group ? first || geometry_.decouples()
                   : first && geometry_.kind == ClusterLayoutKind::decoupled) {
        result_.homes[id] = cluster;
      }
    });
  }

  void put_homes_first() {
    for (std::uint64_t v = 0; v < geometry_.count; ++v) {
      if (result_.homes[v] == kNone) {
        throw Error("vector {} is in no group: the index is damaged; rebuild it", v);
      }
      const auto begin = result_.clusters.begin() + static_cast<long>(result_.begins[v]);
      const auto end = result_.clusters.begin() + static_cast<long>(result_.begins[v + 1]);
      const auto home = std::find(begin, end, result_.homes[v]);
      std::rotate(begin, home, home + 1);
    }
  }

  const ClusterLocator& locator_;
  const ClusterGeometry& geometry_;
  const std::span<const std::byte> region_;
  DecodedClusters result_;
  std::vector<std::uint64_t> next_;
  std::vector<Address> addresses_;
};

}  // namespace

DecodedClusters decode_clusters(const ClusterLocator& locator, std::span<const std::byte> region) {
  if (region.size() != locator.region_bytes()) {
    throw Error("the records have {} bytes, the table tells of {}", region.size(),
                locator.region_bytes());
  }
  return Decoder(locator, region).decode();
}

}  // namespace farvec::layout
