#include "python/words.h"

#include <algorithm>
#include <utility>

namespace farvec::python {
namespace {

/// Says what an option is called here. Options that only programs have, such as --listen, are not
/// in it.
constexpr std::pair<std::string_view, std::string_view> kArguments[] = {
    {"--affinity-percentile", "affinity_percentile"},
    {"--allow-nonfinite", "allow_nonfinite=True"},
    {"--alpha", "alpha"},
    {"--balance", "balance"},
    {"--bits", "code_bits"},
    {"--buffer", "buffer"},
    {"--bytes", "bytes"},
    {"--cache-bytes", "cache_bytes"},
    {"--closure", "closure"},
    {"--closure-ratio", "closure_ratio"},
    {"--cluster-bytes", "cluster_bytes"},
    {"--cluster-rows", "cluster_rows"},
    {"--clusters", "clusters"},
    {"--code-bits", "code_bits"},
    {"--concurrency", "concurrency"},
    {"--data", "data"},
    {"--dedup", "dedup"},
    {"--degree", "degree"},
    {"--device", "device"},
    {"--dimension", "dimension"},
    {"--disk-seconds", "disk_seconds"},
    {"--durability", "durability"},
    {"--ef-construction", "ef_construction"},
    {"--entry-vertices", "entry_vertices"},
    {"--extension-bits", "extension_bits"},
    {"--graph-layout", "graph_layout"},
    {"--groundtruth", "groundtruth"},
    {"--head-ratio", "head_ratio"},
    {"--heads", "heads"},
    {"--html", "html"},
    {"--insert-pages", "insert_pages"},
    {"--insert-share", "insert_share"},
    {"--json", "json"},
    {"--k", "k"},
    {"--kind", "kind"},
    {"--layout", "layout"},
    {"--line-ns", "line_ns"},
    {"--list", "list"},
    {"--m", "m"},
    {"--memory-budget", "memory_budget"},
    {"--memory-rows", "memory_rows"},
    {"--memtable-rows", "memtable_rows"},
    {"--merge-fanout", "merge_fanout"},
    {"--merge-gap", "merge_gap"},
    {"--metric", "metric"},
    {"--min-complete", "min_complete"},
    {"--most-minutes", "most_minutes"},
    {"--most-queries", "most_queries"},
    {"--name", "name"},
    {"--order", "order"},
    {"--out", "out"},
    {"--overwrite", "overwrite=True"},
    {"--page-bytes", "page_bytes"},
    {"--page-search", "page_search"},
    {"--partition-nodes", "partition_nodes"},
    {"--pass-ms", "pass_ms"},
    {"--passes", "passes"},
    {"--payload", "payload"},
    {"--placement", "placement"},
    {"--pool", "pool"},
    {"--prefetch", "prefetch"},
    {"--probe", "probe"},
    {"--prune-ratio", "prune_ratio"},
    {"--queries", "queries"},
    {"--queries-range", "queries_range"},
    {"--recall", "recall"},
    {"--replicas", "replicas"},
    {"--rerank", "rerank"},
    {"--resume", "resume=True"},
    {"--rng-factor", "rng_factor"},
    {"--sample", "sample"},
    {"--sample-probe", "sample_probe"},
    {"--sample-queries", "sample_queries"},
    {"--scratch", "scratch"},
    {"--search", "search"},
    {"--seed", "seed"},
    {"--slots", "slots"},
    {"--threads", "threads"},
    {"--tier", "tier"},
    {"--tls-ca", "tls_ca"},
    {"--tls-cert", "tls_certificate"},
    {"--tls-key", "tls_key"},
    {"--type", "type"},
    {"--width", "width"},
};

bool is_of_option(char c) {
  return c == '-' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// Returns the bytes of a command that is quoted at the beginning of the text; 0: none is.
std::size_t quoted_command(std::string_view text) {
  const bool quoted = text.starts_with("'farvec") || text.starts_with("`farvec");
  const std::size_t end = quoted ? text.find(text.front(), 1) : std::string_view::npos;
  return end == std::string_view::npos ? 0 : end + 1;
}

/// Returns the bytes of an option at the beginning of the text; 0: there is none.
std::size_t option_bytes(std::string_view text) {
  if (!text.starts_with("--")) return 0;
  return std::min(text.size(), static_cast<std::size_t>(
                                   std::ranges::find_if_not(text, is_of_option) - text.begin()));
}

std::string_view argument_of(std::string_view option) {
  const auto* const found =
      std::ranges::find(kArguments, option, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(kArguments) ? option : found->second;
}

}  // namespace

std::string in_python_words(std::string_view message) {
  std::string said;
  while (!message.empty()) {
    std::size_t bytes = quoted_command(message);
    if (bytes > 0) {
      said += message.substr(0, bytes);
    } else if ((bytes = option_bytes(message)) > 0) {
      said += argument_of(message.substr(0, bytes));
    } else {
      bytes = 1;
      said += message.front();
    }
    message.remove_prefix(bytes);
  }
  return said;
}

}  // namespace farvec::python
