#include "memory_node/backing/named_backing.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"

namespace farvec::memory_node {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;
constexpr int kCreateAttempts = 8;

/// The name of either kind, which are both files. They differ in how the name is made and removed.
struct Name {
  bool shm = false;
  std::string name;  ///< "/farvec-records" or a path

  int open(int flags) const {
    return shm ? shm_open(name.c_str(), flags | O_CLOEXEC, kOwnerOnly)
               : ::open(name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly);
  }
  void remove() const { shm ? shm_unlink(name.c_str()) : unlink(name.c_str()); }
  std::string path() const { return shm ? "/dev/shm" + name : name; }
};

/// Removes a name whose holder died. A live holder keeps a lock on the inode.
void remove_stale(const Name& name) {
  const Descriptor existing(name.open(O_RDONLY | O_NONBLOCK));
  if (!existing.valid()) {
    if (errno == ENOENT) return;  // its holder has just removed it
    throw SystemError(errno, "opening the existing {}", name.path());
  }
  struct stat info {};
  if (fstat(existing.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    throw Error("{} is not a file of a memory node; choose another --backing-path", name.path());
  }
  if (flock(existing.get(), LOCK_EX | LOCK_NB) != 0) {
    throw Error("{} belongs to a memory node that is running; choose another --backing-path",
                name.path());
  }
  name.remove();
}

Descriptor create(const Name& name) {
  for (int attempt = 0; attempt < kCreateAttempts; ++attempt) {
    Descriptor file(name.open(O_RDWR | O_CREAT | O_EXCL));
    if (file.valid()) {
      if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
      continue;  // another process took the new file for a stale one
    }
    if (errno != EEXIST) throw SystemError(errno, "creating {}", name.path());
    remove_stale(name);
  }
  throw Error("creating {}: others keep creating and removing it", name.path());
}

class NamedBacking final : public MappedBacking {
 public:
  NamedBacking(Descriptor descriptor, transport::MappedRegion region, Name name)
      : MappedBacking(std::move(descriptor), std::move(region)), name_(std::move(name)) {}
  ~NamedBacking() override { name_.remove(); }

  std::uint64_t alignment() const override {
    return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }
  std::string description() const override {
    return fmt::format("{} {}", name_.shm ? "shm" : "file", name_.path());
  }
  void persist() override {
    if (name_.shm) return;
    if (msync(bytes().data(), size(), MS_SYNC) != 0 || fsync(fd()) != 0) {
      throw SystemError(errno, "writing {} back to its disk", name_.path());
    }
  }
  void seal() override {
    // Named files take no seals; without the write bit only root or a chmod by the owner gets in.
    if (fchmod(fd(), S_IRUSR) != 0) {
      throw SystemError(errno, "taking the write permission from {}", name_.path());
    }
  }

 private:
  Name name_;
};

std::unique_ptr<Backing> open_named(const Name& name, std::uint64_t bytes) {
  Descriptor file = create(name);
  try {
    // It is allocated now, because a full file system is an error here and a SIGBUS later.
    const int error = posix_fallocate(file.get(), 0, static_cast<off_t>(bytes));
    if (error != 0) throw SystemError(error, "reserving {} bytes for {}", bytes, name.path());
    auto mapped = transport::MappedRegion::map_fd(file.get(), bytes, transport::Access::read_write);
    return std::make_unique<NamedBacking>(std::move(file), std::move(mapped), name);
  } catch (...) {
    name.remove();
    throw;
  }
}

}  // namespace

std::unique_ptr<Backing> open_shm_backing(const std::string& name, const std::string& region,
                                          std::uint64_t bytes) {
  if (name.empty() || name.find('/') != std::string::npos) {
    throw Error("shm needs a name without '/', not '{}': pass --backing-path NAME", name);
  }
  return open_named({.shm = true, .name = fmt::format("/{}-{}", name, region)}, bytes);
}

std::unique_ptr<Backing> open_file_backing(const std::string& folder, const std::string& region,
                                           std::uint64_t bytes) {
  if (folder.empty()) throw Error("a file backing needs a folder: pass --backing-path FOLDER");
  return open_named({.shm = false, .name = fmt::format("{}/{}.farvec", folder, region)}, bytes);
}

}  // namespace farvec::memory_node
