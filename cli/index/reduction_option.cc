#include "cli/index/reduction_option.h"

#include <vector>

#include "base/error.h"
#include "base/option_rules.h"

namespace farvec::cli {

indexing::ReductionWish ReductionOption::wish() const {
  indexing::ReductionWish wish;
  wish.type = parse_element_type(store);
  wish.bits_metric = parse_metric(bits_metric);
  wish.rule = *find_bit_rule(by);
  if (!second.empty()) wish.second = parse_element_type(second);
  return wish;
}

void add_reduction_option(Command& command, ReductionOption& option) {
  command
      .add_option("--store", option.store,
                  "Type of the vectors in the index, or in the segments of a collection, where\n"
                  "these are to have fewer bits than the data: b1 (one bit of each element),\n"
                  "i8, u8 or f16. A second copy in the folder then ranks the candidates of each\n"
                  "search again [as the data]")
      .one_of({"b1", "i8", "u8", "f16"});
  command
      .add_option("--by", option.by,
                  "With --store b1: a bit is 1 where the element is above 0 (sign), or above the\n"
                  "mean or the median of that element over the data")
      .one_of({"sign", "mean", "median"})
      .show_default();
  command
      .add_option("--bits-metric", option.bits_metric,
                  "With --store b1: how bits are compared, hamming or jaccard")
      .one_of({"hamming", "jaccard"})
      .show_default();
  command
      .add_option("--second-copy", option.second,
                  "With --store: type of the second copy, f16 for half of the bytes of f32 [that\n"
                  "of the data]")
      .one_of({"f32", "f16", "u8", "i8"});
}

void refuse_unused_reduction(const Command& command, const ReductionOption& option) {
  const bool bits = option.store == "b1";
  refuse_unused(command,
                std::vector<OptionRule>{{"--by", bits, "--store b1"},
                                        {"--bits-metric", bits, "--store b1"},
                                        {"--second-copy", !option.store.empty(), "--store"}});
}

void refuse_sample_of_reduced(const ReductionOption& option, const std::string& sample_queries) {
  if (!option.given() || sample_queries.empty()) return;
  throw Error("--sample-queries: an index with --store {} takes no sample of queries",
              option.store);
}

}  // namespace farvec::cli
