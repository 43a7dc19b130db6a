#include "compute_node/daemon/regrouper.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/file_names.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "base/progress.h"
#include "indexing/regroup_recipe.h"
#include "layout/collection/index_companions.h"
#include "layout/index/index_removal.h"
#include "rpc/channel.h"

namespace farvec::compute_node {
namespace {

constexpr const char* kMark = ".regrouped-";
/// The largest number: a directory with a larger one was not made here.
constexpr std::uint64_t kMostNumber = 1'000'000'000'000;
/// Fewer probes, on average, say too little of which clusters are probed most.
constexpr std::uint64_t kProbesPerCluster = 8;
/// A look that found too little to gain is repeated when there are this many times the probes.
constexpr std::uint64_t kGrowth = 2;
constexpr std::chrono::milliseconds kAnswerTime{2'000};
constexpr std::chrono::milliseconds kLoadTime{3'600'000};

std::vector<rpc::Address> addresses_of(const std::string& list) {
  return list.empty() ? std::vector<rpc::Address>() : rpc::parse_addresses(list);
}

/// Returns the N of "NAME.regrouped-N"; none for other names.
std::optional<std::uint64_t> number_of(const std::string& file, const std::string& name) {
  const std::string begin = name + kMark;
  if (!file.starts_with(begin)) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = file.data() + file.size();
  const auto [rest, error] = std::from_chars(file.data() + begin.size(), end, number);
  if (error != std::errc() || rest != end || number > kMostNumber) return std::nullopt;
  return number;
}

/// Returns the text of the file that marks a directory as made here.
std::string words_of(const layout::Manifest& manifest) {
  return fmt::format("{}{:016x}\n", layout::kRegroupedWords,
                     layout::manifest_checksum(layout::manifest_to_json(manifest)));
}

void mark_as_made(const std::filesystem::path& path) {
  const std::string words = words_of(layout::IndexDirectory::open(path).manifest());
  OutputFile file(path / layout::kRegroupedFile, words.size());
  file.append(words.data(), words.size());
  file.commit();
}

bool is_made(const layout::IndexDirectory& directory) {
  const std::filesystem::path file = directory.path() / layout::kRegroupedFile;
  const std::string words = words_of(directory.manifest());
  return std::filesystem::exists(file) && std::filesystem::file_size(file) == words.size() &&
         read_text(file.string(), words.size(), "a word on who made an index") == words;
}

}  // namespace

Regrouper::Regrouper(const Supervisor& supervisor, RegroupOptions options,
                     const std::string& memory_node, std::shared_ptr<const rpc::Tls> tls)
    : supervisor_(supervisor),
      options_(std::move(options)),
      index_(settled_path(options_.index)),
      memory_node_(rpc::parse_address(memory_node)),
      beside_(addresses_of(options_.beside), kAnswerTime, tls),
      tls_(std::move(tls)),
      thread_([this] { run(); }) {}

Regrouper::~Regrouper() {
  {
    const std::lock_guard lock(mutex_);
    stop_.store(true, std::memory_order_relaxed);
    if (loading_ != nullptr) loading_->TryCancel();
  }
  wake_.notify_all();
  thread_.join();
}

void Regrouper::run() {
  const std::chrono::duration<double> pause(options_.every_seconds);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, pause, [this] { return stopping(); })) {
    lock.unlock();
    try {
      look();
    } catch (const WorkInterrupted&) {
      // The node ends.
    } catch (const std::exception& error) {
      spdlog::warn("the index is not grouped again: {}", error.what());
    }
    lock.lock();
  }
}

void Regrouper::look() {
  const std::shared_ptr<Engine> engine = supervisor_.engine();
  if (engine == nullptr || engine->index().generation == left_) return;
  const std::optional<search::ProbeTally> probes = enough_probes(*engine);
  if (!probes) return;
  const layout::IndexDirectory directory = served(engine->index());
  const auto check = [this] {
    if (stopping()) throw WorkInterrupted();
  };
  indexing::StoredClusters stored = indexing::read_clusters(
      directory, {.threads = 1, .quiet = true, .on_chunk = [&check](std::uint64_t) { check(); }});
  indexing::Regrouping regrouping = indexing::regroup(stored, probes->counts, 1);
  spdlog::info("other groups would save {:.1f}% of the requests ({:.1f}% are worth it)",
               100 * regrouping.cut(), 100 * options_.least_gain);
  if (regrouping.cut() < options_.least_gain) return;
  const indexing::ClusterRecipe recipe = indexing::recipe_of(stored.manifest.cluster().geometry);
  const std::filesystem::path path = next_path();
  indexing::write_clusters(
      path, std::move(stored).grouped(std::move(regrouping.homes)), recipe,
      {.threads = 1, .quiet = true, .interrupted = [this] { return stopping(); }});
  layout::copy_companions(directory, path);
  mark_as_made(path);
  publish(path);
  left_ = engine->index().generation;
  remove_others(directory.path(), path);
}

std::optional<search::ProbeTally> Regrouper::enough_probes(const Engine& engine) {
  std::optional<search::ProbeTally> probes = engine.probes();
  if (!probes) return std::nullopt;
  beside_.add_probes(std::nullopt, *probes, [this] { return stopping(); });
  const auto& counts = probes->counts;
  const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  const std::uint64_t generation = engine.index().generation;
  if (generation != judged_generation_) judged_probes_ = 0;
  if (sum < std::max(kProbesPerCluster * counts.size(), kGrowth * judged_probes_)) {
    return std::nullopt;
  }
  judged_generation_ = generation;
  judged_probes_ = sum;
  return probes;
}

/// Returns all directories with such a name by number, also those that were not made here.
std::vector<std::filesystem::path> Regrouper::named() const {
  std::vector<std::pair<std::uint64_t, std::filesystem::path>> found;
  for (const auto& entry : std::filesystem::directory_iterator(index_.parent_path())) {
    const std::string name = entry.path().filename().string();
    if (const auto number = number_of(name, index_.filename().string())) {
      found.emplace_back(*number, entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::filesystem::path> paths;
  paths.reserve(found.size());
  for (auto& [number, path] : found) paths.push_back(std::move(path));
  return paths;
}

/// Returns none where it is not an index, which is logged once.
std::optional<layout::IndexDirectory> Regrouper::open_or_tell(const std::filesystem::path& path) {
  try {
    return layout::IndexDirectory::open(path);
  } catch (const std::exception& error) {
    if (told_.insert(path).second) {
      spdlog::warn("'{}' is passed over and stays: {}", path.string(), error.what());
    }
    return std::nullopt;
  }
}

/// Returns the directory of the index that is served. Throws Error when there is none.
layout::IndexDirectory Regrouper::served(const ServedIndex& index) {
  std::vector<std::filesystem::path> paths = named();
  paths.push_back(index_);
  for (const std::filesystem::path& path : paths) {
    std::optional<layout::IndexDirectory> directory = open_or_tell(path);
    if (!directory) continue;
    const std::string json = layout::manifest_to_json(directory->manifest());
    if (layout::manifest_checksum(json) == index.manifest_xxh3) return *std::move(directory);
  }
  throw Error("neither '{}' nor a {}N beside it is the index that the memory node serves",
              index_.string(), kMark);
}

std::filesystem::path Regrouper::next_path() const {
  const std::vector<std::filesystem::path> before = named();
  const std::string name = index_.filename().string();
  const std::uint64_t last =
      before.empty() ? 0 : number_of(before.back().filename().string(), name).value();
  return index_.parent_path() / fmt::format("{}{}{}", name, kMark, last + 1);
}

/// Loads the index. The call ends with the node too.
memory_node::v1::LoadResponse Regrouper::load(const std::filesystem::path& path) {
  rpc::ConnectOptions connect;
  connect.tls = tls_;
  connect.stop = &stop_;
  const auto stub = memory_node::v1::MemoryNode::NewStub(rpc::connect(memory_node_, connect));
  const auto context = std::make_shared<grpc::ClientContext>();
  {
    const std::lock_guard lock(mutex_);
    if (stopping()) throw WorkInterrupted();
    loading_ = context;
  }
  return rpc::load_index(*stub, *context, {rpc::to_string(memory_node_), path.string(), kLoadTime});
}

/// Publishes a directory. One that the memory node does not take is removed.
void Regrouper::publish(const std::filesystem::path& path) {
  try {
    const auto done = load(path);
    spdlog::info("'{}' is published, generation {}", path.string(), done.generation());
  } catch (...) {
    layout::remove_index_with_warning(path);
    throw;
  }
  published_.fetch_add(1, std::memory_order_relaxed);
}

/// Removes the directories that were made before these two.
void Regrouper::remove_others(const std::filesystem::path& former,
                              const std::filesystem::path& now) {
  for (const std::filesystem::path& path : named()) {
    if (path == former || path == now) continue;
    const std::optional<layout::IndexDirectory> directory = open_or_tell(path);
    if (directory && is_made(*directory)) layout::remove_index_with_warning(path);
  }
}

}  // namespace farvec::compute_node
