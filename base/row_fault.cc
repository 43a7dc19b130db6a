#include "base/row_fault.h"

namespace farvec {

std::optional<FaultyRow> find_faulty_row(const VectorView& rows, std::optional<Metric> metric) {
  for (std::size_t i = 0; i < rows.count; ++i) {
    const RowFault fault = fault_of_row(rows.row(i), rows.type, rows.dimension, metric);
    if (fault != RowFault::none) return FaultyRow{i, fault};
  }
  return std::nullopt;
}

}  // namespace farvec
