#include "base/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/temporary_folder.h"

namespace farvec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Outcome {
  std::optional<int> status;
  std::string out;
  std::string err;
};

Outcome parse(CommandLine& line, std::vector<std::string> words) {
  words.insert(words.begin(), "/usr/bin/program");
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.status = line.parse(static_cast<int>(argv.size()), argv.data());
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

/// Of a program whose one option `--x` holds a T and is what `limit` makes of it.
template <typename T>
Outcome parse_one(const std::vector<std::string>& words, T& value, void (*limit)(Option)) {
  CommandLine line("tests", "program");
  limit(line.add_option("--x", value, "a value"));
  return parse(line, words);
}

template <typename T>
bool takes(const std::string& text, void (*limit)(Option)) {
  T value{};
  return !parse_one({"--x", text}, value, limit).status.has_value();
}

TEST(CommandLine, ReadsEveryType) {
  CommandLine line("tests");
  std::string word;
  std::uint16_t small = 0;
  std::uint32_t number = 0;
  std::uint64_t large = 0;
  float single = 0;
  double real = 0;
  std::optional<std::uint32_t> maybe;
  std::optional<std::uint32_t> none;
  std::vector<std::string> words;
  std::vector<std::uint32_t> numbers;
  std::vector<float> singles{7};
  std::vector<double> reals;
  bool flag = false;
  line.add_option("word", word);
  line.add_option("--small", small);
  line.add_option("-n,--number", number);
  line.add_option("--large", large);
  line.add_option("--single", single);
  line.add_option("--real", real);
  line.add_option("--maybe", maybe);
  line.add_option("--none", none);
  line.add_option("--words", words).one_at_a_time();
  line.add_option("--numbers", numbers).comma_separated();
  line.add_option("--singles", singles);
  line.add_option("--reals", reals);
  line.add_flag("--flag", flag, "a flag");
  const Outcome outcome = parse(
      line, {"--small", "65535",   "-n",      "3", "--large",   "5000000000", "--single", "0.5",
             "--real",  "1e3",     "--maybe", "0", "--words",   "a",          "--words",  "b",
             "file",    "--reals", "1",       "2", "--numbers", "1,2,3",      "--flag"});
  EXPECT_EQ(outcome.status, std::nullopt) << outcome.err;
  EXPECT_EQ(word, "file");
  EXPECT_EQ(small, 65535);
  EXPECT_EQ(number, 3u);
  EXPECT_EQ(large, 5'000'000'000u);
  EXPECT_EQ(single, 0.5f);
  EXPECT_EQ(real, 1000);
  EXPECT_EQ(maybe, 0u);
  EXPECT_EQ(none, std::nullopt);
  EXPECT_THAT(words, ElementsAre("a", "b"));
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3));
  EXPECT_THAT(singles, ElementsAre(7));
  EXPECT_THAT(reals, ElementsAre(1, 2));
  EXPECT_TRUE(flag);
}

TEST(CommandLine, GivesValuesToFunctions) {
  CommandLine line("tests");
  int whole = 0;
  double real = 0;
  line.add_option<int>(
      "--whole", [&](int value) { whole = value; }, "");
  line.add_option<double>(
      "--real", [&](double value) { real = value; }, "");
  EXPECT_EQ(parse(line, {"--whole", "-3", "--real", "0.25"}).status, std::nullopt);
  EXPECT_EQ(whole, -3);
  EXPECT_EQ(real, 0.25);
}

TEST(CommandLine, SaysWhatIsWrongWithAValue) {
  std::uint32_t value = 7;
  const Outcome outcome =
      parse_one({"--x", "5"}, value, [](Option option) { option.range(1u, 4u); });
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "--x: Value 5 not in range 1 to 4\nRun with --help for more information.\n");
}

TEST(CommandLine, ANumberIsTakenAsItIsOrRefused) {
  const auto refused = [](auto value, const std::string& word) {
    CommandLine line("test", "test");
    line.add_option("--x", value);
    const std::string given = "--x=" + word;
    const char* words[] = {"test", given.c_str()};
    testing::internal::CaptureStderr();
    const std::optional<int> status = line.parse(2, const_cast<char**>(words));
    (void)testing::internal::GetCapturedStderr();
    return status.has_value();
  };
  for (const char* const word : {"-1", "-11", " -3", "-4294967297", "18446744073709551616",
                                 "-18446744073709551615", "1.9", "1e3", "true", "5x"}) {
    EXPECT_TRUE(refused(std::uint16_t{}, word)) << word;
    EXPECT_TRUE(refused(std::uint32_t{}, word)) << word;
    EXPECT_TRUE(refused(std::uint64_t{}, word)) << word;
    EXPECT_TRUE(refused(std::optional<std::uint64_t>{}, word)) << word;
    EXPECT_TRUE(refused(std::vector<std::uint32_t>{}, word)) << word;
  }
  for (const char* const word : {"0", "18446744073709551615", "0x10"}) {
    EXPECT_FALSE(refused(std::uint64_t{}, word)) << word;
  }
  EXPECT_TRUE(refused(std::uint32_t{}, "4294967296"));
}

TEST(CommandLine, RangesHaveBothEnds) {
  const auto whole = [](Option option) { option.range(-2, 4); };
  EXPECT_TRUE(takes<double>("-2", whole) && takes<double>("4", whole));
  EXPECT_FALSE(takes<double>("-3", whole) || takes<double>("5", whole));
  EXPECT_FALSE(takes<double>("0.5", whole));
  const auto real = [](Option option) { option.range(0.5, 2.0); };
  EXPECT_TRUE(takes<double>("0.5", real) && takes<double>("2", real));
  EXPECT_FALSE(takes<double>("0.4", real) || takes<double>("2.1", real));
  const auto positive = [](Option option) { option.positive(); };
  EXPECT_TRUE(takes<double>("0.1", positive));
  EXPECT_FALSE(takes<double>("0", positive) || takes<double>("-1", positive));
}

TEST(CommandLine, NanIsNoNumber) {
  const auto anything = [](Option) {};
  const auto real = [](Option option) { option.range(-1e30, 1e30); };
  for (const char* const word : {"nan", "NaN", "-nan", "nan(1)"}) {
    EXPECT_FALSE(takes<double>(word, anything)) << word;
    EXPECT_FALSE(takes<float>(word, real)) << word;
    EXPECT_FALSE(takes<std::vector<float>>(word, anything)) << word;
  }
  EXPECT_TRUE(takes<double>("inf", anything));
  EXPECT_TRUE(takes<std::string>("nan", anything));
}

TEST(CommandLine, TakesOneOfSomeWords) {
  const auto colors = [](Option option) { option.one_of({"red", "blue"}); };
  EXPECT_TRUE(takes<std::string>("red", colors));
  std::string value;
  EXPECT_THAT(parse_one({"--x", "green"}, value, colors).err, HasSubstr("green not in {red,blue}"));
}

TEST(CommandLine, TakesSizes) {
  const auto size = [](Option option) { option.size(); };
  std::uint64_t bytes = 0;
  EXPECT_EQ(parse_one({"--x", "64KiB"}, bytes, size).status, std::nullopt);
  EXPECT_EQ(bytes, 65536u);
  CommandLine line("tests");
  line.add_option("-b,--bytes", bytes).size();
  const char* words[] = {"program", "--bytes", "64Q"};
  try {
    (void)line.parse(3, const_cast<char**>(words));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--bytes: '64Q' is no size"));
  }
}

TEST(CommandLine, WantsWhatIsRequired) {
  std::string value;
  const Outcome outcome = parse_one({}, value, [](Option option) { option.required(); });
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--x is required"));
}

TEST(CommandLine, OptionsNeedAndExcludeEachOther) {
  const auto status = [](const std::vector<std::string>& words) {
    CommandLine line("tests");
    bool file = false;
    bool resume = false;
    bool overwrite = false;
    const Option needed = line.add_flag("--file", file, "");
    const Option excluded = line.add_flag("--overwrite", overwrite, "");
    line.add_flag("--resume", resume, "").needs(needed).excludes(excluded);
    return parse(line, words).status;
  };
  EXPECT_EQ(status({"--file", "--resume"}), std::nullopt);
  EXPECT_EQ(status({"--file", "--overwrite"}), std::nullopt);
  EXPECT_EQ(status({"--resume"}), 2);
  EXPECT_EQ(status({"--file", "--resume", "--overwrite"}), 2);
}

TEST(CommandLine, HelpAndVersionEndTheProgram) {
  CommandLine line("What it does", "program");
  std::uint32_t shown = 12;
  std::uint32_t hidden = 34;
  line.version("program 1.2");
  line.footer("An example");
  line.add_option("--shown", shown, "a number").show_default();
  line.add_option("--hidden", hidden, "another").group("Special");
  const Outcome help = parse(line, {"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* text : {"What it does", "--shown UINT=12", "Special:", "An example"}) {
    EXPECT_THAT(help.out, HasSubstr(text));
  }
  EXPECT_THAT(help.out, testing::Not(HasSubstr("34")));
  const Outcome version = parse(line, {"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out, "program 1.2\n");
}

TEST(CommandLine, KnowsWhatWasGiven) {
  CommandLine line("tests");
  std::uint32_t value = 1;
  line.add_option("--given", value);
  line.add_option("--left-out", value);
  EXPECT_EQ(parse(line, {"--given", "1"}).status, std::nullopt);
  EXPECT_TRUE(line.was_given("--given"));
  EXPECT_FALSE(line.was_given("--left-out"));
  EXPECT_FALSE(line.was_given("--unknown"));
}

/// A program that takes a file of options, beside its command line.
class ConfiguredLine : public testing::Test {
 protected:
  ConfiguredLine() {
    line_.add_option("--listen", listen_).one_of({"here", "there"});
    line_.add_option("--bytes", bytes_).size();
    line_.add_option("--names", names_).one_at_a_time();
    line_.add_flag("--quiet", quiet_, "");
    line_.takes_config();
  }

  Outcome configured(const std::string& text, std::vector<std::string> words = {}) {
    std::ofstream(path_) << text;
    words.insert(words.end(), {"--config", path_});
    return parse(line_, words);
  }

  const tests::TemporaryFolder folder_;
  const std::string path_ = folder_.file("program.conf");
  CommandLine line_{"tests", "program"};
  std::string listen_ = "nowhere";
  std::string bytes_;
  std::vector<std::string> names_;
  bool quiet_ = false;
};

TEST_F(ConfiguredLine, ReadsTheFile) {
  const Outcome outcome = configured(
      "# a comment\nlisten = \"here\"\nbytes = 1KiB\nnames = a,b\nnames = \"c d\"\nquiet = true\n");
  EXPECT_EQ(outcome.status, std::nullopt) << outcome.err;
  EXPECT_EQ(listen_, "here");
  EXPECT_EQ(bytes_, "1024");
  EXPECT_THAT(names_, ElementsAre("a,b", "c d"));
  EXPECT_TRUE(quiet_);
  EXPECT_TRUE(line_.was_given("--bytes"));
}

TEST_F(ConfiguredLine, LeavesWhatTheFileDoesNotSay) {
  EXPECT_EQ(configured("quiet = false").status, std::nullopt);
  EXPECT_EQ(listen_, "nowhere");
  EXPECT_FALSE(quiet_);
  EXPECT_FALSE(line_.was_given("--listen"));
}

TEST_F(ConfiguredLine, TheCommandLineGoesBeforeIt) {
  EXPECT_EQ(configured("listen = here\nnames = a", {"--listen=there", "--names", "b"}).status,
            std::nullopt);
  EXPECT_EQ(listen_, "there");
  EXPECT_THAT(names_, ElementsAre("b"));
  EXPECT_EQ(parse(line_, {"--config=" + path_}).status, std::nullopt);
}

TEST_F(ConfiguredLine, SaysWhatIsWrongWithIt) {
  const auto refused = [&](const std::string& text, const std::string& words) {
    const Outcome outcome = configured(text);
    EXPECT_EQ(outcome.status, 2) << text;
    EXPECT_THAT(outcome.err, HasSubstr(words));
  };
  refused("quiet = true\nlisen = here", path_ + ":2: there is no option 'lisen'");
  refused("config = x", path_ + ":1: there is no option 'config'");
  refused("listen", path_ + ":1: a line is");
  refused("listen = elsewhere", "--listen");
  refused("listen = here\nlisten = there", "--listen");
  refused("quiet = perhaps", "perhaps");
  std::filesystem::remove(path_);
  const Outcome outcome = parse(line_, {"--config", path_});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr(path_));
  EXPECT_EQ(parse(line_, {"--config"}).status, 2);
}

TEST(CommandLine, TakesNoConfigUnasked) {
  CommandLine line("tests", "program");
  EXPECT_EQ(parse(line, {"--config", "/nonexistent"}).status, 2);
}

/// program (first [--x N] | second (--a | --b)).
class Commands : public testing::Test {
 protected:
  Commands() {
    line_.require_command();
    Command first = line_.add_command("first", "");
    first.add_option("--x", x_);
    first.callback([this, first] { calls_ += first.was_given("--x") ? "first with x" : "first"; });
    Command second = line_.add_command("second", "");
    Command choice = second.add_choice("which", "One of");
    choice.add_flag("--a", a_, "");
    choice.add_flag("--b", b_, "");
    second.callback([this] {
      if (b_) throw UsageError("b is {}", "nonsense");
      throw std::range_error("second");
    });
  }

  CommandLine line_{"tests", "program"};
  std::uint32_t x_ = 0;
  bool a_ = false;
  bool b_ = false;
  std::string calls_;
};

TEST_F(Commands, AreCalled) {
  EXPECT_EQ(parse(line_, {"first", "--x", "3"}).status, std::nullopt);
  EXPECT_EQ(x_, 3u);
  EXPECT_EQ(calls_, "first with x");
}

TEST_F(Commands, OneIsRequired) {
  EXPECT_THAT(parse(line_, {}).err, HasSubstr("A subcommand is required"));
  EXPECT_EQ(calls_, "");
}

TEST_F(Commands, TheUnknownOneIsNamed) {
  const Outcome outcome = parse(line_, {"fisrt", "--x", "3"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err,
              testing::StartsWith("program: error: there is no command or argument 'fisrt'\n"));
}

TEST_F(Commands, AChoiceIsOneOption) {
  EXPECT_EQ(parse(line_, {"second"}).status, 2);
  EXPECT_EQ(parse(line_, {"second", "--a", "--b"}).status, 2);
}

TEST_F(Commands, FailuresOfACommandPass) {
  const char* words[] = {"program", "second", "--a"};
  EXPECT_THROW((void)line_.parse(3, const_cast<char**>(words)), std::range_error);
}

TEST_F(Commands, AUsageErrorIsReported) {
  const Outcome outcome = parse(line_, {"second", "--b"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "b is nonsense\nRun with --help for more information.\n");
}

}  // namespace
}  // namespace farvec
