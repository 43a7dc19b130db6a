// with_schema() reads what names columns of a collection.
#pragma once

#include "changes/changing.h"
#include "layout/attributes/schema.h"
#include "python/jobs.h"

namespace farvec::python {

/// Returns what `use` makes of the columns that are known. Where it throws, and there are more
/// columns by now, as another client may have added some, it is called again with all of them.
/// Needs the interpreter.
template <typename Use>
auto with_schema(const changes::Changing& changes, const Use& use) {
  const layout::Schema known = changes.row_shape().schema;
  try {
    return use(known);
  } catch (...) {
    layout::Schema newest;
    run_job([&](const Interruption&) { newest = changes.newest_schema(); });
    if (newest == known) throw;
    return use(newest);
  }
}

}  // namespace farvec::python
