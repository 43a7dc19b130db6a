// The file of a sweep's rows, one JSON object to a line, written as they are measured.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace farvec::measure {

/// What becomes of a file that is there already.
enum class ExistingFile { refuse, overwrite, resume };

/// A row is in the file when append() has returned, whatever happens afterwards. No path: no file,
/// and rows are only kept in memory.
class SweepFile {
 public:
  /// Opens the file, or makes it; one that was made and has no row in the end is removed. Only a
  /// regular file can be resumed; a device, a pipe or a descriptor of this process (/dev/stdout) is
  /// written to as it is. With `resume` a last
  /// line that was cut off is dropped, and every other one has to be a JSON object. An old file
  /// loses nothing before the first row. Throws Error.
  SweepFile(std::string path, ExistingFile existing);
  ~SweepFile();
  SweepFile(const SweepFile&) = delete;
  SweepFile& operator=(const SweepFile&) = delete;

  /// Whether a row with all these values is there that has no "error". A value that the row lacks
  /// is null.
  bool has(const nlohmann::ordered_json& parameters) const;
  /// What to do with what is there when the sweep was ended: " and in 'a'; --resume goes on".
  std::string described() const;
  /// Throws SystemError when the row does not fit on the disk; those before it stay.
  void append(const std::string& object);
  /// Those that are in the file: that were there, and that were appended.
  const std::vector<nlohmann::ordered_json>& rows() const { return rows_; }

 private:
  void write_line(const std::string& line);
  bool open_existing(ExistingFile existing);
  void read_rows();

  const std::string path_;
  int fd_ = -1;
  bool direct_ = false;  ///< no regular file, or a descriptor of this process (/dev/stdout)
  bool made_ = false;
  bool emptied_ = true;  ///< nothing is there that the first row is to replace
  std::vector<nlohmann::ordered_json> rows_;
};

/// Where the rows of a sweep go.
struct SweepFiles {
  std::string json;  ///< as they are measured; empty: nowhere
  std::string html;  ///< a page of all of them, at the end; empty: none
  ExistingFile existing = ExistingFile::refuse;
};

/// Runs `measure` with the file of the rows, then writes the page: also when `measure` was
/// interrupted, of what there is. Returns the rows that are in the file. Throws what `measure`
/// throws, and Error for files that cannot be written, before anything is measured.
std::vector<nlohmann::ordered_json> with_files(const SweepFiles& files,
                                               const std::function<void(SweepFile&)>& measure);

}  // namespace farvec::measure
