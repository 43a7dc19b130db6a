#include "measure/report/row_range.h"

#include "base/error.h"
#include "base/quantity.h"

namespace farvec::measure {

VectorView rows_in(const VectorView& rows, const RowRange& range) {
  return rows.part(range.begin, range.end - range.begin);
}

RowRange parse_range(const std::string& text, std::size_t count, const char* option) {
  if (text.empty()) return {0, count};
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw Error("{}: '{}' is not of the form A:B", option, text);
  const std::string first = text.substr(0, colon);
  const std::string last = text.substr(colon + 1);
  RowRange range{0, count};
  if (!first.empty()) range.begin = parse_number(first, option);
  if (!last.empty()) range.end = parse_number(last, option);
  if (range.begin >= range.end || range.end > count) {
    throw Error("{}: {}:{} is empty or beyond the {} that there are", option, range.begin,
                range.end, count);
  }
  return range;
}

RowRange parse_id_range(const std::string& text, std::size_t end) {
  if (text.empty() || text.back() == ':') {
    throw Error("--range: '{}' has no end: say A:B for the ids from A to B - 1", text);
  }
  return parse_range(text, end, "--range");
}

}  // namespace farvec::measure
