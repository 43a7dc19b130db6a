// These functions fill in the answers of the service of an index that changes.
#pragma once

#include "changes/listed_rows.h"
#include "changes/receipt.h"
#include "rpc/collection.pb.h"

namespace farvec::compute_node {

void tell_rows(const changes::FoundRows& found, collection::v1::GetResponse& out);
void tell_list(const changes::ListedRows& listed, collection::v1::ListResponse& out);

/// Is for the answers of Delete and of Update.
template <typename Answer>
void tell_receipt(const changes::Receipt& receipt, Answer& out) {
  out.set_done(receipt.done);
  out.set_missing(receipt.missing);
  out.set_version(receipt.version);
}

}  // namespace farvec::compute_node
