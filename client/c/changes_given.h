// These functions make attributes of rows from the JSON that a C caller gives.
#pragma once

#include "changes/changing.h"
#include "client/c/given.h"
#include "indexing/attributes/attribute_reader.h"
#include "layout/attributes/tuple.h"

namespace farvec::c {

/// Returns a tuple for each row; none where no row was given any. Asks the node for its columns
/// again where one is not known. Throws StatusError (invalid_argument) that names the row and says
/// what is wrong.
layout::Tuples tuples_of(const changes::Changing& changes, const GivenAttributes& rows);

/// Returns the columns that the objects name, and their values. Throws also where two rows name
/// different columns, where a row has no object, and where the objects name none.
indexing::ColumnsOfRows new_values_of(const changes::Changing& changes,
                                      const GivenAttributes& rows);

}  // namespace farvec::c
