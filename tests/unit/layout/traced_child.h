// A child process that can be killed before any of its calls that change files.
#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sys/types.h>

#include <functional>
#include <string>

namespace farvec::tests {

enum class Exchange {
  works,
  missing,  ///< the kernel says of RENAME_EXCHANGE what a file system without it says
};

/// Runs `action` in a child that stops before every system call that makes, writes, syncs, renames
/// or removes files. An exception ends it with status 1. The child has one thread.
class TracedChild {
 public:
  explicit TracedChild(const std::function<void()>& action, Exchange exchange = Exchange::works);
  /// Kills the child when it is still there.
  ~TracedChild();
  TracedChild(const TracedChild&) = delete;
  TracedChild& operator=(const TracedChild&) = delete;

  /// Goes on to just before the next such call; false when the child has ended. Writes to pipes are
  /// none: sanitizers look by them whether memory is there.
  bool next();
  /// The number of the system call that it stands before.
  long number() const { return number_; }
  /// The file or folder that the call's first argument is open on, for those that take a
  /// descriptor.
  std::string file_of_descriptor() const;
  /// Goes on to the end. 0: it ended well.
  int finish();
  void kill();

 private:
  bool next_call();
  void wait();

  pid_t pid_ = -1;
  int status_ = 0;
  long number_ = -1;
  long argument_ = -1;
};

}  // namespace farvec::tests
