#include "compute_node/posting_plan.h"

#include <algorithm>
#include <bit>

namespace farvec::compute_node {
namespace {

using layout::Address;

/// Ascending, by bytes from the lowest: for the hundreds to thousands of strays of a query three
/// times as fast as comparing.
void radix_sort(std::vector<Address>& values, std::vector<Address>& scratch, std::uint64_t limit) {
  scratch.resize(values.size());
  const auto bits = static_cast<unsigned>(std::bit_width(limit));
  for (unsigned shift = 0; shift < bits; shift += 8) {
    std::uint32_t begins[257] = {};
    for (const Address value : values) ++begins[((value >> shift) & 0xff) + 1];
    for (unsigned digit = 0; digit < 256; ++digit) begins[digit + 1] += begins[digit];
    for (const Address value : values) scratch[begins[(value >> shift) & 0xff]++] = value;
    values.swap(scratch);
  }
}

}  // namespace

void PostingPlan::begin(const PostingPlanOptions& options) {
  options_ = options;
  groups_.clear();
  strays_.clear();
  earlier_.clear();
  first_round_ = true;
}

void PostingPlan::open(std::span<const ClusterId> clusters) {
  if (!first_round_ && options_.dedup) {
    const std::size_t before = earlier_.size();
    earlier_.insert(earlier_.end(), strays_.begin(), strays_.end());
    std::inplace_merge(earlier_.begin(), earlier_.begin() + static_cast<long>(before),
                       earlier_.end());
  }
  first_round_ = false;
  strays_.clear();
  if (!options_.dedup || !locator_.geometry().decouples()) return;
  for (const ClusterId cluster : clusters) {
    const std::uint32_t records = locator_.entry(cluster).group_records;
    if (records == 0) continue;
    const Address first = locator_.first_of_group(cluster);
    groups_.push_back({first, first + records});
  }
  std::sort(groups_.begin(), groups_.end(),
            [](const Group& a, const Group& b) { return a.first < b.first; });
}

Status PostingPlan::take_list(ClusterId cluster, std::span<const std::byte> bytes) {
  const std::size_t before = strays_.size();
  strays_.resize(before + locator_.entry(cluster).list_addresses);
  return locator_.read_list(cluster, bytes, strays_.data() + before);
}

void PostingPlan::close() {
  if (options_.dedup) {
    sort_strays();
    leave_out_groups();
    leave_out_earlier();
  }
  merge();
}

void PostingPlan::sort_strays() {
  constexpr std::size_t kFew = 64;
  if (strays_.size() <= kFew) {
    std::sort(strays_.begin(), strays_.end());
  } else {
    radix_sort(strays_, scratch_, locator_.address_limit());
  }
  strays_.erase(std::unique(strays_.begin(), strays_.end()), strays_.end());
}

void PostingPlan::leave_out_groups() {
  auto group = groups_.begin();
  std::size_t kept = 0;
  for (const Address address : strays_) {
    while (group != groups_.end() && group->end <= address) ++group;
    strays_[kept] = address;
    kept += group == groups_.end() || address < group->first ? 1 : 0;
  }
  strays_.resize(kept);
}

void PostingPlan::leave_out_earlier() {
  if (earlier_.empty()) return;
  scratch_.clear();
  std::set_difference(strays_.begin(), strays_.end(), earlier_.begin(), earlier_.end(),
                      std::back_inserter(scratch_));
  strays_.swap(scratch_);
}

void PostingPlan::merge() {
  runs_.clear();
  picks_.clear();
  run_records_ = 0;
  const bool merges = options_.dedup && options_.merge_gap_bytes.has_value();
  const std::uint32_t gap =
      merges ? *options_.merge_gap_bytes / locator_.geometry().record_bytes() : 0;
  for (const Address address : strays_) {
    if (merges && !runs_.empty()) {
      Run& last = runs_.back();
      const std::uint32_t more = address - (last.first + last.records) + 1;
      if (more <= gap + 1) {
        last.records += more;
        run_records_ += more;
        picks_.push_back(run_records_ - 1);
        continue;
      }
    }
    runs_.push_back({address, 1});
    picks_.push_back(run_records_++);
  }
}

std::size_t PostingPlan::dram_bytes() const {
  return groups_.capacity() * sizeof(Group) + runs_.capacity() * sizeof(Run) +
         (strays_.capacity() + earlier_.capacity() + scratch_.capacity()) * sizeof(Address) +
         picks_.capacity() * sizeof(std::uint32_t);
}

}  // namespace farvec::compute_node
