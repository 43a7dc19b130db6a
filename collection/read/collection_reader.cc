#include "collection/read/collection_reader.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace farvec::collection {
namespace {

/// A writer may replace what is being opened each time, but not this often.
constexpr int kAttempts = 20;

/// Decides whether a failure is worth another try: what a writer replaces, or is writing to the log
/// just then, is different the next time; what is damaged stays damaged.
class Attempts {
 public:
  explicit Attempts(CollectionSource& source) : source_(source) {}

  bool may_retry(const Error& error, const layout::CollectionManifest& manifest) {
    const bool same = before_ == error.what() && source_.manifest() == manifest;
    before_ = error.what();
    const auto now = std::chrono::steady_clock::now();
    if (!same) same_since_ = now;
    if (++attempts_ == kAttempts || (same && now - same_since_ >= source_.delay())) return false;
    if (same) std::this_thread::sleep_for(source_.delay() / 4);
    return true;
  }

 private:
  CollectionSource& source_;
  int attempts_ = 0;
  std::string before_;
  std::chrono::steady_clock::time_point same_since_;
};

/// The manifest is read once more after the log: it is the newest that there was when the log went
/// on.
bool is_still_newest(CollectionSource& source, const layout::CollectionManifest& manifest) {
  return source.delay() == std::chrono::milliseconds(0) && source.manifest() == manifest;
}

}  // namespace

CollectionReader::CollectionReader(CollectionSource& source, const SegmentAccess& access,
                                   const Reading& reading) {
  Attempts attempts(source);
  std::uint64_t accepted = 0;
  for (;;) {
    manifest_ = source.manifest();
    if (manifest_.options.in_pages() && reading.records == Reading::Records::load) {
      require_tier_of_pages(access);
    }
    contents_ = std::make_unique<Contents>(memtable_options(manifest_));
    try {
      std::vector<View::Bulk> segments =
          source.open(access, reading.known == nullptr ? View() : *reading.known, reading.on_chunk);
      // They are loaded before the log, which takes longest: a writer may remove their files at any
      // moment.
      for (const View::Bulk& bulk : segments) {
        if (reading.records == Reading::Records::load)
          bulk.segment->records().load(reading.on_chunk);
      }
      contents_->begin(std::move(segments), manifest_.last_version, manifest_.schema);
      log_.emplace(manifest_, source.log(reading.log_nodes.get()), reading.tail, accepted);
      log_->run(*contents_);
      return;
    } catch (const SkippedChanges& skipped) {
      if (is_still_newest(source, manifest_)) {
        accepted = std::max(accepted, skipped.next_version);
      } else if (!attempts.may_retry(skipped, manifest_)) {
        throw;
      }
    } catch (const Error& error) {
      if (!attempts.may_retry(error, manifest_)) throw;
    }
  }
}

void CollectionReader::link(unsigned threads) {
  for (const auto& memtable : contents_->memtables()) {
    if (memtable->worth_linking()) link_rest(*memtable, threads);
  }
}

}  // namespace farvec::collection
