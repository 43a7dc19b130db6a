#include "changes/changing.h"

namespace farvec::changes {
namespace {

[[noreturn]] void throw_no_attributes() {
  throw StatusError(StatusCode::failed_precondition,
                    "rows have attributes in a collection alone: others take no filters");
}

}  // namespace

ListedRows Changing::list(const Listing&, const Patience&) const {
  throw_no_attributes();
}

void Changing::erase_matching(const std::string&, const Patience&, Receipt&) {
  throw_no_attributes();
}

}  // namespace farvec::changes
