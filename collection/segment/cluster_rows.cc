// This file reads rows of segments that are clusters.
#include <algorithm>
#include <memory>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/posting_block.h"
#include "collection/segment/checked_records.h"
#include "collection/segment/opened_rows.h"
#include "layout/cluster/cluster_layout.h"

namespace farvec::collection {
namespace {

/// All records are read to learn where each row's is, unless they are in the order of rows.
class ClusterRows final : public OpenedRows {
 public:
  explicit ClusterRows(const layout::IndexDirectory& directory)
      : manifest_(directory.manifest()),
        locator_(directory.load_cluster_locator({.threads = 1, .quiet = true})),
        records_(directory) {}

  Status learn(Ticks deadline) override;
  Status read(NodeId row, std::span<std::byte> out, Ticks deadline) const override;

 private:
  struct Learning {
    CheckedRecords::Loading loading;
    ClusterId clusters = 0;
  };
  Status find_rows(Learning& learning, Ticks deadline);
  bool in_order() const { return locator_.geometry().kind == layout::ClusterLayoutKind::decoupled; }

  PostingBlock block_of(std::span<const std::byte> records) const {
    return {locator_.rows(records, manifest_.dimension, manifest_.stored_type), kFirst};
  }

  static constexpr std::uint32_t kFirst[] = {0};

  const layout::Manifest& manifest_;
  const layout::ClusterLocator locator_;
  const CheckedRecords records_;
  std::unique_ptr<Learning> learning_;
  std::vector<std::uint64_t> offset_of_;  ///< [row]; 0: not known. Empty where they are in order
};

Status ClusterRows::learn(Ticks deadline) {
  if (in_order()) return {};
  if (learning_ == nullptr) {
    learning_ = std::make_unique<Learning>();
    offset_of_.assign(locator_.geometry().count, 0);
  }
  if (Status status = records_.load(learning_->loading, deadline); !status.ok()) return status;
  if (Status status = find_rows(*learning_, deadline); !status.ok()) return status;
  learning_.reset();
  const auto missing = std::find(offset_of_.begin(), offset_of_.end(), 0u);
  if (missing == offset_of_.end()) return {};
  throw Error("'{}' has no record of row {}: it is damaged", records_.path(),
              missing - offset_of_.begin());
}

Status ClusterRows::find_rows(Learning& learning, Ticks deadline) {
  const layout::ClusterGeometry& geometry = locator_.geometry();
  for (ClusterId& c = learning.clusters; c < geometry.clusters; ++c) {
    if (now_ticks() >= deadline) return rows_are_too_late();
    const layout::ByteRange group = locator_.group(c);
    const PostingBlock block =
        block_of(learning.loading.region.span().subspan(group.offset, group.bytes));
    for (std::uint32_t i = 0; i < locator_.entry(c).group_records; ++i) {
      const NodeId row = block.id(i);
      if (row >= geometry.count) {
        throw Error("'{}', cluster {}: row {} does not exist: it is damaged", records_.path(), c,
                    row);
      }
      offset_of_[row] = group.offset + std::uint64_t{i} * geometry.record_bytes();
    }
  }
  return {};
}

Status ClusterRows::read(NodeId row, std::span<std::byte> out, Ticks deadline) const {
  FARVEC_CHECK(row < locator_.geometry().count && out.size() == locator_.geometry().vector_bytes);
  const std::uint64_t at = in_order() ? locator_.offset_of(row) : offset_of_.at(row);
  std::vector<std::byte> record(locator_.geometry().record_bytes());
  if (Status status = records_.read(at, record, deadline); !status.ok()) return status;
  const PostingBlock block = block_of(record);
  if (block.id(0) != row || !locator_.intact(block.rows, block.picks)) {
    throw Error("'{}', row {}: another record lies in its place: it is damaged", records_.path(),
                row);
  }
  std::copy_n(record.begin(), out.size(), out.begin());
  return {};
}

}  // namespace

std::unique_ptr<OpenedRows> open_cluster_rows(const layout::IndexDirectory& directory) {
  return std::make_unique<ClusterRows>(directory);
}

}  // namespace farvec::collection
