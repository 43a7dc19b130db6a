#include "changes/changing.h"

namespace farvec::changes {
namespace {

[[noreturn]] void throw_no_attributes() {
  throw StatusError(StatusCode::failed_precondition,
                    "rows have attributes in a collection alone: others take no filters");
}

}  // namespace

void check_columns(const layout::Schema& schema, const layout::Schema& more) {
  if (more.empty()) throw StatusError(StatusCode::invalid_argument, "columns: none came");
  try {
    (void)schema.with(more);
  } catch (const Error& error) {
    throw StatusError(StatusCode::invalid_argument, "columns: {}", error.what());
  }
}

void Changing::add_columns(const layout::Schema&) {
  throw_no_attributes();
}

ListedRows Changing::list(const Listing&, const Patience&) const {
  throw_no_attributes();
}

void Changing::erase_matching(const std::string&, const Patience&, Receipt&) {
  throw_no_attributes();
}

void Changing::update(std::span<const std::uint64_t>, const ColumnValues&, const Patience&,
                      Receipt&) {
  throw_no_attributes();
}

void Changing::update_matching(const std::string&, const ColumnValues&, const Patience&, Receipt&) {
  throw_no_attributes();
}

}  // namespace farvec::changes
