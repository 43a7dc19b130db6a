#include "layout/collection/collection_manifest.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "base/version.h"

namespace farvec::layout {
namespace {

/// Several times the bytes that kMostSegments take.
constexpr std::uint64_t kMostCollectionFileBytes = std::uint64_t{4} << 20;

}  // namespace

IndexKind parse_segment_kind(std::string_view text) {
  for (const IndexKind kind : {IndexKind::graph, IndexKind::cluster}) {
    if (text == to_string(kind)) return kind;
  }
  throw Error("'{}' is no kind of segments: use {} or {}", text, to_string(IndexKind::graph),
              to_string(IndexKind::cluster));
}

CollectionManifest read_collection(const std::filesystem::path& folder) {
  const std::string path = (folder / kCollectionFile).string();
  return collection_from_json(read_text(path, kMostCollectionFileBytes, "a collection's manifest"),
                              path);
}

void write_collection(const std::filesystem::path& folder, CollectionManifest manifest) {
  manifest.farvec_version = version();
  manifest.farvec_commit = commit();
  const std::string path = (folder / kCollectionFile).string();
  const std::string text = collection_to_json(manifest);
  (void)collection_from_json(text, path);  // text that cannot be read back replaces nothing
  OutputFile file(path, text.size());
  file.append(text.data(), text.size());
  file.commit();
}

}  // namespace farvec::layout
