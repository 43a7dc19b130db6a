// A CodedList reads a coded cluster's list in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/coded_members.h"
#include "base/status.h"
#include "layout/cluster/cluster_layout.h"

namespace farvec::search {

/// Keeps the addresses of the list that was read last.
class CodedList {
 public:
  /// `bytes` is the cluster's list. Returns data_loss like ClusterLocator::read_list().
  Status read(const layout::ClusterLocator& locator, ClusterId cluster,
              std::span<const std::byte> bytes) {
    const layout::ClusterEntry& entry = locator.entry(cluster);
    addresses_.resize(entry.list_addresses);
    members_ = {.cluster = cluster,
                .codes = layout::ClusterLocator::codes(bytes),
                .grouped = entry.group_records,
                .first = locator.first_of_group(cluster),
                .strays = addresses_};
    return locator.read_list(cluster, bytes, addresses_.data());
  }

  /// Is valid until the next read(), and while the list's bytes exist.
  const CodedMembers& members() const { return members_; }

  std::size_t dram_bytes() const { return addresses_.capacity() * sizeof(layout::Address); }

 private:
  std::vector<layout::Address> addresses_;
  CodedMembers members_;
};

}  // namespace farvec::search
