// Writes the rows of a sweep to a file, one JSON object to a line, as soon as they are measured.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace farvec::measure {

/// Says what becomes of a file that is there already.
enum class ExistingFile { refuse, overwrite, resume };

/// Writes the file of a sweep's rows. A row is in the file when append() has returned, whatever
/// happens afterwards. Without a path there is no file, and rows are only kept in memory.
class SweepFile {
 public:
  /// Opens the file, or makes it; a file that was made and has no row in the end is removed. Only a
  /// regular file can be resumed; a device, a pipe or a descriptor of this process (/dev/stdout) is
  /// only written to, never emptied. With `resume` a last line that was cut off is dropped, and
  /// every other line has to be a JSON object. With `overwrite` an old file loses nothing before
  /// the first row. Throws Error.
  SweepFile(std::string path, ExistingFile existing);
  ~SweepFile();
  SweepFile(const SweepFile&) = delete;
  SweepFile& operator=(const SweepFile&) = delete;

  /// Returns true when there is a row with all these values that has no "error". A value that the
  /// row lacks is null.
  bool has(const nlohmann::ordered_json& parameters) const;
  /// Returns where the rows are and how to go on when the sweep was ended: " and in 'a'; --resume
  /// measures the others".
  std::string described() const;
  /// Appends a row. Throws SystemError when the row does not fit on the disk; the rows before it
  /// stay.
  void append(const std::string& object);
  /// Returns the rows of the file: those that were there, and those that were appended.
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

/// Says where the rows of a sweep go.
struct SweepFiles {
  std::string json;  ///< file of the rows, written as they are measured; empty: none
  std::string html;  ///< page of all rows, written at the end; empty: none
  ExistingFile existing = ExistingFile::refuse;
};

/// Runs `measure` with the file of the rows, then writes the page. When `measure` was interrupted,
/// the page has the rows that there are. Returns the rows that are in the file. Throws what
/// `measure` throws, and Error for files that cannot be written, before anything is measured.
std::vector<nlohmann::ordered_json> with_files(const SweepFiles& files,
                                               const std::function<void(SweepFile&)>& measure);

}  // namespace farvec::measure
