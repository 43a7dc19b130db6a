// A PostingPlan says which reads a probe of clusters needs, for any tier.
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
  /// Within one query a vector is read once: a stray in a group that is read anyway is not read
  /// again, nor is a stray that two clusters name, and near strays share a read.
  bool dedup = true;
  /// Strays with at most this many bytes between them share a read. Without a value every stray has
  /// its own read.
  std::optional<std::uint32_t> merge_gap_bytes;
};

/// A PostingRoom is the room for the strays of a round.
struct PostingRoom {
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t read_bytes = std::numeric_limits<std::uint64_t>::max();  ///< most bytes of one run
};

/// Plans one query's reads. The caller reads the lists and groups of some clusters, hands the lists
/// in, and gets the strays. Memory is kept between queries.
class PostingPlan {
 public:
  /// A Run is a run of records that one read brings.
  struct Run {
    layout::Address first = 0;
    std::uint32_t records = 0;
  };

  explicit PostingPlan(const layout::ClusterLocator& locator) : locator_(locator) {}

  void begin(const PostingPlanOptions& options);

  /// Begins a round in which the groups of these clusters are read.
  void open(std::span<const ClusterId> clusters);
  /// Adds a cluster's addresses. data_loss when the list is damaged.
  Status take_list(ClusterId cluster, std::span<const std::byte> bytes);
  /// Adds addresses, in any order, each below the locator's address_limit().
  void take(std::span<const layout::Address> addresses) {
    strays_.insert(strays_.end(), addresses.begin(), addresses.end());
  }
  /// Ends the round: afterwards runs() are the reads, and picks() what is wanted from them. Where
  /// there is no room for what is between strays, only nearer strays share a read; there must be
  /// room for the strays themselves.
  void close(const PostingRoom& room = {});

  std::span<const Run> runs() const { return runs_; }
  /// Returns the numbers of the records that are wanted, counted from 0 over the records of all
  /// runs, put one after another.
  std::span<const std::uint32_t> picks() const { return picks_; }
  /// Returns the addresses of the same records, for code that reads them in place.
  std::span<const layout::Address> strays() const { return strays_; }
  std::uint32_t run_records() const { return run_records_; }

  std::size_t dram_bytes() const;

 private:
  /// No record has it, because an index has fewer.
  static constexpr layout::Address kNoAddress = ~layout::Address{0};

  /// The addresses of a group that is read.
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
  std::vector<Group> groups_;             ///< groups of the query so far; ascending
  std::vector<layout::Address> strays_;   ///< strays of the round
  std::vector<layout::Address> earlier_;  ///< strays of the rounds before; ascending
  std::vector<layout::Address> scratch_;
  std::vector<Run> runs_;
  std::vector<std::uint32_t> picks_;
  std::uint32_t run_records_ = 0;
  bool first_round_ = true;
};

}  // namespace farvec::search
