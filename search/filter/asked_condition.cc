#include "search/filter/asked_condition.h"

#include "base/error.h"
#include "base/status_error.h"
#include "search/index/row_attributes.h"

namespace farvec::search {

attributes::ConditionPointer asked_condition(const SearchIndex& index, const std::string& text,
                                             const char* name) {
  if (text.empty()) return nullptr;
  if (index.attributes() == nullptr) {
    throw StatusError(StatusCode::invalid_argument, "{}: the rows of the index have no attributes",
                      name);
  }
  try {
    return attributes::parse_condition(text, index.attributes()->schema());
  } catch (const Error& error) {
    throw StatusError(StatusCode::invalid_argument, "{}: {}", name, error.what());
  }
}

}  // namespace farvec::search
