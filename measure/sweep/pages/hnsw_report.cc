#include "measure/sweep/pages/hnsw_report.h"

#include <fmt/format.h>

#include "base/clock.h"

namespace farvec::measure {

using Json = nlohmann::ordered_json;
using paged::FetchCounts;
using paged::HnswCounts;
using paged::HnswLayerCounts;
using paged::HnswWork;
using paged::StoreCounts;

namespace {

/// Returns the pages of everything that changes read.
FetchCounts all_pages(const HnswWork& work) {
  FetchCounts pages = pages_of(work.counts);
  pages += work.counts.meta;
  pages += work.counts.selection;
  return pages;
}

double per_second(const HnswWork& work) {
  return work.seconds > 0 ? static_cast<double>(work.done) / work.seconds : 0;
}

}  // namespace

Json work_json(const HnswWork& work, const StoreCounts& store, std::uint32_t page_bytes) {
  const FetchCounts pages = all_pages(work);
  return {{"done", work.done},
          {"seconds", work.seconds},
          {"per_second", per_second(work)},
          {"write_back_seconds", work.write_back_seconds},
          {"pages_asked", pages.asked},
          {"hit_ratio", hit_ratio(pages)},
          {"miss_penalty_us", miss_penalty_us(pages)},
          {"read_bytes", store.page_reads * page_bytes},
          {"written_bytes", store.page_writes * page_bytes},
          {"log_bytes", store.log_bytes},
          {"image_bytes", store.image_bytes},
          {"retries", work.written.retries},
          {"edges_left_out", work.written.left_out},
          {"pages_added", work.written.pages_added},
          {"placed_by_partition", work.placement.placed},
          {"extended_pages", work.placement.extended},
          {"placed_by_fallback", work.placement.fallback},
          {"wished_pages", work.placement.wished},
          {"given_pages", work.placement.given}};
}

void print_work(const char* what, const HnswWork& work, const StoreCounts& store,
                std::uint32_t page_bytes) {
  const double mib = static_cast<double>(page_bytes) / (1 << 20);
  fmt::print(
      "{} {} in {:.1f} s, {:.0f} a second; {:.1f}% of the pages were in the buffer\n"
      "{:.1f} MiB of pages read, {:.1f} MiB written (the last in {:.1f} s more), {:.1f} MiB of "
      "log\n",
      work.done, what, work.seconds, per_second(work), 100 * hit_ratio(all_pages(work)),
      static_cast<double>(store.page_reads) * mib, static_cast<double>(store.page_writes) * mib,
      work.write_back_seconds, static_cast<double>(store.log_bytes) / (1 << 20));
}

Json layers_json(const HnswCounts& counts) {
  Json layers = Json::array();
  for (std::size_t layer = 0; layer < counts.layers.size(); ++layer) {
    const HnswLayerCounts& of = counts.layers[layer];
    if (of.visited == 0) continue;
    layers.push_back({{"layer", layer},
                      {"visited", of.visited},
                      {"expanded", of.expanded},
                      {"pages_asked", of.pages.asked},
                      {"hit_ratio", hit_ratio(of.pages)},
                      {"miss_penalty_us", miss_penalty_us(of.pages)}});
  }
  return layers;
}

}  // namespace farvec::measure
