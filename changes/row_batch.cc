#include "changes/row_batch.h"

#include "base/error.h"
#include "base/status_error.h"

namespace farvec::changes {
namespace {

void check_attributes(const RowBatch& batch, const layout::Schema& schema) {
  const layout::TupleView& attributes = batch.attributes;
  if (attributes.count() == 0 && batch.rows.count > 0) return layout::require_nulls(schema);
  if (attributes.count() > 0 && schema.empty()) {
    throw Error("the rows bring attributes, and the index has a schema without columns");
  }
  if (attributes.count() != batch.rows.count) {
    throw Error("{} rows and the attributes of {}: every row has its own", batch.rows.count,
                attributes.count());
  }
  layout::check_tuples(attributes, schema, "the attributes of the rows");
}

}  // namespace

void check_shape(const RowBatch& batch, const layout::Schema& schema) {
  if (batch.rows.count != batch.ids.size()) {
    throw StatusError(StatusCode::invalid_argument, "{} rows and {} ids: every row has one",
                      batch.rows.count, batch.ids.size());
  }
  try {
    check_attributes(batch, schema);
  } catch (const Error& error) {
    throw StatusError(StatusCode::invalid_argument, "{}", error.what());
  }
}

}  // namespace farvec::changes
