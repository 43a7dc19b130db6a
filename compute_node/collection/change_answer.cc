#include "compute_node/collection/change_answer.h"

namespace farvec::compute_node {
namespace {

template <typename Answer>
void tell_attributes(const layout::Tuples& tuples, Answer& out) {
  out.mutable_attributes()->assign(reinterpret_cast<const char*>(tuples.bytes.data()),
                                   tuples.bytes.size());
  out.mutable_attribute_ends()->Add(tuples.ends.begin(), tuples.ends.end());
}

}  // namespace

void tell_rows(const changes::FoundRows& found, collection::v1::GetResponse& out) {
  out.mutable_found()->Add(found.found.begin(), found.found.end());
  out.mutable_rows()->assign(reinterpret_cast<const char*>(found.rows.data()), found.rows.size());
  tell_attributes(found.attributes, out);
  out.set_version(found.version);
}

void tell_list(const changes::ListedRows& listed, collection::v1::ListResponse& out) {
  out.set_matches(listed.matches);
  out.mutable_ids()->Add(listed.ids.begin(), listed.ids.end());
  out.set_more(listed.more);
  tell_attributes(listed.attributes, out);
  out.set_version(listed.version);
}

}  // namespace farvec::compute_node
