#include "indexing/attributes/csv_records.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"

namespace farvec::indexing {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

CsvRecords::CsvRecords(const std::string& path) : lines_(path) {}

bool CsvRecords::next(std::vector<CsvField>& fields) {
  fields.clear();
  std::string_view line;
  if (!lines_.next(line)) return false;
  first_line_ = lines_.number();
  if (first_line_ == 1 && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  record_ = line;
  at_ = 0;
  fields.push_back(take_field());
  while (!at_end()) {
    ++at_;  // the comma
    fields.push_back(take_field());
  }
  return true;
}

CsvField CsvRecords::take_field() {
  if (at_ < record_.size() && record_[at_] == '"') return {take_quoted(), true};
  return {take_plain(), false};
}

std::string CsvRecords::take_plain() {
  const std::size_t begin = at_;
  at_ = std::min(record_.find_first_of(",\"\r", at_), record_.size());
  if (at_ < record_.size() && record_[at_] == '"') {
    fail(
        "quotes in a field that does not begin with them: put the field in quotes, and each of "
        "its quotes twice");
  }
  if (!at_end() && record_[at_] == '\r') {
    fail("a carriage return in a field: put the field in quotes");
  }
  return record_.substr(begin, at_ - begin);
}

/// Takes a field from its first quotes to its last ones.
std::string CsvRecords::take_quoted() {
  std::string text;
  for (bool open = true; open;) {
    const std::size_t begin = ++at_;
    while ((at_ = record_.find('"', at_)) == std::string::npos) {
      at_ = record_.size();
      append_line();
    }
    text.append(record_, begin, at_ - begin);
    ++at_;
    open = at_ < record_.size() && record_[at_] == '"';
    if (open) text += '"';
  }
  if (!at_end() && record_[at_] != ',') fail("text after the quotes that end a field");
  return text;
}

void CsvRecords::append_line() {
  std::string_view line;
  if (!lines_.next(line)) fail("the file ends within quotes that begin in this record");
  if (record_.size() + 1 + line.size() > kMostLineBytes) {
    throw Error("{}: the record has more than {} bytes: are its quotes closed?", place(),
                kMostLineBytes);
  }
  record_ += '\n';
  record_ += line;
}

/// Says whether nothing is left of the record but a carriage return.
bool CsvRecords::at_end() const {
  return at_ == record_.size() || (at_ + 1 == record_.size() && record_[at_] == '\r');
}

void CsvRecords::fail(const char* what) const {
  throw Error("{}: {}", place(), what);
}

}  // namespace farvec::indexing
