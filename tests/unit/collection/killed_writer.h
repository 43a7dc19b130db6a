// A process that changes a collection, the same way each time, until it is killed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/unit/collection/collection_fixture.h"
#include "tests/unit/collection/row_marks.h"

namespace farvec::collection {

inline constexpr std::uint64_t kKilledIds = 400;

/// How often a test kills: the variable, or `otherwise`.
inline int kills_of(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoi(text);
}

/// The changes of one version after the other, the same for whoever asks.
class Script {
 public:
  struct Step {
    bool inserts = true;
    bool imports = false;  ///< inserts past the log
    std::vector<std::uint64_t> ids;
    std::vector<std::vector<float>> rows;
  };

  /// The step whose first change has version `version` + 1.
  Step step_behind(std::uint64_t version) const {
    Random random(version + 1);
    Step step;
    step.inserts = random.below(4) != 0;
    step.imports = random.below(16) == 0;
    const std::uint64_t first = random.below(kKilledIds);
    const std::uint64_t count = 1 + random.below(30);
    for (std::uint64_t i = 0; i < count; ++i) {
      step.ids.push_back((first + i) % kKilledIds);
      if (step.inserts) step.rows.push_back(random_row(random));
    }
    return step;
  }

  static void apply(const Step& step, Rows& rows) {
    for (std::size_t i = 0; i < step.ids.size(); ++i) {
      if (step.inserts) {
        rows[step.ids[i]] = step.rows[i];
      } else {
        rows.erase(step.ids[i]);
      }
    }
  }

  static void apply(const Step& step, Collection& collection) {
    if (!step.inserts) {
      (void)erase(collection, step.ids);
      return;
    }
    Batch batch;
    for (std::size_t i = 0; i < step.ids.size(); ++i) batch.add(step.ids[i], step.rows[i]);
    const layout::Tuples marks = marks_of(step.rows, collection.row_shape().schema);
    const changes::RowBatch rows{batch.rows(), batch.ids(), marks.view()};
    Receipt receipt;
    if (step.imports) {
      (void)collection.import(rows);
    } else {
      collection.insert(rows, within(kPatienceUs), receipt);
    }
  }

  /// Adds the next of these columns, now and then.
  static void grow(std::uint64_t version, const layout::Schema& columns, Collection& collection) {
    const std::size_t there = collection.row_shape().schema.size();
    if (there >= columns.size() || Random(version + 3).below(4) != 0) return;
    collection.add_columns(layout::Schema({columns[there]}));
  }

  /// What changes no version, now and then.
  static void maintain(std::uint64_t version, Collection& collection) {
    switch (Random(version + 2).below(40)) {
      case 0:
        return void(collection.flush());
      case 1:
        return void(collection.compact());
      default:
        return;
    }
  }
};

/// What a child says when a change is acknowledged.
struct Report {
  std::uint64_t version = 0;
  std::uint64_t built = 0;
  std::uint64_t merged = 0;
  BuildPhase merging = BuildPhase::none;  ///< what a merge was at
};

/// Changes until it is killed, and says each version when it is acknowledged. Never returns.
[[noreturn]] inline void change_until_killed(const std::filesystem::path& path,
                                             CollectionAccess access, const layout::Schema& columns,
                                             int acknowledged) {
  try {
    access.durability = wal::Durability::commit;
    access.link = true;
    Collection collection(path, access);
    const Report opened{.version = collection.view()->version};
    if (write(acknowledged, &opened, sizeof(opened)) != sizeof(opened)) _exit(2);
    for (;;) {
      const std::uint64_t version = collection.view()->version;
      Script::apply(Script().step_behind(version), collection);
      const WriterState state = collection.state();
      const Report report{collection.view()->version, state.built, state.merged, state.merge.phase};
      if (write(acknowledged, &report, sizeof(report)) != sizeof(report)) _exit(2);
      Script::grow(version, columns, collection);
      Script::maintain(version, collection);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the child failed: %s\n", error.what());
  }
  _exit(3);
}

/// The next one that comes through the pipe, `none` when there is none any more.
inline Report next_of(int pipe, const Report& none) {
  Report next;
  return read(pipe, &next, sizeof(next)) == sizeof(next) ? next : none;
}

/// The last one that came; `none` without any.
inline Report last_of(int pipe, const Report& none) {
  Report last = none;
  for (Report next; read(pipe, &next, sizeof(next)) == sizeof(next);) last = next;
  return last;
}

/// `version` is what rows are as of, and becomes `reached`; false when it lies inside a batch.
inline bool bring_to(std::uint64_t reached, std::uint64_t& version, Rows& rows) {
  while (version < reached) {
    const Script::Step step = Script().step_behind(version);
    Script::apply(step, rows);
    version += step.ids.size();
  }
  return version == reached;
}

/// A child that changes the collection, and adds the columns that it does not have.
class KilledWriter {
 public:
  KilledWriter(const std::filesystem::path& path, const CollectionAccess& access,
               const layout::Schema& columns = {}) {
    if (pipe(ends_) != 0) throw Error("no pipe");
    process_ = fork();
    if (process_ < 0) throw Error("no process");
    if (process_ == 0) {
      close(ends_[0]);
      change_until_killed(path, access, columns, ends_[1]);
    }
    close(ends_[1]);
  }
  ~KilledWriter() {
    if (process_ > 0) (void)kill();
    close(ends_[0]);
  }
  KilledWriter(const KilledWriter&) = delete;
  KilledWriter& operator=(const KilledWriter&) = delete;

  /// The next report, `none` when it has ended.
  Report next(const Report& none) { return next_of(ends_[0], none); }
  /// Whether it lived until then.
  bool kill() {
    int status = 0;
    const bool killed = ::kill(process_, SIGKILL) == 0 && waitpid(process_, &status, 0) == process_;
    process_ = 0;
    return killed && WIFSIGNALED(status);
  }
  /// Of a killed one.
  Report last(const Report& none) { return last_of(ends_[0], none); }

 private:
  int ends_[2] = {};
  pid_t process_ = 0;
};

}  // namespace farvec::collection
