// Reads conditions: a parser that goes down one call for each parenthesis, of which there are few.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "attributes/condition.h"
#include "attributes/condition_builder.h"
#include "attributes/condition_lexer.h"
#include "attributes/literal.h"
#include "attributes/scalar_key.h"
#include "base/error.h"
#include "base/timestamp.h"

namespace farvec::attributes {
namespace {

using layout::ColumnType;
using Kind = Token::Kind;

struct ComparisonWord {
  std::string_view symbol;
  Comparison comparison;
};
constexpr ComparisonWord kComparisons[] = {
    {"=", Comparison::equal},          {"!=", Comparison::not_equal},
    {"<>", Comparison::not_equal},     {"<", Comparison::less},
    {"<=", Comparison::less_equal},    {">", Comparison::greater},
    {">=", Comparison::greater_equal},
};

/// Makes a test of a string that compares it with one text.
ConditionPointer text_comparison(const Subject& subject, Comparison comparison, std::string text) {
  switch (comparison) {
    case Comparison::equal:
      return make_test(TextTest{subject, {std::move(text)}});
    case Comparison::not_equal:
      return negated(text_comparison(subject, Comparison::equal, std::move(text)));
    case Comparison::less:
      return make_test(TextRangeTest{subject, {}, TextEnd{std::move(text), false}});
    case Comparison::greater:
      if (text.empty()) return text_comparison(subject, Comparison::not_equal, std::move(text));
      return make_test(TextRangeTest{subject, TextEnd{std::move(text), false}, {}});
    case Comparison::greater_equal:
      return make_test(TextRangeTest{subject, TextEnd{std::move(text), true}, {}});
    case Comparison::less_equal:
      break;
  }
  if (text.empty()) return text_comparison(subject, Comparison::equal, std::move(text));
  return make_test(TextRangeTest{subject, {}, TextEnd{std::move(text), true}});
}

ConditionPointer text_between(const Subject& subject, std::string low, std::string high) {
  if (low == high) return text_comparison(subject, Comparison::equal, std::move(low));
  if (high < low) return text_comparison(subject, Comparison::less, "");
  if (low.empty()) return text_comparison(subject, Comparison::less_equal, std::move(high));
  return make_test(
      TextRangeTest{subject, TextEnd{std::move(low), true}, TextEnd{std::move(high), true}});
}

ConditionPointer text_among(const Subject& subject, std::vector<std::string> texts) {
  if (texts.empty()) return constant(false);
  return make_test(TextTest{subject, std::move(texts)});
}

ConditionPointer labels_among(const Subject& subject, bool all, std::vector<std::string> labels) {
  if (labels.empty()) return constant(all);
  const bool several = labels.size() > 1;
  return make_test(LabelTest{subject, all && several, std::move(labels)});
}

class ConditionParser {
 public:
  ConditionParser(std::string_view text, const layout::Schema& schema)
      : lexer_(text), schema_(schema) {
    advance();
  }

  ConditionPointer whole() {
    ConditionPointer condition = any();
    if (token_.kind != Kind::end) {
      fail(token_, "the condition goes on after its end: 'and' or 'or' could stand here");
    }
    return condition;
  }

 private:
  /// Lives while the parser is inside of a parenthesis, or after a `not`.
  class Nested {
   public:
    Nested(ConditionParser& parser, const Token& at) : parser_(parser) {
      if (parser_.nesting_ == kMostNesting) {
        parser_.fail(
            at, fmt::format("more than {} parentheses and 'not' are in each other", kMostNesting));
      }
      ++parser_.nesting_;
    }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    ConditionParser& parser_;
  };

  [[noreturn]] void fail(const Token& token, std::string_view what) const {
    lexer_.fail(token.begin, what);
  }
  void advance() { token_ = lexer_.next(); }
  Token take() { return std::exchange(token_, lexer_.next()); }
  bool take_word(std::string_view word) {
    if (!token_.is_word(word)) return false;
    advance();
    return true;
  }
  bool take_symbol(std::string_view symbol) {
    if (!token_.is_symbol(symbol)) return false;
    advance();
    return true;
  }
  void require_word(std::string_view word) {
    if (!take_word(word)) fail(token_, fmt::format("'{}' is missing", word));
  }
  void require_symbol(std::string_view symbol) {
    if (!take_symbol(symbol)) fail(token_, fmt::format("'{}' is missing", symbol));
  }
  void count_term(const Token& at) {
    if (++terms_ > kMostTerms) {
      fail(at, fmt::format("the condition has more than {} literals", kMostTerms));
    }
  }

  ConditionPointer any() {
    std::vector<ConditionPointer> parts{all()};
    while (take_word("or")) parts.push_back(all());
    return parts.size() == 1 ? parts.front() : grouped(false, std::move(parts));
  }
  ConditionPointer all() {
    std::vector<ConditionPointer> parts{one()};
    while (take_word("and")) parts.push_back(one());
    return parts.size() == 1 ? parts.front() : grouped(true, std::move(parts));
  }
  ConditionPointer one() {
    const Token first = take();
    if (first.is_word("not")) {
      const Nested nested(*this, first);
      return negated(one());
    }
    if (first.is_symbol("(")) {
      const Nested nested(*this, first);
      ConditionPointer inner = any();
      require_symbol(")");
      return inner;
    }
    if (first.kind != Kind::word) fail(first, "a condition is missing, which begins with a column");
    if (first.is_word("true") || first.is_word("false")) {
      count_term(first);
      return constant(first.is_word("true"));
    }
    return test(first);
  }

  Subject subject_of(const Token& name) const {
    if (name.is_word("id")) return {};
    const auto column = schema_.find(name.bytes);
    if (!column) {
      try {
        (void)schema_.require(name.bytes);
      } catch (const Error& error) {
        fail(name, error.what());
      }
    }
    return {*column, schema_[*column].type, schema_[*column].name};
  }

  ConditionPointer test(const Token& name) {
    const Subject subject = subject_of(name);
    if (take_word("is")) return null_test(name, subject);
    if (subject.type == ColumnType::bytes) {
      fail(name, fmt::format("column '{}' is bytes, which can be asked for 'is null' alone",
                             subject.name));
    }
    if (token_.is_word("contains") || subject.type == ColumnType::set) return contains(subject);
    if (take_word("prefix")) return prefix(name, subject);
    if (take_word("not")) {
      if (take_word("in")) return negated(among(subject));
      require_word("between");
      return negated(between(subject));
    }
    if (take_word("in")) return among(subject);
    if (take_word("between")) return between(subject);
    return compared(name, subject);
  }

  ConditionPointer null_test(const Token& name, const Subject& subject) {
    count_term(name);
    const bool is_not = take_word("not");
    require_word("null");
    if (subject.is_id()) return constant(is_not);
    const ConditionPointer is_null = make_test(NullTest{subject});
    return is_not ? negated(is_null) : is_null;
  }

  ConditionPointer contains(const Subject& subject) {
    if (subject.type != ColumnType::set) {
      fail(token_, fmt::format("column '{}' is {}, and only a set contains something", subject.name,
                               layout::to_string(subject.type)));
    }
    if (!take_word("contains")) {
      fail(token_, fmt::format("column '{}' is a set: ask whether it 'contains any (..)' or "
                               "'contains all (..)'",
                               subject.name));
    }
    const bool whole = take_word("all");
    if (!whole && !take_word("any")) fail(token_, "'any' or 'all' is missing after 'contains'");
    return labels_among(subject, whole, texts(subject));
  }

  ConditionPointer prefix(const Token& name, const Subject& subject) {
    if (subject.type != ColumnType::string) {
      fail(name, fmt::format("column '{}' is {}, and only a string has a prefix", subject.name,
                             layout::to_string(subject.type)));
    }
    std::string text = text_literal(subject);
    if (text.empty()) return text_comparison(subject, Comparison::greater_equal, "");
    return make_test(PrefixTest{subject, std::move(text)});
  }

  ConditionPointer compared(const Token& name, const Subject& subject) {
    for (const auto& [symbol, comparison] : kComparisons) {
      if (!take_symbol(symbol)) continue;
      if (token_.is_symbol("=")) fail(token_, "equality is written with one '='");
      if (token_.is_word("null")) {
        fail(token_, "nothing is equal to null: write 'is null' or 'is not null'");
      }
      if (subject.type == ColumnType::string) {
        return text_comparison(subject, comparison, text_literal(subject));
      }
      return key_test(subject, keys_where(comparison, cut_literal(subject), subject.type));
    }
    if (subject.type != ColumnType::boolean) {
      fail(token_, fmt::format("a comparison of column '{}' is missing", subject.name));
    }
    count_term(name);
    return key_test(subject, KeyRanges({{1, 1}}));
  }

  ConditionPointer between(const Subject& subject) {
    if (subject.type == ColumnType::string) {
      std::string low = text_literal(subject);
      require_word("and");
      return text_between(subject, std::move(low), text_literal(subject));
    }
    const Cut low = cut_literal(subject);
    require_word("and");
    const Cut high = cut_literal(subject);
    return key_test(subject, keys_where(Comparison::greater_equal, low, subject.type)
                                 .common(keys_where(Comparison::less_equal, high, subject.type)));
  }

  ConditionPointer among(const Subject& subject) {
    if (subject.type == ColumnType::string) return text_among(subject, texts(subject));
    std::vector<KeyRange> keys;
    const std::size_t count = list([&] {
      const Cut cut = cut_literal(subject);
      if (cut.exact) keys.push_back({*cut.at, *cut.at});
    });
    if (count == 0) return constant(false);
    return key_test(subject, KeyRanges(std::move(keys)));
  }

  /// Calls take_literal() for each literal of a list, and returns how many there are.
  template <typename TakeLiteral>
  std::size_t list(const TakeLiteral& take_literal) {
    require_symbol("(");
    if (take_symbol(")")) return 0;
    std::size_t count = 0;
    do {
      take_literal();
      ++count;
    } while (take_symbol(","));
    require_symbol(")");
    return count;
  }

  /// Returns the texts of a list, ascending and each once.
  std::vector<std::string> texts(const Subject& subject) {
    std::vector<std::string> texts;
    list([&] { texts.push_back(text_literal(subject)); });
    std::sort(texts.begin(), texts.end());
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    return texts;
  }

  [[noreturn]] void fail_literal(const Subject& subject, std::string_view wanted) const {
    const std::string what = subject.is_id() ? std::string("the id is u64")
                                             : fmt::format("column '{}' is {}", subject.name,
                                                           layout::to_string(subject.type));
    fail(token_, fmt::format("{}, which is compared with {}", what, wanted));
  }

  std::string text_literal(const Subject& subject) {
    if (token_.kind != Kind::text) fail_literal(subject, "a text in single quotes");
    count_term(token_);
    return take().value;
  }

  Cut cut_literal(const Subject& subject) {
    count_term(token_);
    if (subject.type == ColumnType::boolean) {
      if (!token_.is_word("true") && !token_.is_word("false")) {
        fail_literal(subject, "true or false");
      }
      return {take().is_word("true") ? 1u : 0u, true};
    }
    if (subject.type == ColumnType::timestamp && token_.kind == Kind::text) return moment_literal();
    if (token_.kind != Kind::number && !token_.is_word("inf")) {
      fail_literal(subject, subject.type == ColumnType::timestamp
                                ? "'2024-05-01', '2024-05-01T12:00:00Z' or microseconds"
                                : "a number");
    }
    return cut_of_number(take().bytes, subject.type);
  }

  Cut moment_literal() {
    const auto micros = parse_timestamp(token_.value);
    if (!micros) {
      fail(token_, "this is no timestamp, as '2024-05-01' and '2024-05-01T12:00:00.5+02:00' are");
    }
    advance();
    return {key_of(ColumnType::timestamp, static_cast<std::uint64_t>(*micros)), true};
  }

  ConditionLexer lexer_;
  const layout::Schema& schema_;
  Token token_;
  std::size_t nesting_ = 0;
  std::size_t terms_ = 0;
};

}  // namespace

ConditionPointer parse_condition(std::string_view text, const layout::Schema& schema) {
  ConditionPointer condition = ConditionParser(text, schema).whole();
  if (to_string(*condition).size() > kMostConditionBytes) {
    throw Error("the condition has more than {} bytes when it is written out", kMostConditionBytes);
  }
  return condition;
}

}  // namespace farvec::attributes
