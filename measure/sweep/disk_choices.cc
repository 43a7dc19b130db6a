#include "measure/sweep/disk_choices.h"

#include "base/error.h"
#include "measure/report/measurement.h"

namespace farvec::measure {

using search::DiskArguments;
using search::DiskChoice;

namespace {

/// Returns every one of `lists` with each word of its list `member`.
std::vector<DiskArguments> times(const std::vector<DiskArguments>& lists,
                                 std::string DiskArguments::*member) {
  std::vector<DiskArguments> product;
  for (const DiskArguments& arguments : lists) {
    for (const std::string& word : split_words(arguments.*member)) {
      product.push_back(arguments);
      product.back().*member = word;
    }
  }
  return product;
}

}  // namespace

std::vector<DiskChoice> disk_choices(const DiskArguments& arguments,
                                     const layout::Manifest& manifest) {
  using search::parse_disk_choice;
  std::vector<DiskArguments> each = {arguments};
  each = times(each, &DiskArguments::memory_budget);
  if (manifest.is_slotted()) {
    for (const auto member :
         {&DiskArguments::pool, &DiskArguments::search, &DiskArguments::prefetch,
          &DiskArguments::page_search, &DiskArguments::rerank}) {
      each = times(each, member);
    }
  }
  std::vector<DiskChoice> choices;
  choices.reserve(each.size());
  for (const DiskArguments& one : each) choices.push_back(parse_disk_choice(one, manifest));
  return choices;
}

DiskChoice one_disk_choice(const DiskArguments& arguments, const layout::Manifest& manifest) {
  const auto choices = disk_choices(arguments, manifest);
  if (choices.size() > 1) {
    throw Error(
        "give one each of --memory-budget, --search, --pool, --prefetch, --page-search and "
        "--rerank: `farvec sweep` compares several");
  }
  return choices.front();
}

}  // namespace farvec::measure
