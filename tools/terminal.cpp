#include "tools/terminal.h"

#include <unistd.h>

#include <cstdlib>

namespace voltcheck::tools {
namespace {

constexpr int kBarWidth = 30;
constexpr std::chrono::milliseconds kRedrawEvery{100};
constexpr std::chrono::milliseconds kLineEvery{1000};

const char* Escape(Colour colour) {
  switch (colour) {
    case Colour::kRed:
      return "\x1b[31m";
    case Colour::kGreen:
      return "\x1b[32m";
    case Colour::kYellow:
      return "\x1b[33m";
    case Colour::kBold:
      return "\x1b[1m";
    case Colour::kNone:
      break;
  }
  return "";
}

// A terminal that does what it is told: TERM=dumb prints escape sequences as they are.
bool IsCapable(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  return term != nullptr && std::string_view(term) != "dumb" && isatty(fileno(stream)) != 0;
}

}  // namespace

bool WantsColour(std::FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && IsCapable(stream);
}

std::string Paint(std::string_view text, Colour colour, bool enabled) {
  if (!enabled || colour == Colour::kNone) {
    return std::string(text);
  }
  return std::string(Escape(colour)).append(text).append("\x1b[0m");
}

Progress::Progress(std::uint64_t total, bool quiet, const char* unit)
    : enabled_(!quiet && IsCapable(stderr)),
      unit_(unit),
      total_(total),
      start_(std::chrono::steady_clock::now()) {
  if (enabled_) {
    Draw();
  }
}

Progress::~Progress() { Clear(); }

void Progress::AsJson() {
  Clear();
  enabled_ = true;
  json_ = true;
  Draw();
}

void Progress::Step(bool passed) {
  failed_ += passed ? 0 : 1;
  Reach(done_ + 1);
}

void Progress::Reach(std::uint64_t done) {
  done_ = done;
  const auto wait = json_ ? kLineEvery : kRedrawEvery;
  if (enabled_ &&
      (std::chrono::steady_clock::now() - drawn_ >= wait || (json_ && done_ == total_))) {
    Draw();
  }
}

void Progress::Draw() {
  drawn_ = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(drawn_ - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done_) / seconds : 0;
  const double left = rate > 0 ? static_cast<double>(total_ - done_) / rate : -1;
  if (json_) {
    PrintJson(seconds, rate, left);
    return;
  }
  const auto filled = static_cast<int>(total_ == 0 ? 0 : done_ * kBarWidth / total_);
  const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                          std::string(static_cast<std::size_t>(kBarWidth - filled), '.');
  const std::string failed = std::string_view(unit_) == "cases"
                                 ? ", " + std::to_string(failed_) + " not passed"
                                 : std::string();
  std::fprintf(stderr, "\r[%s] %llu/%llu %s%s, %.0fs", bar.c_str(),
               static_cast<unsigned long long>(done_), static_cast<unsigned long long>(total_),
               unit_, failed.c_str(), seconds);
  if (left >= 0 && seconds >= 1) {
    std::fprintf(stderr, ", %.3g/s, %.0fs left", rate, left);
  }
  std::fputs("\x1b[K", stderr);
  std::fflush(stderr);
}

void Progress::PrintJson(double seconds, double rate, double left) {
  std::fprintf(stderr,
               "{\"progress\": {\"unit\": \"%s\", \"done\": %llu, \"total\": %llu, "
               "\"not_passed\": %llu, \"seconds\": %.1f, \"per_second\": %.4g, "
               "\"seconds_left\": %.1f}}\n",
               unit_, static_cast<unsigned long long>(done_),
               static_cast<unsigned long long>(total_), static_cast<unsigned long long>(failed_),
               seconds, rate, left);
  std::fflush(stderr);
}

void Progress::Clear() {
  if (enabled_ && !json_) {
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
  }
  enabled_ = false;
}

}  // namespace voltcheck::tools
