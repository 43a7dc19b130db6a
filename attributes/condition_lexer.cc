#include "attributes/condition_lexer.h"

#include <algorithm>

#include "attributes/condition.h"
#include "attributes/literal.h"
#include "base/error.h"
#include "base/file_names.h"

namespace farvec::attributes {
namespace {

constexpr std::size_t kShownCharacters = 20;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
char small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool begins_word(char c) {
  return (small(c) >= 'a' && small(c) <= 'z') || c == '_';
}
/// Says whether a byte is the first one of a character of UTF-8.
bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

std::string_view first_characters(std::string_view text, std::size_t most) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_character(text[i]) && ++count > most) return text.substr(0, i);
  }
  return text;
}

}  // namespace

bool Token::is_word(std::string_view keyword) const {
  return kind == Kind::word &&
         std::equal(bytes.begin(), bytes.end(), keyword.begin(), keyword.end(),
                    [](char written, char wanted) { return small(written) == wanted; });
}

ConditionLexer::ConditionLexer(std::string_view text) : text_(text) {
  if (text.size() > kMostConditionBytes) {
    throw Error("the condition has {} bytes, more than {}", text.size(), kMostConditionBytes);
  }
  if (!is_utf8(text)) throw Error("the condition is no UTF-8");
}

void ConditionLexer::fail(std::size_t begin, std::string_view what) const {
  const auto before = text_.substr(0, begin);
  const auto column = 1 + std::count_if(before.begin(), before.end(), begins_character);
  const std::string_view rest = first_characters(text_.substr(begin), kShownCharacters);
  if (rest.empty()) throw Error("the condition is wrong at its end, column {}: {}", column, what);
  std::string shown(rest);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  throw Error("the condition is wrong at column {}, '{}': {}", column, shown, what);
}

bool ConditionLexer::at(std::string_view chars) const {
  return place_ < text_.size() && chars.find(text_[place_]) != std::string_view::npos;
}

Token ConditionLexer::token(Token::Kind kind, std::size_t begin) {
  return {kind, begin, text_.substr(begin, place_ - begin), {}};
}

void ConditionLexer::skip_digits() {
  while (place_ < text_.size() && is_digit(text_[place_])) ++place_;
}

Token ConditionLexer::next() {
  while (at(" \t\r\n")) ++place_;
  const std::size_t begin = place_;
  if (place_ == text_.size()) return token(Token::Kind::end, begin);
  const char c = text_[place_];
  if (c == '\'') return quoted();
  if (is_digit(c) || at("+-.")) return number();
  if (!begins_word(c)) return symbol();
  while (place_ < text_.size() && (begins_word(text_[place_]) || is_digit(text_[place_]))) ++place_;
  return token(Token::Kind::word, begin);
}

Token ConditionLexer::number() {
  const std::size_t begin = place_;
  if (at("+-")) ++place_;
  const std::string_view rest = text_.substr(place_, 4);
  constexpr std::string_view kInfinity = "inf";
  if (rest.size() >= 3 && std::equal(kInfinity.begin(), kInfinity.end(), rest.begin(),
                                     [](char wanted, char c) { return small(c) == wanted; })) {
    place_ += 3;
  } else {
    const std::size_t digits = place_;
    skip_digits();
    if (at(".")) ++place_;
    skip_digits();
    if (std::none_of(text_.begin() + static_cast<std::ptrdiff_t>(digits),
                     text_.begin() + static_cast<std::ptrdiff_t>(place_), is_digit)) {
      fail(begin, "this is no number");
    }
    if (at("eE")) {
      ++place_;
      if (at("+-")) ++place_;
      const std::size_t exponent = place_;
      skip_digits();
      if (place_ == exponent) fail(begin, "the exponent of the number has no digits");
    }
  }
  if (place_ < text_.size() && (begins_word(text_[place_]) || at("."))) {
    fail(begin, "this is no number");
  }
  if (place_ - begin > kMostNumberBytes) fail(begin, "a number has more than 1,000 characters");
  return token(Token::Kind::number, begin);
}

Token ConditionLexer::quoted() {
  const std::size_t begin = place_++;
  std::string value;
  for (;;) {
    const std::size_t end = text_.find('\'', place_);
    if (end == std::string_view::npos) fail(begin, "the text has no quote at its end");
    value += text_.substr(place_, end - place_);
    place_ = end + 1;
    if (!at("'")) break;
    value += '\'';
    ++place_;
  }
  if (value.find('\0') != std::string::npos) {
    fail(begin, "a text with a zero byte is in no column");
  }
  Token result = token(Token::Kind::text, begin);
  result.value = std::move(value);
  return result;
}

Token ConditionLexer::symbol() {
  const std::size_t begin = place_;
  for (const std::string_view symbol : {"!=", "<>", "<=", ">=", "=", "<", ">", "(", ")", ","}) {
    if (text_.substr(begin).starts_with(symbol)) {
      place_ += symbol.size();
      return token(Token::Kind::symbol, begin);
    }
  }
  if (at("\"")) fail(begin, "texts are written in single quotes, and columns without quotes");
  fail(begin, "this is no part of a condition");
}

}  // namespace farvec::attributes
