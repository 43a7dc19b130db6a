// Changing is the one interface of every index that takes inserts and deletes while it is searched.
// The tool, the runbook, Python and the daemon change an index through it and need not know its
// kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/progress.h"
#include "base/status_error.h"
#include "base/types.h"
#include "changes/column_values.h"
#include "changes/listed_rows.h"
#include "changes/receipt.h"
#include "changes/row_batch.h"

namespace farvec::changes {

/// Says which rows an index takes and returns.
struct RowShape {
  ElementType type = ElementType::f32;         ///< rows that are inserted have this type
  ElementType stored_type = ElementType::f32;  ///< rows that get() returns have this type
  std::uint32_t dimension = 0;
  std::optional<Metric> metric = {};  ///< none: a node has it and does not say it
  layout::Schema schema = {};         ///< attributes of the rows; without columns: they have none
  // The most that one call takes. A caller that has more makes several calls, and looks at its
  // interruption in between.
  std::size_t batch_rows = 0;  ///< insert()
  std::size_t batch_ids = 0;   ///< erase()
  std::size_t batch_gets = 0;  ///< get()
};

/// Says how long a call may take.
struct Patience {
  static constexpr Ticks kWithoutEnd = std::numeric_limits<Ticks>::max();

  Ticks until = kWithoutEnd;
  /// The call asks this from time to time, from any thread: true ends the call early.
  Interruption interrupted = {};
};

/// Is thrown when an index refuses a change. what() is the reason, followed by the code's name.
class Refusal : public StatusError {
 public:
  Refusal(StatusCode status_code, std::string why)
      : StatusError(status_code, "{} ({})", why, to_string(status_code)), reason(std::move(why)) {}

  std::string reason;
};

/// Throws StatusError (invalid_argument) unless the schema can have these columns too: at least one
/// comes, none may be there already, and each may be null.
void check_columns(const layout::Schema& schema, const layout::Schema& more);

/// Changes an index. Any thread may call everything at any time, unless an implementation says
/// otherwise. The next search sees what a call has done. Calls throw Error, Refusal where the index
/// has no room or no time, and WorkInterrupted; then `receipt` counts what is in.
class Changing {
 public:
  virtual ~Changing() = default;

  virtual RowShape row_shape() const = 0;
  /// Returns the columns that there are now. Where they are on another machine, row_shape() may
  /// have only the first ones; it has all when this returns.
  virtual layout::Schema newest_schema() const { return row_shape().schema; }
  /// Throws Error naming the first row that the index cannot take, or what else is wrong: another
  /// type or dimension, more or fewer ids than rows, an id that comes twice, attributes that do not
  /// fit the schema. A caller checks all rows before it inserts the first batch.
  virtual void check(const RowBatch& batch) const = 0;
  /// Inserts rows that check() accepts. They may be copied, and are checked again.
  virtual void insert(const RowBatch& batch, const Patience& patience, Receipt& receipt) = 0;
  /// Removes the rows with these ids. Ids that are not there are counted.
  virtual void erase(std::span<const std::uint64_t> ids, const Patience& patience,
                     Receipt& receipt) = 0;
  /// Returns rows of one moment, in the order of the ids. Where their attributes are large, it
  /// returns the first rows alone: `found` is as long as the ids that it has looked up, at least
  /// one. get_all() asks for the rest.
  virtual FoundRows get(std::span<const std::uint64_t> ids, const Patience& patience) const = 0;

  /// Counts and lists rows by a condition. Only collections have attributes: others throw
  /// StatusError (failed_precondition). Throws StatusError (invalid_argument) for a condition that
  /// is wrong.
  virtual ListedRows list(const Listing& asked, const Patience& patience) const;
  /// Removes the rows that meet a condition, the text of which is `filter`; an empty one means
  /// every row. A row that met it before the call, and is not changed meanwhile, is removed, and a
  /// row that is removed met it at that moment. Throws what list() throws.
  virtual void erase_matching(const std::string& filter, const Patience& patience,
                              Receipt& receipt);

  /// Gives the rows with these ids new values in some columns, and leaves their vectors, and their
  /// other columns, as they are. There is a tuple for each id, or one for all. Ids that are not
  /// there are counted as missing; so are those that come again, and the first of them holds. A row
  /// has all of its new values or none, also after a kill. Throws StatusError (invalid_argument)
  /// for values that do not fit the schema, and what list() throws.
  virtual void update(std::span<const std::uint64_t> ids, const ColumnValues& update,
                      const Patience& patience, Receipt& receipt);
  /// Gives the rows that meet a condition, the text of which is `filter`, the values of one tuple;
  /// an empty one means every row. A row that met it before the call, and is not changed meanwhile,
  /// has them, and a row that has them met it at that moment. Throws what update() throws.
  virtual void update_matching(const std::string& filter, const ColumnValues& update,
                               const Patience& patience, Receipt& receipt);

  /// Adds columns to the schema: rows that are there are null in them. Rows that were checked
  /// before may still be inserted. Only collections take columns: others throw StatusError
  /// (failed_precondition). Throws StatusError (invalid_argument) for columns that the schema
  /// cannot have: check_columns().
  virtual void add_columns(const layout::Schema& columns);

  /// Brings what is fresh to where it stays. Returns false when `give_up` ended the wait; the work
  /// goes on.
  virtual bool flush(const Interruption& give_up = {}) = 0;
  /// Removes for good what is deleted. Returns false when `give_up` ended the wait.
  virtual bool compact(const Interruption& give_up = {}) = 0;

  /// Returns what the index holds at this moment, for people and programs.
  virtual nlohmann::ordered_json now() const = 0;
};

}  // namespace farvec::changes
