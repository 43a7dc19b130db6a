#include "collection/collection_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "collection/log_place.h"
#include "collection/segment_files.h"
#include "search/unreachable_error.h"

namespace farvec::collection {
namespace {

/// A writer may replace what is being opened each time, but not so often.
constexpr int kAttempts = 20;

SegmentAccess access_to(const SegmentAccess& access, const layout::CollectionManifest& manifest,
                        const std::filesystem::path& folder) {
  SegmentAccess segments = access;
  segments.collection = manifest.segments_on_nodes;
  if (access.nodes != nullptr && segments.collection == 0) {
    throw search::UnreachableError(
        "the segments of '{}' are on no memory nodes: a writer with --segment-nodes brings them "
        "there",
        folder.string());
  }
  return segments;
}

}  // namespace

CollectionReader::CollectionReader(const std::filesystem::path& folder, const SegmentAccess& access,
                                   const Reading& reading) {
  std::string before;
  for (int attempt = 1;; ++attempt) {
    manifest_ = layout::read_collection(folder);
    contents_ = std::make_unique<Contents>(memtable_options(manifest_));
    try {
      SegmentFiles files(folder, manifest_);
      std::vector<View::Bulk> segments = files.open(
          access_to(access, manifest_, folder), reading.known == nullptr ? View() : *reading.known);
      // Before the log, which takes longest: a writer may remove their files at any moment.
      for (const View::Bulk& bulk : segments) {
        if (reading.records == Reading::Records::load) bulk.segment->load(reading.on_chunk);
      }
      contents_->begin(std::move(segments), manifest_.last_version);
      log_.emplace(manifest_, log_source(folder, manifest_, reading.log_nodes.get()), reading.tail)
          .run(*contents_);
      return;
    } catch (const Error& error) {
      // What a writer replaces, or is writing to the log just then, is another thing the next time;
      // what is damaged is so again.
      const bool again = before == error.what() && layout::read_collection(folder) == manifest_;
      if (again || attempt == kAttempts) throw;
      before = error.what();
    }
  }
}

void CollectionReader::link(unsigned threads) {
  for (const auto& memtable : contents_->memtables()) {
    if (!memtable->worth_linking()) continue;
    const unsigned workers = resolve_threads(threads);
    parallel_for(workers, 1, workers, [&](std::size_t, std::size_t, unsigned) {
      LinkScratch scratch;
      while (memtable->link_next(scratch)) {
      }
    });
  }
}

}  // namespace farvec::collection
