#ifndef VOLTCHECK_TOOLS_TERMINAL_H_
#define VOLTCHECK_TOOLS_TERMINAL_H_

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace voltcheck::tools {

/// Colours that mean something: green passed, red failed, yellow everything between.
enum class Colour { kNone, kRed, kGreen, kYellow, kBold };

/// Whether `stream` is a terminal that wants colours: never with NO_COLOR set, never TERM=dumb.
bool WantsColour(std::FILE* stream);

/// `text` in `colour`, or unchanged when `enabled` is false.
std::string Paint(std::string_view text, Colour colour, bool enabled);

/// A progress bar on standard error; nothing at all when that is no terminal or `quiet`.
class Progress {
 public:
  /// `unit` is what is counted. How many did not pass is said of cases alone.
  Progress(std::uint64_t total, bool quiet, const char* unit = "cases");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Step(bool passed);
  /// `done` of the total, for what is not counted one by one.
  void Reach(std::uint64_t done);
  /// Instead of the bar, a line of JSON a second, on a terminal or not, for programs that watch.
  void AsJson();
  /// Erases the bar, so that other output may follow.
  void Clear();

 private:
  void Draw();
  void PrintJson(double seconds, double rate, double left);

  bool enabled_;
  bool json_ = false;
  const char* unit_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  std::uint64_t failed_ = 0;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_TERMINAL_H_
