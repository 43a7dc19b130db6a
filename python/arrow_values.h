// arrow_values() reads the values of one column of an Arrow batch.
#pragma once

#include "layout/attributes/schema.h"
#include "python/arrow_cells.h"
#include "python/attributes.h"

namespace farvec::python {

/// Returns a reader. The batch and the column have to outlive it. Throws Error naming the column
/// for a type that no column takes, and what ArrowCells throws; so does the reader, and what
/// indexing::exact_value() throws.
ReadValue arrow_values(const ArrowRows& rows, const layout::Column& column);

}  // namespace farvec::python
