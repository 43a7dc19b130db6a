// The command `farvec top` shows nodes at work, a line each, every second.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/nodes/asked_node.h"
#include "cli/nodes/recent_latency.h"
#include "cli/nodes/top_view.h"
#include "measure/report/json_text.h"
#include "rpc/address.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TopArguments {
  std::vector<std::string> addresses;
  rpc::TlsFiles tls;
  double every_s = 1;
  double timeout_s = 2;
  std::uint32_t rounds = 0;
  bool json = false;
};

/// What one look at a node saw.
struct Sight {
  Ticks at = 0;
  std::optional<NodeAnswers> answers;
  std::string failure;  ///< why there are no answers
};

/// Returns the growth since `before` per second; null where there is nothing before, or where the
/// node was started anew.
Json rate(std::uint64_t now, std::optional<std::uint64_t> before, double seconds) {
  if (!before || *before > now || seconds <= 0) return nullptr;
  return static_cast<double>(now - *before) / seconds;
}

template <typename Answers>
const Answers* former(const Sight& before) {
  return before.answers ? std::get_if<Answers>(&*before.answers) : nullptr;
}

std::uint64_t refused(const compute_node::v1::StatsResponse& stats) {
  return stats.refused_queue_full() + stats.refused_too_late() + stats.expired_in_queue();
}

/// Returns the latency of the queries since the last look; null where none ended well.
Json p99(const compute_node::v1::StatsResponse& now, const ComputeNodeAnswers* before) {
  if (before == nullptr) return nullptr;
  const auto us = latency_between(before->stats, now, 0.99);
  return us ? Json(*us) : Json(nullptr);
}

Json facts_of(const ComputeNodeAnswers& now, const ComputeNodeAnswers* before, double seconds) {
  const auto of = [&](const auto& count) {
    return rate(count(now), before != nullptr ? std::optional(count(*before)) : std::nullopt,
                seconds);
  };
  Json facts{{"node", "compute"},
             {"state", now.describe.attached() ? "serving" : "waiting"},
             {"vectors", now.describe.count()},
             {"queries_per_s", of([](const auto& node) { return node.stats.queries_ok(); })},
             {"p99_us", p99(now.stats, before)},
             {"refused_per_s", of([](const auto& node) { return refused(node.stats); })},
             {"running", now.stats.queries_in_flight()},
             {"waiting", now.stats.queries_queued()},
             {"reads_per_s", of([](const auto& node) { return node.stats.totals().reads(); })},
             {"reads_in_flight", now.stats.reads_in_flight()}};
  if (now.stats.has_recall()) facts["recall"] = now.stats.recall();
  if (now.collection) {
    facts["changes_per_s"] = of([](const ComputeNodeAnswers& node) -> std::uint64_t {
      if (!node.collection) return 0;
      return node.collection->inserted() + node.collection->deleted() + node.collection->updated();
    });
    if (!now.collection->failure().empty()) facts["failure"] = now.collection->failure();
  }
  if (now.describe.has_freshness_ms()) facts["stale_ms"] = now.describe.freshness_ms();
  if (!now.describe.follow_failure().empty()) facts["failure"] = now.describe.follow_failure();
  return facts;
}

Json facts_of(const MemoryNodeAnswers& now, const MemoryNodeAnswers*, double) {
  return {{"node", "memory"},
          {"state", state_word(now.describe.state())},
          {"leases", now.stats.leases()},
          {"table_bytes", now.stats.table_bytes()}};
}

Json facts_of(const std::string& address, const Sight& now, const Sight& before) {
  Json facts{{"address", address}};
  if (!now.answers) {
    facts.update(Json{{"node", nullptr}, {"state", "silent"}, {"failure", now.failure}});
    return facts;
  }
  const double seconds = ticks_to_us(now.at - before.at) * 1e-6;
  facts["seconds"] = seconds;  // the time that the rates are measured over
  facts.update(std::visit(
      [&]<typename Answers>(const Answers& answers) {
        return facts_of(answers, former<Answers>(before), seconds);
      },
      *now.answers));
  return facts;
}

/// Asks all nodes at once, so that one that is silent does not hold up the others.
std::vector<Sight> look(std::vector<AskedNode>& nodes, double patience_s) {
  std::vector<Sight> sights(nodes.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < sights.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          sights[i].answers = nodes[i].ask(patience_s);
        } catch (const std::exception& error) {
          sights[i].failure = error.what();
        }
        sights[i].at = now_ticks();
      });
    }
  }
  return sights;
}

void show(const TopArguments& arguments, const std::vector<Json>& nodes) {
  if (arguments.json) {
    for (const Json& node : nodes) fmt::print("{}\n", measure::json_text(node));
  } else {
    if (isatty(STDOUT_FILENO) == 1) fmt::print("\x1b[H\x1b[2J");  // clears the screen
    fmt::print("{}", top_view(nodes, terminal_columns()));
  }
  std::fflush(stdout);
}

void top(const TopArguments& arguments) {
  for (const std::string& address : arguments.addresses) (void)rpc::parse_address(address);
  const auto tls = rpc::load_tls(arguments.tls);
  std::vector<AskedNode> nodes;
  for (const std::string& address : arguments.addresses) nodes.emplace_back(address, tls);
  const InterruptGuard guard;
  const Ticks every = us_to_ticks(arguments.every_s * 1e6);
  std::vector<Sight> before = look(nodes, arguments.timeout_s);
  Ticks due = now_ticks() + every;
  for (std::uint32_t round = 0; arguments.rounds == 0 || round < arguments.rounds; ++round) {
    if (!sleep_until(due)) return;
    std::vector<Sight> now = look(nodes, arguments.timeout_s);
    std::vector<Json> facts;
    for (std::size_t i = 0; i < now.size(); ++i) {
      facts.push_back(facts_of(arguments.addresses[i], now[i], before[i]));
    }
    show(arguments, facts);
    before = std::move(now);
    due = std::max(due + every, now_ticks());
  }
}

}  // namespace

void register_top_command(Command& tool) {
  auto arguments = std::make_shared<TopArguments>();
  Command command = tool.add_command("top", "Watch compute nodes and memory nodes at work");
  command.add_option("addresses", arguments->addresses, "HOST:PORT or unix:/path of each")
      .required();
  command.add_option("--every", arguments->every_s, "Seconds from one look to the next")
      .range(0.1, 3600.0)
      .show_default();
  command.add_option("--rounds", arguments->rounds, "Looks before it ends; 0: until Ctrl-C")
      .show_default();
  command.add_option("--timeout-seconds", arguments->timeout_s, "For one node's answer")
      .range(0.001, 3600.0)
      .show_default();
  command.add_flag("--json", arguments->json, "A JSON object for each node and look");
  rpc::add_tls_flags(command, arguments->tls);
  command.footer(
      "Rates and p99 are of the time since the last look. running, waiting: queries; in flight:\n"
      "reads. Where the terminal is narrower than the table, each node has a few lines.\n"
      "recall: of the last searches that a node with --recall-sample repeated exactly.\n"
      "stale ms: followers of a collection search what was there so long ago. leases: clients of\n"
      "a memory node. A node that does not answer is silent, and asked again.\n"
      "Example:\n"
      "  farvec top 127.0.0.1:7711 unix:/run/farvec-memory.sock --every 2");
  command.callback([arguments] { top(*arguments); });
}

}  // namespace farvec::cli
