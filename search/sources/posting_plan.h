// Which reads a probe of clusters needs, for any tier.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "base/types.h"
#include "layout/cluster/cluster_layout.h"

namespace farvec::search {

struct PostingPlanOptions {
  /// Within one query a vector is read once: a stray that lies in a group which is read anyway is
  /// not read again, nor is one that two clusters name, and near ones share a read.
  bool dedup = true;
  /// Strays with at most so many bytes between them share a read; none: every one has its own.
  std::optional<std::uint32_t> merge_gap_bytes;
};

/// What there is for the strays of a round.
struct PostingRoom {
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t read_bytes = std::numeric_limits<std::uint64_t>::max();  ///< of one run
};

/// One query's reads. The caller reads the lists and groups of some clusters, hands the lists in,
/// and gets the strays. Memory is kept between queries.
class PostingPlan {
 public:
  /// A run of records that is read as one.
  struct Run {
    layout::Address first = 0;
    std::uint32_t records = 0;
  };

  explicit PostingPlan(const layout::ClusterLocator& locator) : locator_(locator) {}

  void begin(const PostingPlanOptions& options);

  /// A new round: the groups of these clusters are being read.
  void open(std::span<const ClusterId> clusters);
  /// Adds a cluster's addresses. data_loss when the list is damaged.
  Status take_list(ClusterId cluster, std::span<const std::byte> bytes);
  /// Adds addresses, in any order, each below the locator's address_limit().
  void take(std::span<const layout::Address> addresses) {
    strays_.insert(strays_.end(), addresses.begin(), addresses.end());
  }
  /// The round's strays: afterwards runs() and picks() are the reads and what is wanted of them.
  /// Where there is no room for what lies between strays, nearer ones alone share a read; for the
  /// strays themselves there must be.
  void close(const PostingRoom& room = {});

  std::span<const Run> runs() const { return runs_; }
  /// The numbers of the records that are wanted, counted from 0 over the records of all runs, put
  /// one after another.
  std::span<const std::uint32_t> picks() const { return picks_; }
  /// The addresses of the same records, for those who read them in place.
  std::span<const layout::Address> strays() const { return strays_; }
  std::uint32_t run_records() const { return run_records_; }

  std::size_t dram_bytes() const;

 private:
  /// None has it: an index has fewer.
  static constexpr layout::Address kNoAddress = ~layout::Address{0};

  /// Addresses of a group that is read.
  struct Group {
    layout::Address first;
    layout::Address end;
  };

  void sort_strays();
  void leave_out_known();
  void leave_out_earlier();
  void merge(std::uint32_t most, std::uint32_t longest);

  const layout::ClusterLocator& locator_;
  PostingPlanOptions options_;
  std::vector<Group> groups_;             ///< of the query so far; ascending
  std::vector<layout::Address> strays_;   ///< of the round
  std::vector<layout::Address> earlier_;  ///< strays of the rounds before; ascending
  std::vector<layout::Address> scratch_;
  std::vector<Run> runs_;
  std::vector<std::uint32_t> picks_;
  std::uint32_t run_records_ = 0;
  bool first_round_ = true;
};

}  // namespace farvec::search
