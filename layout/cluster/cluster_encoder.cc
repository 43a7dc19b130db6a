#include "layout/cluster/cluster_encoder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/error.h"
#include "base/parallel.h"
#include "layout/graph/graph_layout.h"

namespace farvec::layout {
namespace {

constexpr std::uint64_t kBatchBytes = std::uint64_t{32} << 20;
constexpr std::size_t kUnitsPerRun = 64;

void require_shapes(const ClusterContents& contents) {
  const std::size_t count = contents.vectors.count;
  if (contents.membership.count() != count || contents.homes.size() != count) {
    throw Error("cannot encode {} vectors with the clusters of {} and the homes of {}", count,
                contents.membership.count(), contents.homes.size());
  }
}

}  // namespace

ClusterEncoder::ClusterEncoder(ClusterLayoutKind kind, const ClusterContents& contents)
    : contents_(contents) {
  require_shapes(contents);
  geometry_.kind = kind;
  geometry_.record_checksum = contents.record_checksum;
  geometry_.vector_bytes = static_cast<std::uint32_t>(contents.vectors.row_bytes());
  geometry_.clusters = contents.clusters;
  geometry_.count = contents.vectors.count;
  geometry_.members = contents.membership.clusters.size();
  if (geometry_.has_codes()) {
    geometry_.code_bits = contents.codes.bits;
    geometry_.code_block_bytes = contents.codes.block_bytes;
  }
  geometry_.validate();
  invert(contents.membership);
  table_.resize(geometry_.clusters);
  place();
}

void ClusterEncoder::invert(const MembershipView& membership) {
  begins_.assign(std::size_t{geometry_.clusters} + 1, 0);
  for (const ClusterId cluster : membership.clusters) {
    FARVEC_CHECK(cluster < geometry_.clusters, "cluster {}", cluster);
    ++begins_[cluster + 1];
  }
  for (std::size_t c = 0; c < geometry_.clusters; ++c) begins_[c + 1] += begins_[c];
  members_.resize(membership.clusters.size());
  std::vector<std::uint64_t> next(begins_.begin(), begins_.end() - 1);
  for (std::size_t v = 0; v < membership.count(); ++v) {
    for (const ClusterId cluster : membership.of(v)) {
      members_[next[cluster]++] = static_cast<NodeId>(v);
    }
  }
}

bool ClusterEncoder::in_group(ClusterId cluster, NodeId id) const {
  switch (geometry_.kind) {
    case ClusterLayoutKind::coupled:
      return true;
    case ClusterLayoutKind::decoupled:
      return false;
    default:
      return contents_.homes[id] == cluster;
  }
}

std::uint32_t ClusterEncoder::group_of(ClusterId cluster) const {
  const auto ids = members(cluster);
  return static_cast<std::uint32_t>(
      std::count_if(ids.begin(), ids.end(), [&](NodeId id) { return in_group(cluster, id); }));
}

void ClusterEncoder::choose_address_bytes(std::uint64_t limit) {
  if (limit > std::numeric_limits<Address>::max()) {
    throw Error("{} addresses are more than an index can have: make it of fewer vectors", limit);
  }
  geometry_.address_bytes = limit <= (1u << 24) ? 3 : 4;
}

std::vector<NodeId> ClusterEncoder::group(ClusterId cluster) const {
  // For each vector, the other clusters that have it, largest first, because most queries come from
  // there.
  struct Member {
    std::array<ClusterId, kMaxReplicas> others;
    NodeId id;
  };
  const auto larger = [this](ClusterId a, ClusterId b) {
    const std::size_t size_a = members(a).size();
    const std::size_t size_b = members(b).size();
    return size_a != size_b ? size_a > size_b : a < b;
  };
  std::vector<Member> group;
  for (const NodeId id : members(cluster)) {
    if (!in_group(cluster, id)) continue;
    Member member{{}, id};
    const auto of = contents_.membership.of(id);
    const auto end = std::copy_if(of.begin(), of.end(), member.others.begin(),
                                  [&](ClusterId other) { return other != cluster; });
    std::sort(member.others.begin(), end, larger);
    std::fill(end, member.others.end(), ~ClusterId{0});
    group.push_back(member);
  }
  std::stable_sort(group.begin(), group.end(),
                   [](const Member& a, const Member& b) { return a.others < b.others; });
  std::vector<NodeId> ids;
  ids.reserve(group.size());
  for (const Member& member : group) ids.push_back(member.id);
  return ids;
}

void ClusterEncoder::number_group(ClusterId cluster) {
  Address next = static_cast<Address>((table_[cluster].group_offset - kRegionHeaderBytes) /
                                      geometry_.record_bytes());
  for (const NodeId id : group(cluster)) addresses_[id] = next++;
}

void ClusterEncoder::place() {
  std::uint64_t grouped = 0;
  for (ClusterId c = 0; c < geometry_.clusters; ++c) {
    table_[c].group_records = group_of(c);
    table_[c].list_addresses =
        geometry_.decouples()
            ? static_cast<std::uint32_t>(members(c).size()) - table_[c].group_records
            : 0;
    grouped += table_[c].group_records;
  }
  switch (geometry_.kind) {
    case ClusterLayoutKind::coupled:
      return place_coupled();
    case ClusterLayoutKind::decoupled:
      return place_decoupled();
    case ClusterLayoutKind::grouped:
    case ClusterLayoutKind::grouped_inline:
    case ClusterLayoutKind::coded:
      if (grouped != geometry_.count) {
        throw Error("{} of {} vectors are at home in none of their clusters",
                    geometry_.count - grouped, geometry_.count);
      }
      geometry_.lists_apart() ? place_grouped() : place_inline();
  }
}

void ClusterEncoder::place_coupled() {
  std::uint64_t cursor = kRegionHeaderBytes;
  for (ClusterEntry& entry : table_) {
    cursor = round_up(cursor, geometry_.block_bytes);
    entry.group_offset = cursor;
    cursor += std::uint64_t{entry.group_records} * geometry_.record_bytes();
  }
  region_bytes_ = round_up(cursor, geometry_.block_bytes);
}

/// Places the lists. Codes begin on cache lines.
std::uint64_t ClusterEncoder::place_lists(std::uint64_t begin) {
  const std::uint64_t alignment = geometry_.has_codes() ? kCacheLineBytes : 1;
  lists_begin_ = round_up(begin, alignment);
  begin = lists_begin_;
  for (ClusterEntry& entry : table_) {
    entry.list_offset = begin;
    begin = round_up(begin + geometry_.list_bytes(entry), alignment);
  }
  return begin;
}

void ClusterEncoder::place_decoupled() {
  const std::uint64_t records = geometry_.count * geometry_.record_bytes();
  choose_address_bytes(geometry_.count);
  addresses_.resize(geometry_.count);
  for (std::size_t id = 0; id < addresses_.size(); ++id) addresses_[id] = static_cast<Address>(id);
  for (ClusterEntry& entry : table_) entry.group_offset = kRegionHeaderBytes;
  region_bytes_ = place_lists(kRegionHeaderBytes + records);
}

void ClusterEncoder::place_grouped() {
  choose_address_bytes(geometry_.count);
  addresses_.resize(geometry_.count);
  std::uint64_t cursor = kRegionHeaderBytes;
  for (ClusterId c = 0; c < geometry_.clusters; ++c) {
    table_[c].group_offset = cursor;
    cursor += std::uint64_t{table_[c].group_records} * geometry_.record_bytes();
    number_group(c);
  }
  region_bytes_ = place_lists(cursor);
}

void ClusterEncoder::place_inline() {
  // With 4-byte addresses lists take the most room, so what fits then also fits with fewer bytes.
  const std::uint64_t record = geometry_.record_bytes();
  std::uint64_t units = 0;
  for (const ClusterEntry& entry : table_) {
    units += round_up(geometry_.list_bytes(entry), record) / record + entry.group_records;
  }
  choose_address_bytes(units);
  addresses_.resize(geometry_.count);
  std::uint64_t cursor = kRegionHeaderBytes;
  for (ClusterId c = 0; c < geometry_.clusters; ++c) {
    ClusterEntry& entry = table_[c];
    const std::uint64_t list = geometry_.list_bytes(entry);
    // Right before the group, so that one read brings both and no more.
    entry.group_offset = cursor + round_up(list, record);
    entry.list_offset = entry.group_offset - list;
    cursor = entry.group_offset + entry.group_records * record;
    number_group(c);
  }
  region_bytes_ = cursor;
}

std::uint64_t ClusterEncoder::begin_of_vector(std::size_t id) const {
  return kRegionHeaderBytes + id * geometry_.record_bytes();
}

std::uint64_t ClusterEncoder::begin_of_cluster(std::size_t cluster) const {
  if (cluster < table_.size()) {
    const ClusterEntry& entry = table_[cluster];
    if (geometry_.kind != ClusterLayoutKind::grouped_inline) return entry.group_offset;
    return entry.group_offset - round_up(geometry_.list_bytes(entry), geometry_.record_bytes());
  }
  return geometry_.lists_apart() ? lists_begin_ : region_bytes_;
}

std::uint64_t ClusterEncoder::begin_of_list(std::size_t cluster) const {
  return cluster < table_.size() ? table_[cluster].list_offset : region_bytes_;
}

void ClusterEncoder::put_record(NodeId id, std::byte* out) const {
  std::memcpy(out, contents_.vectors.row(id), geometry_.vector_bytes);
  store_unaligned(out + geometry_.vector_bytes, id);
  if (!geometry_.record_checksum) return;
  const std::size_t covered = geometry_.record_bytes() - sizeof(std::uint32_t);
  store_unaligned(out + covered, vector_checksum({out, covered}));
}

void ClusterEncoder::encode_vector(std::size_t id, std::span<std::byte> out) const {
  put_record(static_cast<NodeId>(id), out.data());
}

void ClusterEncoder::encode_cluster(std::size_t cluster, std::span<std::byte> out) const {
  const auto number = static_cast<ClusterId>(cluster);
  const ClusterEntry& entry = table_[cluster];
  const std::uint64_t begin = begin_of_cluster(cluster);
  std::memset(out.data(), 0, out.size());
  if (geometry_.kind == ClusterLayoutKind::grouped_inline) {
    encode_list(cluster, out.subspan(entry.list_offset - begin, list_bytes(number)));
  }
  std::byte* cursor = out.data() + (entry.group_offset - begin);
  for (const NodeId id : group(number)) {
    put_record(id, cursor);
    cursor += geometry_.record_bytes();
  }
}

std::vector<NodeId> ClusterEncoder::strays(ClusterId cluster) const {
  std::vector<NodeId> ids;
  for (const NodeId id : members(cluster)) {
    if (!in_group(cluster, id)) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end(),
            [this](NodeId a, NodeId b) { return addresses_[a] < addresses_[b]; });
  return ids;
}

void ClusterEncoder::encode_list(std::size_t cluster, std::span<std::byte> out) const {
  const auto number = static_cast<ClusterId>(cluster);
  std::fill(out.begin(), out.end(), std::byte{0});
  out = out.first(list_bytes(number));
  if (out.empty()) return;
  const std::vector<NodeId> strays = this->strays(number);
  const std::size_t begin = geometry_.code_bytes(table_[cluster]);
  if (begin > 0) {
    std::vector<NodeId> coded = group(number);
    coded.insert(coded.end(), strays.begin(), strays.end());
    contents_.codes.write(number, coded, out.first(begin));
  }
  std::byte* cursor = out.data() + begin;
  for (const NodeId id : strays) {
    std::memcpy(cursor, &addresses_[id], geometry_.address_bytes);
    cursor += geometry_.address_bytes;
  }
  const std::size_t covered = geometry_.record_checksum ? 0 : begin;
  store_unaligned(cursor, list_checksum({out.data() + covered, cursor}, number));
}

std::vector<ClusterEncoder::Phase> ClusterEncoder::phases() const {
  const Phase lists{table_.size(), &ClusterEncoder::begin_of_list, &ClusterEncoder::encode_list};
  const Phase clusters{table_.size(), &ClusterEncoder::begin_of_cluster,
                       &ClusterEncoder::encode_cluster};
  switch (geometry_.kind) {
    case ClusterLayoutKind::decoupled:
      return {{geometry_.count, &ClusterEncoder::begin_of_vector, &ClusterEncoder::encode_vector},
              lists};
    case ClusterLayoutKind::grouped:
    case ClusterLayoutKind::coded:
      return {clusters, lists};
    default:
      return {clusters};
  }
}

void ClusterEncoder::stream_phase(const Phase& phase, unsigned threads,
                                  const std::function<void(std::span<const std::byte>)>& sink,
                                  const std::function<void(std::uint64_t)>& progress) const {
  std::vector<std::byte> buffer;
  std::size_t first = 0;
  while (first < phase.units) {
    const std::uint64_t origin = (this->*phase.begin)(first);
    std::size_t last = first + 1;
    while (last < phase.units && (this->*phase.begin)(last)-origin < kBatchBytes) ++last;
    buffer.resize((this->*phase.begin)(last)-origin);
    parallel_for(
        last - first, kUnitsPerRun, threads, [&](std::size_t begin, std::size_t end, unsigned) {
          for (std::size_t unit = first + begin; unit < first + end; ++unit) {
            const std::uint64_t from = (this->*phase.begin)(unit);
            const std::uint64_t to = (this->*phase.begin)(unit + 1);
            (this->*phase.encode)(unit, std::span(buffer).subspan(from - origin, to - from));
          }
        });
    sink(buffer);
    progress(buffer.size());
    first = last;
  }
}

void ClusterEncoder::stream(unsigned threads,
                            const std::function<void(std::span<const std::byte>)>& sink,
                            const std::function<void(std::uint64_t)>& progress) const {
  for (const Phase& phase : phases()) stream_phase(phase, threads, sink, progress);
}

}  // namespace farvec::layout
