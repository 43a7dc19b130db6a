#include "indexing/order/order_file.h"

#include <cstdint>
#include <utility>

#include "base/error.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_file.h"

namespace farvec::indexing {
namespace {

void require_ibin(const std::string& path) {
  if (dataset::suffix_of(path) != ".ibin") {
    throw Error("'{}' is no order: an order of rows is kept in .ibin", path);
  }
}

}  // namespace

std::vector<NodeId> read_order(const std::string& path, std::size_t count) {
  require_ibin(path);
  dataset::GroundTruth file = dataset::read_groundtruth(path);
  if (file.k != 1 || file.has_distances()) {
    throw Error("'{}' has {} {} for each row: an order has one id", path, file.k,
                file.has_distances() ? "ids and distances" : "ids");
  }
  if (file.queries != count) {
    throw Error("'{}' orders {} rows, but there are {}: make it from the same vectors", path,
                file.queries, count);
  }
  std::vector<bool> named(count);
  for (std::size_t i = 0; i < count; ++i) {
    const NodeId row = file.ids[i];
    if (row >= count) {
      throw Error("'{}' is no order: place {} names row {} of {}", path, i, row, count);
    }
    if (named[row]) throw Error("'{}' is no order: place {} names row {} again", path, i, row);
    named[row] = true;
  }
  return std::move(file.ids);
}

void write_order(const std::string& path, std::span<const NodeId> order) {
  require_ibin(path);
  if (order.empty()) throw Error("'{}' would order no rows", path);
  dataset::write_groundtruth(path, {order.size(), 1, {order.begin(), order.end()}, {}});
}

}  // namespace farvec::indexing
