#include "postgres/engine/alias_table.h"

#include "base/check.h"
#include "base/error.h"
#include <algorithm>
#include <limits>
#include <utility>

namespace farvec::postgres {

void AliasTable::take(const layout::AliasList& list, std::uint64_t before) {
  std::vector<layout::Alias> aliases = list.aliases;
  std::sort(aliases.begin(), aliases.end());  // the last of a host comes to its front
  for (const layout::Alias& alias : aliases) {
    (void)links_.insert(alias.host);
    if (alias.id >= before) continue;
    if (!can_add(alias.id, alias.host)) {
      throw Error("row {} cannot share the vector of row {}", alias.id, alias.host);
    }
    add(alias.id, alias.host);
  }
  for (const std::uint64_t vid : list.gone) set_gone(links_.insert(vid).first, true);
  links_.for_each([&](std::uint64_t vid, const Link& link) {
    if (link.is_host() && link.count() == 0) idle_.push_back(vid);
  });
}

bool AliasTable::can_add(std::uint64_t vid, std::uint64_t host) const {
  if (vid <= host || vid >= Link::kGone || links_.find(vid) != nullptr) return false;
  const Link* const link = links_.find(host);
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  return link == nullptr || (link->is_host() && link->count() < kMost);
}

void AliasTable::add(std::uint64_t vid, std::uint64_t host) {
  Link& of_host = links_.insert(host).first;
  const std::uint64_t next = std::exchange(of_host.next, vid);
  ++of_host.word;
  if (next != kNone) links_.find(next)->previous = vid;
  links_.insert(vid).first = {.word = host, .next = next, .previous = kNone};
  ++aliases_;
}

bool AliasTable::comes(std::uint64_t vid) {
  Link* const link = links_.find(vid);
  if (link == nullptr) return false;
  if (!link->is_host()) return true;
  if (!link->has_gone()) return false;
  set_gone(*link, false);
  return true;
}

bool AliasTable::goes(std::uint64_t vid) {
  Link* const link = links_.find(vid);
  if (link == nullptr) return false;
  if (!link->is_host()) {
    take_out(vid, link->word);
    return false;
  }
  set_gone(*link, true);
  if (link->count() == 0) idle_.push_back(vid);
  return true;
}

void AliasTable::take_out(std::uint64_t vid, std::uint64_t host) {
  Link* const of_host = links_.find(host);
  FARVEC_CHECK(of_host != nullptr && of_host->is_host() && of_host->count() > 0);
  const Link link = *links_.find(vid);
  (link.previous == kNone ? of_host : links_.find(link.previous))->next = link.next;
  if (link.next != kNone) links_.find(link.next)->previous = link.previous;
  if (--of_host->word, of_host->count() == 0) idle_.push_back(host);
  links_.erase(vid);
  --aliases_;
}

void AliasTable::set_gone(Link& host, bool has_gone) {
  if (host.has_gone() == has_gone) return;
  host.word ^= Link::kGone;
  gone_ += has_gone ? 1 : std::size_t(-1);
}

std::vector<std::uint64_t> AliasTable::take_idle() {
  std::vector<std::uint64_t> idle = std::exchange(idle_, {});
  std::sort(idle.begin(), idle.end());
  idle.erase(std::unique(idle.begin(), idle.end()), idle.end());
  return idle;
}

bool AliasTable::forget(std::uint64_t host) {
  Link* const link = links_.find(host);
  if (link == nullptr || !link->is_host() || link->count() > 0) return false;
  const bool had_gone = link->has_gone();
  set_gone(*link, false);
  links_.erase(host);
  return had_gone;
}

void AliasTable::give_back(const std::vector<std::uint64_t>& hosts) {
  idle_.insert(idle_.end(), hosts.begin(), hosts.end());
}

std::uint64_t AliasTable::vertex_of(std::uint64_t vid) const {
  const Link* const link = links_.find(vid);
  if (link == nullptr) return vid;
  if (link->has_gone()) return kNone;
  return link->is_host() ? vid : link->word;
}

bool AliasTable::has_gone(std::uint64_t vid) const {
  const Link* const link = links_.find(vid);
  return link != nullptr && link->has_gone();
}

std::uint64_t AliasTable::host_of(std::uint64_t vid) const {
  const Link* const link = links_.find(vid);
  return link == nullptr || link->is_host() ? vid : link->word;
}

std::size_t AliasTable::rows_of(std::uint64_t vertex) const {
  const Link* const link = links_.find(vertex);
  if (link == nullptr || !link->is_host()) return 1;
  return link->count() + (link->has_gone() ? 0 : 1);
}

std::vector<std::uint64_t> AliasTable::hosts() const {
  std::vector<std::uint64_t> hosts;
  links_.for_each([&](std::uint64_t vid, const Link& link) {
    if (link.is_host()) hosts.push_back(vid);
  });
  return hosts;
}

layout::AliasList AliasTable::list() const {
  layout::AliasList list;
  list.aliases.reserve(aliases_);
  list.gone.reserve(gone_);
  links_.for_each([&](std::uint64_t vid, const Link& link) {
    if (!link.is_host()) {
      list.aliases.push_back({vid, link.word});
    } else if (link.has_gone()) {
      list.gone.push_back(vid);
    }
  });
  return list;
}

}  // namespace farvec::postgres
