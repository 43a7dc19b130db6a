// A ConditionLexer gives the words of a condition's text, one after the other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace farvec::attributes {

struct Token {
  enum class Kind { end, word, number, text, symbol };

  Kind kind = Kind::end;
  std::size_t begin = 0;   ///< where it stands in the text, in bytes
  std::string_view bytes;  ///< its part of the text
  std::string value;       ///< what stands between the quotes of a text

  /// Says whether it is this keyword, in any case. The keyword is in small letters.
  bool is_word(std::string_view keyword) const;
  bool is_symbol(std::string_view symbol) const { return kind == Kind::symbol && bytes == symbol; }
};

/// A ConditionLexer borrows the text.
class ConditionLexer {
 public:
  /// Throws Error where the text is too long, or no UTF-8.
  explicit ConditionLexer(std::string_view text);

  /// Returns the next token; at the end of the text, Kind::end again and again. Throws Error where
  /// there is none that could be.
  Token next();
  /// Throws Error that says the place.
  [[noreturn]] void fail(std::size_t begin, std::string_view what) const;

 private:
  Token token(Token::Kind kind, std::size_t begin);
  Token number();
  Token quoted();
  Token symbol();
  void skip_digits();
  bool at(std::string_view chars) const;

  const std::string_view text_;
  std::size_t place_ = 0;
};

}  // namespace farvec::attributes
