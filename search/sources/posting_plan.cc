#include "search/sources/posting_plan.h"

#include <algorithm>
#include <bit>

namespace farvec::search {
namespace {

using layout::Address;

/// Sorts in ascending order, by digits from the lowest: it sorts the thousands of strays of a query
/// several times as fast as comparing does.
class RadixSort {
 public:
  explicit RadixSort(std::uint64_t limit) {
    const auto bits = static_cast<unsigned>(std::bit_width(limit));
    passes_ = (bits + kMostDigitBits - 1) / kMostDigitBits;
    digit_bits_ = (bits + passes_ - 1) / passes_;
  }

  void operator()(std::vector<Address>& values, std::vector<Address>& scratch) const {
    const Address mask = (Address{1} << digit_bits_) - 1;
    scratch.resize(values.size());
    for (unsigned pass = 0; pass < passes_; ++pass) {
      const unsigned shift = pass * digit_bits_;
      std::uint32_t begins[(1u << kMostDigitBits) + 1];
      std::fill_n(begins, mask + 2, 0u);
      for (const Address value : values) ++begins[((value >> shift) & mask) + 1];
      for (unsigned digit = 0; digit <= mask; ++digit) begins[digit + 1] += begins[digit];
      for (const Address value : values) scratch[begins[(value >> shift) & mask]++] = value;
      values.swap(scratch);
    }
  }

 private:
  static constexpr unsigned kMostDigitBits = 11;

  unsigned passes_;
  unsigned digit_bits_;
};

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
  if (!groups_.empty()) groups_.pop_back();  // the sentinel
  for (const ClusterId cluster : clusters) {
    const std::uint32_t records = locator_.entry(cluster).group_records;
    if (records == 0) continue;
    const Address first = locator_.first_of_group(cluster);
    groups_.push_back({first, first + records});
  }
  std::sort(groups_.begin(), groups_.end(),
            [](const Group& a, const Group& b) { return a.first < b.first; });
  groups_.push_back({kNoAddress, kNoAddress});
}

Status PostingPlan::take_list(ClusterId cluster, std::span<const std::byte> bytes) {
  const std::size_t before = strays_.size();
  strays_.resize(before + locator_.entry(cluster).list_addresses);
  return locator_.read_list(cluster, bytes, strays_.data() + before);
}

void PostingPlan::close(const PostingRoom& room) {
  if (options_.dedup) {
    sort_strays();
    leave_out_known();
    leave_out_earlier();
  }
  const std::uint64_t record = locator_.geometry().record_bytes();
  const auto longest = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(room.read_bytes / record, 1, kNoAddress));
  const bool merges = options_.dedup && options_.merge_gap_bytes.has_value();
  std::uint32_t step =
      merges ? static_cast<std::uint32_t>(*options_.merge_gap_bytes / record) + 1 : 0;
  merge(step, longest);
  while (step > 1 && run_records_ * record > room.bytes) {
    step = std::max(step / 4, 1u);
    merge(step, longest);
  }
}

void PostingPlan::sort_strays() {
  constexpr std::size_t kFew = 64;
  if (strays_.size() <= kFew) {
    std::sort(strays_.begin(), strays_.end());
  } else {
    RadixSort(locator_.address_limit())(strays_, scratch_);
  }
}

/// Keeps one of each address, and none that is in a group. Without branches on the addresses.
void PostingPlan::leave_out_known() {
  std::size_t kept = 0;
  std::size_t group = 0;
  Address previous = kNoAddress;
  for (const Address address : strays_) {
    while (groups_[group].end <= address) ++group;
    strays_[kept] = address;
    kept += static_cast<std::size_t>(address != previous) &
            static_cast<std::size_t>(address < groups_[group].first);
    previous = address;
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

/// Lets strays at most `most` addresses apart share a run of at most `longest` records. Without
/// branches on the addresses.
void PostingPlan::merge(std::uint32_t most, std::uint32_t longest) {
  runs_.resize(strays_.size());
  picks_.resize(strays_.size());
  std::size_t runs = 0;
  std::uint32_t records = 0;
  Address previous = 0;
  Address first = 0;
  for (std::size_t i = 0; i < strays_.size(); ++i) {
    const Address address = strays_[i];
    const Address step = address - previous;
    const bool joins = (i > 0) & (step <= most) & (address - first < longest);
    runs += joins ? 0 : 1;
    first = joins ? first : address;
    records += joins ? step : 1;
    runs_[runs - 1] = {first, address - first + 1};
    picks_[i] = records - 1;
    previous = address;
  }
  runs_.resize(runs);
  run_records_ = records;
}

std::size_t PostingPlan::dram_bytes() const {
  return groups_.capacity() * sizeof(Group) + runs_.capacity() * sizeof(Run) +
         (strays_.capacity() + earlier_.capacity() + scratch_.capacity()) * sizeof(Address) +
         picks_.capacity() * sizeof(std::uint32_t);
}

}  // namespace farvec::search
