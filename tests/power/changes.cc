#include "tests/power/changes.h"

#include <fmt/format.h>

#include "base/error.h"

namespace farvec::power {
namespace {

/// Those of one writer.
Rows rows_of(const Script& script, unsigned writer, const Rows& all) {
  return {all.lower_bound(writer * script.ids), all.lower_bound((writer + 1) * script.ids)};
}

/// For people.
std::string difference(const Rows& expected, const Rows& found) {
  std::string words;
  for (const auto& [id, row] : expected) {
    const auto there = found.find(id);
    if (there == found.end()) words += fmt::format(" {} is not there;", id);
    if (there != found.end() && there->second != row) words += fmt::format(" {} differs;", id);
  }
  for (const auto& [id, row] : found) {
    if (!expected.contains(id)) words += fmt::format(" {} is there;", id);
  }
  return words;
}

/// Of one writer.
Beginning settle(const Script& script, unsigned writer, Journal& journal, const Rows& found) {
  const History history = journal.history(script.index, writer);
  Beginning now{.rows = {}, .next = history.next};
  for (const std::uint64_t number : history.done) {
    script.change(writer, number, now.rows).apply(now.rows);
  }
  if (found != now.rows && history.open) {
    const Rows before = now.rows;
    script.change(writer, *history.open, now.rows).apply(now.rows);
    if (found != now.rows) {
      throw Error("{}: writer {}, in change {}: without it{}; with it{}", script.name, writer,
                  *history.open, difference(before, found), difference(now.rows, found));
    }
    journal.done(script.index, writer, *history.open);
    now.found = 1;
  } else if (found != now.rows) {
    throw Error("{}: writer {}, before change {}:{}", script.name, writer, history.next,
                difference(now.rows, found));
  } else if (history.open) {
    journal.lost(script.index, writer, *history.open);
    now.lost = 1;
  }
  return now;
}

}  // namespace

void Change::apply(Rows& all) const {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (inserts) {
      all[ids[i]] = rows[i];
    } else {
      all.erase(ids[i]);
    }
  }
}

Random random_of(unsigned writer, std::uint64_t number) {
  return Random((std::uint64_t{writer} << 40) + number);
}

std::vector<float> random_row(Random& random, std::uint32_t dimension) {
  std::vector<float> row(dimension);
  for (float& x : row) x = static_cast<float>(random.uniform() * 2 - 1);
  return row;
}

std::vector<Beginning> settle(const Script& script, Journal& journal, const Rows& found) {
  const auto beyond = found.lower_bound(script.writers * script.ids);
  if (beyond != found.end()) {
    throw Error("{}: {} is there, which nobody has sent", script.name, beyond->first);
  }
  std::vector<Beginning> begins;
  for (unsigned writer = 0; writer < script.writers; ++writer) {
    begins.push_back(settle(script, writer, journal, rows_of(script, writer, found)));
  }
  return begins;
}

std::string words_of(const std::vector<Beginning>& begins) {
  std::size_t rows = 0;
  unsigned found = 0;
  unsigned lost = 0;
  for (const Beginning& begin : begins) {
    rows += begin.rows.size();
    found += begin.found;
    lost += begin.lost;
  }
  return fmt::format("{} rows, of changes under way {} found, {} lost", rows, found, lost);
}

}  // namespace farvec::power
