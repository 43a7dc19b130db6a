#include "cli/collection/changed_ids.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace farvec::cli {

void add_changed_rows_options(Command& command, ChangedRowsArguments& a) {
  command.add_option("--ids", a.ids, "File of ids: .ibin with rows of one");
  command.add_option("--range", a.range, "A:B, ids from A to B - 1");
  command.add_option("--filter", a.filter,
                     "Vectors that meet this condition; `true` means all: \"price < 20\"");
}

void check_changed_rows(const ChangedRowsArguments& arguments) {
  const std::vector<bool> given{!arguments.ids.empty(), !arguments.range.empty(),
                                !arguments.filter.empty()};
  if (std::count(given.begin(), given.end(), true) == 1) return;
  throw Error("give one of --ids, --range and --filter");
}

std::vector<std::uint64_t> numbered(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> ids(count);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

ChangedIds::ChangedIds(const ChangedRowsArguments& arguments) {
  if (arguments.ids.empty()) {
    range_ = measure::parse_id_range(arguments.range, std::numeric_limits<std::size_t>::max());
    return;
  }
  file_ = dataset::read_groundtruth(arguments.ids);
  range_ = {0, file_.ids.size()};
  if (file_.k == 1) return;
  throw Error("'{}' has rows of {} ids, a list of ids has rows of one", arguments.ids, file_.k);
}

std::vector<std::uint64_t> ChangedIds::take(std::size_t most) {
  const std::size_t begin = range_.begin;
  range_.begin += std::min(most, count());
  if (file_.ids.empty()) return numbered(begin, range_.begin - begin);
  const auto first = file_.ids.begin();
  return {first + static_cast<std::ptrdiff_t>(begin),
          first + static_cast<std::ptrdiff_t>(range_.begin)};
}

}  // namespace farvec::cli
