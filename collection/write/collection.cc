#include "collection/write/collection.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/file_names.h"
#include "base/progress.h"
#include "base/status_error.h"
#include "base/stored_form.h"
#include "collection/build/page_recipe.h"
#include "collection/read/list_rows.h"
#include "collection/segment/segment_folder.h"
#include "collection/state/kept_rows.h"
#include "collection/write/facts.h"
#include "indexing/code_bits.h"
#include "wal/log_segment_files.h"

namespace farvec::collection {
namespace {

/// Rows that get() reads between two looks at an interruption.
constexpr std::size_t kRowsBetweenLooks = 256;
/// Rows of an insert, and ids of an erase, between two looks at an interruption.
constexpr std::size_t kMostBatchRows = 4096;
constexpr std::size_t kBatchIds = std::size_t{1} << 16;
/// A memtable that has no room for a whole batch becomes a segment before it is full. With this
/// many batches in a memtable at most an eighth of it stays empty.
constexpr std::size_t kBatchesPerMemtable = 8;

std::size_t batch_rows(std::size_t memtable_rows) {
  return std::clamp<std::size_t>(memtable_rows / kBatchesPerMemtable, 1, kMostBatchRows);
}

/// A process that does not search may name any tier. Nodes would be brought the segments.
void require_tier(const layout::CollectionOptions& options, const CollectionAccess& access) {
  const bool used = access.link || access.segments.nodes != nullptr;
  if (options.in_pages() && used) require_tier_of_pages(access.segments);
}

OpenedCollection opened_in(const std::filesystem::path& folder, const CollectionAccess& access,
                           const OpenedLog& log) {
  OpenedCollection opened{folder, log.manifest, access};
  opened.access.most_log_bytes = std::min(access.most_log_bytes, log.log->most_bytes());
  SegmentAccess& segments = opened.access.segments;
  if (segments.nodes != nullptr) {
    segments.collection = log.manifest.segments_on_nodes;
    opened.publisher = std::make_shared<SegmentPublisher>(segments.nodes, segments.collection);
  }
  return opened;
}

/// Opens the log. Where segments lie on memory nodes, which hold those of other collections too,
/// gives the collection its number there when it is first opened with nodes.
OpenedLog open_numbered(const std::filesystem::path& folder, const CollectionAccess& access) {
  if (access.segments.nodes != nullptr && !is_utf8(folder.string())) {
    throw Error("'{}' is no UTF-8, as the names that memory nodes are told must be: rename it",
                folder.string());
  }
  const layout::CollectionManifest manifest = layout::read_collection(folder);
  require_tier(manifest.options, access);
  OpenedLog opened =
      access.logged ? open_log(folder, access.log_nodes.get()) : open_without_log(folder);
  if (access.segments.nodes != nullptr && opened.manifest.segments_on_nodes == 0) {
    opened.manifest.segments_on_nodes = std::max<std::uint64_t>(wal::random_word(), 1);
    ++opened.manifest.revision;
    layout::write_collection(folder, opened.manifest);
  }
  return opened;
}

/// Throws when the folder holds no collection. It is called before the folder is locked, so that
/// the message says this.
const std::filesystem::path& require_collection(const std::filesystem::path& folder) {
  (void)layout::read_collection(folder);
  return folder;
}

/// The caller may change the values meanwhile: what is checked is what is kept.
NewValues checked_copy(const changes::ColumnValues& update, std::size_t rows,
                       const layout::Schema& schema) {
  NewValues values;
  values.tuples = layout::Tuples::copy_of(update.values);
  values.columns = changes::check_values({update.columns, values.tuples.view()}, schema);
  const std::size_t count = values.tuples.count();
  if (count == 1 || count == rows) return values;
  throw StatusError(
      StatusCode::invalid_argument,
      "{} ids and the new values of {} rows: every row has its own, or one is for all", rows,
      count);
}

void require_store(const layout::CollectionManifest& manifest, const layout::SpellOption& spell) {
  try {
    layout::check_reduction(*manifest.options.store, manifest.metric, manifest.source_type);
  } catch (const StatusError& error) {
    throw StatusError(error.code, "{}: {}", spell("store"), error.what());
  }
}

void require_codes_fit(const layout::CollectionManifest& manifest,
                       const layout::SpellOption& spell) {
  const layout::CollectionOptions& options = manifest.options;
  if (options.kind == layout::IndexKind::cluster) {
    return indexing::require_codes_fit(manifest.segment_type(), options.clusters.layout);
  }
  indexing::require_codes_fit(manifest.segment_type(), options.layout, options.code_bits,
                              spell("code_bits"));
}

}  // namespace

void Collection::create(const std::filesystem::path& given, layout::CollectionManifest manifest,
                        const layout::SpellOption& spell, std::uint64_t log_segment_bytes) {
  layout::check_new_collection(manifest, spell);
  require_metric_fits(manifest.metric, manifest.source_type);
  if (manifest.options.store) require_store(manifest, spell);
  manifest.stored_type =
      layout::whole_type(manifest.options.store, manifest.metric, manifest.source_type);
  require_codes_fit(manifest, spell);
  if (manifest.options.in_pages()) (void)page_recipe(manifest, spell);
  const std::filesystem::path folder = settled_path(given);
  if (std::filesystem::is_directory(folder) && !std::filesystem::is_empty(folder)) {
    throw Error("'{}' is there already and not empty: a collection begins in a new folder",
                folder.string());
  }
  const NewFolders folders(folder);
  try {
    std::filesystem::create_directory(folder / layout::kCollectionSegmentsFolder);
    if (log_segment_bytes > 0) {
      wal::LogOptions options;
      options.folder = folder / layout::kCollectionLogFolder;
      options.segment_bytes = log_segment_bytes;
      manifest.log_position = wal::Log::create(options)->end();
    }
    layout::write_collection(folder, std::move(manifest));
  } catch (...) {
    std::error_code ignored;  // what made it fail is what counts
    std::filesystem::remove_all(folder / layout::kCollectionSegmentsFolder, ignored);
    std::filesystem::remove_all(folder / layout::kCollectionLogFolder, ignored);
    folders.take_back();
    throw;
  }
}

Collection::Collection(const std::filesystem::path& folder, const CollectionAccess& access)
    : folder_(settled_path(folder)),
      directory_lock_(require_collection(folder_)),
      log_(open_numbered(folder_, access)),
      opened_(opened_in(folder_, access, log_)),
      manifests_(opened_),
      writer_(opened_, manifests_, *log_.log),
      background_(opened_, writer_, manifests_) {}

Collection::~Collection() {
  // What a build publishes meanwhile ends soon.
  if (opened_.publisher != nullptr) opened_.publisher->stop();
}

changes::RowShape Collection::row_shape() const {
  return {.type = shape().source_type,
          .stored_type = shape().stored_type,
          .dimension = shape().dimension,
          .metric = shape().metric,
          .schema = *view()->schema,
          .batch_rows = batch_rows(shape().options.memtable_rows),
          .batch_ids = kBatchIds,
          .batch_gets = std::numeric_limits<std::size_t>::max()};
}

nlohmann::ordered_json Collection::now() const {
  return state_json(*view(), state());
}

void Collection::check(const changes::RowBatch& batch) const {
  const auto& [rows, ids, attributes] = batch;
  if (rows.type != shape().source_type || rows.dimension != shape().dimension) {
    throw Error("rows of {} x {} do not fit a collection of {} x {}", rows.dimension,
                to_string(rows.type), shape().dimension, to_string(shape().source_type));
  }
  changes::check_shape(batch, *view()->schema);
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string fault = fault_of_kept(rows.row(i), shape());
    if (!fault.empty()) {
      throw StatusError(StatusCode::invalid_argument, "row {} (id {}) {}", i, ids[i], fault);
    }
    if (!seen.insert(ids[i]).second) {
      throw StatusError(StatusCode::invalid_argument, "id {} comes twice in one batch", ids[i]);
    }
  }
}

/// Makes a change, counts what it has done even where it throws, and throws Refusal where it was
/// not done as a whole.
void Collection::done(Receipt& receipt, const std::function<Status(Receipt&)>& change) {
  Receipt here;
  Status status;
  try {
    status = change(here);
  } catch (...) {
    receipt += here;
    throw;
  }
  receipt += here;
  require_done(status);
}

void Collection::insert(const changes::RowBatch& batch, const changes::Patience& patience,
                        Receipt& receipt) {
  done(receipt, [&](Receipt& here) { return writer_.insert(batch, patience.until, here); });
}

void Collection::insert_unlinked(const changes::RowBatch& batch, const changes::Patience& patience,
                                 Receipt& receipt) {
  done(receipt, [&](Receipt& here) {
    return writer_.insert(batch, patience.until, here, Writer::Unlinked::many);
  });
}

void Collection::erase(std::span<const std::uint64_t> ids, const changes::Patience& patience,
                       Receipt& receipt) {
  done(receipt, [&](Receipt& here) { return writer_.erase(ids, patience.until, here); });
}

void Collection::erase_matching(const std::string& filter, const changes::Patience& patience,
                                Receipt& receipt) {
  const attributes::ConditionPointer condition = parse_filter(filter, *view()->schema);
  done(receipt, [&](Receipt& here) { return writer_.erase(*condition, patience, here); });
}

void Collection::update(std::span<const std::uint64_t> ids, const changes::ColumnValues& update,
                        const changes::Patience& patience, Receipt& receipt) {
  const NewValues values = checked_copy(update, ids.size(), *view()->schema);
  done(receipt, [&](Receipt& here) { return writer_.update(ids, values, patience, here); });
}

void Collection::update_matching(const std::string& filter, const changes::ColumnValues& update,
                                 const changes::Patience& patience, Receipt& receipt) {
  const std::shared_ptr<const layout::Schema> schema = view()->schema;
  const NewValues values = checked_copy(update, 1, *schema);
  const attributes::ConditionPointer condition = parse_filter(filter, *schema);
  done(receipt, [&](Receipt& here) { return writer_.update(*condition, values, patience, here); });
}

changes::ListedRows Collection::list(const changes::Listing& asked,
                                     const changes::Patience& patience) const {
  return list_rows(*view(), asked, patience.interrupted);
}

void Collection::add_columns(const layout::Schema& columns) {
  writer_.add_columns(columns);
}

void Collection::end_rest() {
  const Writer::Lock lock = writer_.lock();
  writer_.end_rest();
}

void Collection::make_durable(const changes::Patience& patience) {
  require_done(writer_.make_durable(patience.until));
}

void Collection::require_done(const Status& status) const {
  if (!status.ok()) throw changes::Refusal(status.code(), reason(status));
}

std::string Collection::build_failure() const {
  const Writer::Lock lock = writer_.lock();
  return background_.build_failure();
}

bool Collection::build_lacks_disk() const {
  const Writer::Lock lock = writer_.lock();
  return background_.build_lacks_disk();
}

/// Returns the reason in words. Where there is no room because segments cannot be built, it says
/// why they cannot. Segments make room in memtables and in the log.
std::string Collection::reason(const Status& status) const {
  if (status.code() != StatusCode::resource_exhausted) return status.message();
  const std::string failure = build_failure();
  // Where nothing fails, segments are built, but too slowly.
  if (failure.empty()) return status.message();
  if (!Writer::is_about_room(status)) {
    return fmt::format("{}; a segment cannot be built, and is tried again: {}", status.message(),
                       failure);
  }
  return fmt::format(
      "there is no room for more rows until a segment is built, which fails and is tried again: {}",
      failure);
}

FoundRows Collection::get(std::span<const std::uint64_t> ids,
                          const changes::Patience& patience) const {
  const auto [view, locations] = writer_.find(ids, patience.interrupted);
  FoundRows result;
  result.version = view->version;
  const bool attributed = !view->schema->empty();
  const std::size_t row_bytes = packed_bytes(shape().stored_type, shape().dimension);
  for (const std::optional<Contents::RowLocation>& at : locations) {
    if (result.attributes.bytes.size() >= changes::kMostReadAttributes) break;
    const bool looks = result.found.size() % kRowsBetweenLooks == 0;
    if (looks && asked_to_end(patience.interrupted)) throw WorkInterrupted();
    result.found.push_back(at.has_value());
    if (!at) continue;
    result.rows.resize(result.rows.size() + row_bytes);
    const std::span<std::byte> row = std::span(result.rows).last(row_bytes);
    const RowPlace place = at->in(*view);
    if (place.memtable != nullptr) {
      std::memcpy(row.data(), place.memtable->row(place.row), row_bytes);
    } else {
      require_done(place.segment->read_row(place.row, row, patience.until));
    }
    if (attributed) place.append_attributes(result.attributes);
  }
  return result;
}

WriterState Collection::state() const {
  const wal::Log& log = writer_.log();
  const Status logged = log.failure();
  const auto& publisher = opened_.publisher;
  const std::string unpublished = publisher != nullptr ? publisher->failure() : "";
  const Writer::Lock lock = writer_.lock();
  const BackgroundCounts& counts = background_.counts();
  const std::string failure = background_.failure();
  return {.log_bytes = log.disk_bytes(),
          .log_copies = log.copies(),
          .segment_copies_missing = publisher != nullptr ? publisher->missing_copies() : 0,
          .built = counts.built,
          .merged = counts.merged,
          .written_bytes = counts.segment_bytes + writer_.logged_bytes(),
          .failures = counts.failures,
          .merge = background_.merge_progress(),
          .build = background_.build_progress(),
          .import = background_.import_progress(),
          .failure = !logged.ok()      ? logged.message()
                     : failure.empty() ? unpublished
                                       : failure};
}

}  // namespace farvec::collection
