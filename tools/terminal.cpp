#include "tools/terminal.h"

#include <unistd.h>

#include <cstdlib>

namespace voltcheck::tools {
namespace {

constexpr int kBarWidth = 30;
constexpr std::chrono::milliseconds kRedrawEvery{100};

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

}  // namespace

bool WantsColour(std::FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if ((no_color != nullptr && *no_color != '\0') || term == nullptr ||
      std::string_view(term) == "dumb") {
    return false;
  }
  return isatty(fileno(stream)) != 0;
}

std::string Paint(std::string_view text, Colour colour, bool enabled) {
  if (!enabled || colour == Colour::kNone) {
    return std::string(text);
  }
  return std::string(Escape(colour)).append(text).append("\x1b[0m");
}

Progress::Progress(std::uint64_t total, bool quiet)
    : enabled_(!quiet && isatty(STDERR_FILENO) != 0),
      total_(total),
      start_(std::chrono::steady_clock::now()) {
  if (enabled_) {
    Draw();
  }
}

Progress::~Progress() { Clear(); }

void Progress::Step(bool passed) {
  ++done_;
  failed_ += passed ? 0 : 1;
  if (enabled_ && std::chrono::steady_clock::now() - drawn_ >= kRedrawEvery) {
    Draw();
  }
}

void Progress::Draw() {
  drawn_ = std::chrono::steady_clock::now();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(drawn_ - start_).count();
  const auto filled = static_cast<int>(total_ == 0 ? 0 : done_ * kBarWidth / total_);
  const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                          std::string(static_cast<std::size_t>(kBarWidth - filled), '.');
  std::fprintf(stderr, "\r[%s] %llu/%llu cases, %llu not passed, %llds\x1b[K", bar.c_str(),
               static_cast<unsigned long long>(done_), static_cast<unsigned long long>(total_),
               static_cast<unsigned long long>(failed_), static_cast<long long>(seconds));
  std::fflush(stderr);
}

void Progress::Clear() {
  if (enabled_) {
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
    enabled_ = false;
  }
}

}  // namespace voltcheck::tools
