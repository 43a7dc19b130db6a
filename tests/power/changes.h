// Changes that lives make, the same for whoever asks, and what they leave behind.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/power/journal.h"

namespace farvec::power {

/// By id.
using Rows = std::map<std::uint64_t, std::vector<float>>;

/// Is there as a whole or not at all.
struct Change {
  bool inserts = true;
  bool imports = false;  ///< of a collection: past its log
  std::vector<std::uint64_t> ids;
  std::vector<std::vector<float>> rows;  ///< of an insert

  void apply(Rows& all) const;
};

/// What the writers of an index do. Writer w has the ids from w * ids on.
struct Script {
  char index = 0;  ///< in the journal
  std::string name;
  unsigned writers = 0;
  std::uint64_t ids = 0;  ///< of each
  /// The change of this number, where the writer has these rows.
  std::function<Change(unsigned writer, std::uint64_t number, const Rows& now)> change;
};

/// For the change of this number.
Random random_of(unsigned writer, std::uint64_t number);
std::vector<float> random_row(Random& random, std::uint32_t dimension);

/// Where a writer begins, with what it has.
struct Beginning {
  Rows rows;
  std::uint64_t next = 0;
  unsigned found = 0;  ///< changes that nobody knew of and that are there: 0 or 1
  unsigned lost = 0;   ///< and that are not
};

/// Of every writer, where `found` is all that is there; writes to the journal what has become of
/// changes that were under way. Throws Error when a change that was acknowledged is not there, one
/// is there by halves, or there is what nobody has sent.
std::vector<Beginning> settle(const Script& script, Journal& journal, const Rows& found);

/// For people: "5 rows, 2 changes found, 1 lost".
std::string words_of(const std::vector<Beginning>& begins);

}  // namespace farvec::power
