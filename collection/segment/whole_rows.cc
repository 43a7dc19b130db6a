#include "collection/segment/whole_rows.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/check.h"
#include "collection/segment/opened_rows.h"

namespace farvec::collection {
namespace {

class WholeRows final : public OpenedRows {
 public:
  explicit WholeRows(const layout::SecondCopyFile& file) : file_(file) {}

  Status learn(Ticks) override { return {}; }
  Status read(NodeId row, std::span<std::byte> out, Ticks deadline) const override {
    if (now_ticks() >= deadline) return rows_are_too_late();
    std::vector<std::byte> bytes(file_.geometry().row_bytes());
    FARVEC_CHECK(out.size() < bytes.size());
    file_.read_row(row, bytes);
    std::copy_n(bytes.begin(), out.size(), out.begin());
    return {};
  }

 private:
  const layout::SecondCopyFile& file_;
};

}  // namespace

std::unique_ptr<OpenedRows> open_whole_rows(const layout::SecondCopyFile& file) {
  return std::make_unique<WholeRows>(file);
}

dataset::VectorSet read_whole_rows(const layout::SecondCopyFile& file, std::uint32_t dimension,
                                   const layout::LoadOptions& options) {
  dataset::VectorSet rows(file.geometry().rows(), dimension, file.facts().type);
  const std::size_t bytes = rows.view().row_bytes();
  const std::size_t stride = file.geometry().row_bytes();
  std::size_t next = 0;
  file.for_each_piece([&](std::span<const std::byte> piece) {
    for (std::size_t at = 0; at < piece.size(); at += stride) {
      std::memcpy(rows.mutable_row(next++), piece.data() + at, bytes);
    }
    if (options.on_chunk) options.on_chunk(piece.size());
  });
  return rows;
}

}  // namespace farvec::collection
