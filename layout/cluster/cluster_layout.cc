#include "layout/cluster/cluster_layout.h"

#include <xxhash.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/error.h"

namespace farvec::layout {
namespace {

constexpr std::uint32_t kMaxClusters = 1u << 31;
constexpr std::uint32_t kMaxCodeBits = 8;
/// The last number names no address (search/sources/posting_plan.h).
constexpr std::uint64_t kMaxAddresses = std::numeric_limits<Address>::max();

}  // namespace

std::string_view to_string(ClusterLayoutKind kind) {
  switch (kind) {
    case ClusterLayoutKind::coupled:
      return "coupled";
    case ClusterLayoutKind::decoupled:
      return "decoupled";
    case ClusterLayoutKind::grouped:
      return "grouped";
    case ClusterLayoutKind::grouped_inline:
      return "grouped-inline";
    case ClusterLayoutKind::coded:
      return "coded";
  }
  return "unknown";
}

ClusterLayoutKind parse_cluster_layout(std::string_view text) {
  for (const ClusterLayoutKind kind : kClusterLayouts) {
    if (text == to_string(kind)) return kind;
  }
  throw Error(
      "'{}' is no layout of clusters: use coupled, decoupled, grouped, grouped-inline or coded",
      text);
}

void ClusterGeometry::validate() const {
  if (vector_bytes == 0 || vector_bytes > kMaxVectorBytes) {
    throw Error("vectors of {} bytes are not possible", vector_bytes);
  }
  if (count == 0 || count >= kInvalidNode) throw Error("{} vectors are not possible", count);
  if (clusters == 0 || clusters >= kMaxClusters || clusters > count) {
    throw Error("{} clusters of {} vectors are not possible", clusters, count);
  }
  if (members < count || members > count * kMaxReplicas) {
    throw Error("{} vectors cannot make {} members", count, members);
  }
  if (address_bytes < 3 || address_bytes > 4) {
    throw Error("addresses have 3 or 4 bytes, not {}", address_bytes);
  }
  if (block_bytes < 512 || block_bytes > kRegionHeaderBytes ||
      (block_bytes & (block_bytes - 1)) != 0) {
    throw Error("blocks of {} bytes are not possible", block_bytes);
  }
  const bool coded = code_bits >= 1 && code_bits <= kMaxCodeBits && code_block_bytes > 0 &&
                     code_block_bytes <= kCodeBlock * (kMaxVectorBytes + 8);
  if (has_codes() ? !coded : code_bits != 0 || code_block_bytes != 0) {
    throw Error("codes of {} bits, {} bytes for {} members, are not possible in layout {}",
                code_bits, code_block_bytes, kCodeBlock, to_string(kind));
  }
}

std::uint32_t list_checksum(std::span<const std::byte> addresses, ClusterId cluster) {
  return static_cast<std::uint32_t>(
      XXH3_64bits_withSeed(addresses.data(), addresses.size(), cluster));
}

std::uint32_t vector_checksum(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

ClusterLocator::ClusterLocator(ClusterGeometry geometry, HugeBuffer table, std::size_t offset,
                               std::uint64_t region_bytes)
    : geometry_(geometry),
      record_bytes_(geometry.record_bytes()),
      region_bytes_(region_bytes),
      table_(std::move(table)),
      entries_(reinterpret_cast<const ClusterEntry*>(table_.data() + offset)) {
  geometry_.validate();
  FARVEC_CHECK(offset % alignof(ClusterEntry) == 0, "{}", offset);
  if (table_.size() < offset ||
      table_.size() - offset < std::size_t{geometry_.clusters} * sizeof(ClusterEntry)) {
    throw Error("the table of {} clusters has {} bytes: rebuild the index", geometry_.clusters,
                table_.size() - std::min(offset, table_.size()));
  }
  check();
  for (ClusterId c = 0; c < geometry_.clusters; ++c) {
    max_cluster_bytes_ = std::max(max_cluster_bytes_, cluster_bytes(c));
    max_members_ = std::max(max_members_, entries_[c].members());
  }
}

void ClusterLocator::check() const {
  std::uint64_t members = 0;
  std::uint64_t grouped = 0;
  Ends ends = first_ends();
  for (ClusterId c = 0; c < geometry_.clusters; ++c) {
    if (!is_inside(c) || !has_right_parts(c) || !follows(c, ends)) {
      throw Error("the table's entry of cluster {} is impossible: it is damaged; rebuild the index",
                  c);
    }
    members += list_and_group(c);
    grouped += entries_[c].group_records;
  }
  if (members != geometry_.members || (geometry_.groups() && grouped != geometry_.count)) {
    throw Error(
        "the table has {} members, {} of them in groups, for {} members of {} vectors: it does not "
        "belong to this index; rebuild it",
        members, grouped, geometry_.members, geometry_.count);
  }
}

/// Whether list and group end in the region, in no more addresses than there can be.
bool ClusterLocator::is_inside(ClusterId cluster) const {
  const auto inside = [this](const ByteRange& range) {
    return range.offset <= region_bytes_ && range.bytes <= region_bytes_ - range.offset &&
           (range.bytes == 0 || range.offset >= kRegionHeaderBytes);
  };
  const ByteRange group = this->group(cluster);
  return inside(list(cluster)) && inside(group) &&
         (!geometry_.decouples() || group.bytes == 0 ||
          (group.offset + group.bytes - kRegionHeaderBytes) / record_bytes_ <= kMaxAddresses);
}

/// Whether the cluster has only parts that the layout allows, where the layout lets them begin.
bool ClusterLocator::has_right_parts(ClusterId cluster) const {
  const ClusterEntry& entry = entries_[cluster];
  if (list_and_group(cluster) > geometry_.count) return false;
  const bool aligned =
      entry.group_records == 0 || (entry.group_offset - kRegionHeaderBytes) % record_bytes_ == 0;
  switch (geometry_.kind) {
    case ClusterLayoutKind::coupled:
      return entry.list_addresses == 0 &&
             (entry.group_records == 0 || entry.group_offset % geometry_.block_bytes == 0);
    case ClusterLayoutKind::decoupled:
      return entry.group_records == 0;
    case ClusterLayoutKind::grouped:
      return aligned;
    case ClusterLayoutKind::coded:
      return aligned && (list(cluster).bytes == 0 || entry.list_offset % kCacheLineBytes == 0);
    case ClusterLayoutKind::grouped_inline:
      return aligned && (entry.list_addresses == 0 ||
                         entry.list_offset + list(cluster).bytes == entry.group_offset);
  }
  return false;
}

/// The ends before the first cluster.
ClusterLocator::Ends ClusterLocator::first_ends() const {
  Ends ends{kRegionHeaderBytes, kRegionHeaderBytes};
  if (geometry_.kind == ClusterLayoutKind::decoupled) {
    ends.lists += geometry_.count * record_bytes_;
  } else if (geometry_.lists_apart()) {
    for (ClusterId c = 0; c < geometry_.clusters; ++c) {
      ends.lists = std::max(ends.lists, group(c).offset + group(c).bytes);
    }
  }
  return ends;
}

/// Whether the parts of all clusters are in the order of clusters and do not overlap; lists that
/// are not with their groups come after all records. For entries that are inside the region.
bool ClusterLocator::follows(ClusterId cluster, Ends& ends) const {
  const bool has_groups = geometry_.kind != ClusterLayoutKind::decoupled;
  const bool has_lists = geometry_.lists_apart();
  const ByteRange whole = this->whole(cluster);
  const ByteRange group = whole.bytes > 0 ? whole : this->group(cluster);
  const ByteRange list = this->list(cluster);
  if ((has_groups && group.offset < ends.groups) || (has_lists && list.offset < ends.lists)) {
    return false;
  }
  ends = {group.offset + group.bytes, list.offset + list.bytes};
  return true;
}

Status ClusterLocator::read_list(ClusterId cluster, std::span<const std::byte> bytes,
                                 Address* out) const {
  const ClusterEntry& entry = entries_[cluster];
  const std::uint32_t count = entry.list_addresses;
  if (bytes.size() != geometry_.list_bytes(entry)) {
    return {StatusCode::data_loss, "a cluster's addresses came back shorter than they are"};
  }
  if (bytes.empty()) return {};
  const std::size_t end = bytes.size() - sizeof(std::uint32_t);
  const std::size_t begin = geometry_.code_bytes(entry);
  const std::size_t covered = geometry_.record_checksum ? 0 : begin;
  if (list_checksum(bytes.subspan(covered, end - covered), cluster) !=
      load_unaligned<std::uint32_t>(bytes.data() + end)) {
    return {StatusCode::data_loss, "a cluster's addresses do not match their checksum"};
  }
  const std::byte* from = bytes.data() + begin;
  // Four bytes can be read at every address: the checksum follows the last one.
  const std::uint32_t mask = geometry_.address_bytes == 3 ? 0xffffffu : 0xffffffffu;
  const std::uint64_t limit = address_limit();
  bool good = true;
  for (std::uint32_t i = 0; i < count; ++i, from += geometry_.address_bytes) {
    out[i] = load_unaligned<std::uint32_t>(from) & mask;
    good &= out[i] < limit;
  }
  if (!good) return {StatusCode::data_loss, "a cluster names an address beyond the region"};
  return {};
}

bool ClusterLocator::intact(const VectorView& rows, std::span<const std::uint32_t> picks) const {
  if (!geometry_.record_checksum) return true;
  const std::size_t covered = record_bytes_ - sizeof(std::uint32_t);
  return std::all_of(picks.begin(), picks.end(), [&](std::uint32_t pick) {
    const std::byte* const record = rows.row(pick);
    return vector_checksum({record, covered}) == load_unaligned<std::uint32_t>(record + covered);
  });
}

}  // namespace farvec::layout
