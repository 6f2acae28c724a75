#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "verify/explain/write.h"

namespace voltcheck::explain {
namespace {

// Without a departure every step at which the device was asked, in long sums this many.
constexpr std::size_t kMostSteps = 24;
constexpr int kAround = 2;

__attribute__((format(printf, 2, 3))) void Print(std::string& out, const char* format, ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  out.append(line, static_cast<std::size_t>(std::min(length, static_cast<int>(sizeof(line)) - 1)));
}

std::string Number(const std::optional<double>& x) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.8g", x.value_or(0));
  return x ? text : "-";
}

void PrintRoutes(const Explanation& e, std::string& out) {
  for (const RowRoute& r : e.routes) {
    Print(out, "  row %d = slot %d = token %d, route %d, expert %d, weight %.6g\n", r.row, r.slot,
          r.token, r.route, r.expert, static_cast<double>(r.router_weight));
    if (e.routes.size() == 1 && r.segment >= 0) {
      Print(out, "  segment %d holds rows %d..%d of this expert\n", r.segment, r.segment_begin,
            r.segment_end - 1);
    }
  }
}

bool IsShown(const Explanation& e, std::size_t i) {
  if (e.steps.size() <= kMostSteps) {
    return true;
  }
  const auto at = static_cast<int>(i);
  const bool around = e.departure >= 0 && std::abs(at - e.departure) <= kAround;
  const bool end_of_split = i + 1 < e.steps.size() && e.steps[i].split != e.steps[i + 1].split;
  return around || end_of_split || i + 1 == e.steps.size() || i == 0 ||
         e.steps[i].sum.device.has_value();
}

void PrintSteps(const Explanation& e, std::string& out) {
  Print(out, "\n  %-18s %14s %14s %14s %14s\n", "sum after", "device", "model", "fp32", "fp64");
  bool skipped = false;
  for (std::size_t i = 0; i < e.steps.size(); ++i) {
    if (!IsShown(e, i)) {
      skipped = true;
      continue;
    }
    if (skipped) {
      Print(out, "  ...\n");
      skipped = false;
    }
    const Step& s = e.steps[i];
    std::string label = s.label;
    if (s.split >= 0) {
      label = std::to_string(s.split) + ": " + label;
    }
    const char mark = static_cast<int>(i) == e.departure ? '>' : s.differs ? '!' : ' ';
    Print(out, "%c %-18.18s %14s %14s %14.8g %14.8g\n", mark, label.c_str(),
          Number(s.sum.device).c_str(), Number(s.sum.model).c_str(), s.sum.fp32, s.sum.fp64);
    if (s.differs && s.model_half) {
      Print(out, "  %-18s %14s %14s\n", "  as halves", Number(s.sum.device).c_str(),
            Number(s.model_half).c_str());
    }
  }
}

// "note: ..." over as many lines as it takes.
void PrintNote(const std::string& note, std::string& out) {
  constexpr std::size_t kWidth = 72;
  const char* start = "  note: ";
  for (std::size_t at = 0; at < note.size();) {
    std::size_t end = note.size();
    if (end - at > kWidth) {
      const std::size_t space = note.rfind(' ', at + kWidth);
      end = space == std::string::npos || space <= at ? at + kWidth : space;
    }
    out += start + note.substr(at, end - at) + "\n";
    start = "        ";
    at = end + (end < note.size() && note[end] == ' ' ? 1 : 0);
  }
}

void PrintRouteFactors(const Explanation& e, std::string& out) {
  Print(out, "\nwhat enters\n  %6s %14s %14s %14s\n", "route", "router weight", "w2 output",
        "product");
  for (const Factor& f : e.factors) {
    Print(out, "  %6d %14.8g %14.8g %14.8g\n", f.k, f.activation, f.weight,
          f.activation * f.weight);
  }
}

void PrintFactors(const Explanation& e, std::string& out) {
  if (e.stage == verify::Stage::kOutput) {
    PrintRouteFactors(e, out);
    return;
  }
  if (e.factors.empty() || e.departure < 0) {
    return;
  }
  const int first = e.steps[static_cast<std::size_t>(e.departure)].k;
  if (first < 0 || e.factors.front().nibble < 0) {
    return;
  }
  Print(out, "\nwhat enters there\n  %6s %14s %14s %6s %4s %12s %6s %6s\n", "k", "activation",
        "weight", "nibble", "zero", "scale", "group", "word");
  for (int k = first; k < first + 4 && k < static_cast<int>(e.factors.size()); ++k) {
    const Factor& f = e.factors[static_cast<std::size_t>(k)];
    Print(out, "  %6d %14.8g %14.8g %6d %4d %12.6g %6d %4d.%d\n", f.k, f.activation, f.weight,
          f.nibble, f.zero, f.scale, f.group, f.word, f.place);
  }
}

void PrintDeparture(const Explanation& e, std::string& out) {
  if (e.departure < 0) {
    const bool same = e.result.device && e.result.model && *e.result.device == *e.result.model;
    Print(out, "%s\n", same ? "\nthe device follows the model to the last bit" : "");
    return;
  }
  const Step& s = e.steps[static_cast<std::size_t>(e.departure)];
  Print(out, "\nthey part at %s", s.label.c_str());
  if (s.split >= 0) {
    Print(out, " of split %d", s.split);
  }
  Print(out, ": device %s, model %s\n", Number(s.sum.device).c_str(),
        Number(s.model_half ? s.model_half : s.sum.model).c_str());
}

}  // namespace

std::string ToText(const Explanation& e) {
  std::string out;
  Print(out, "%s at (%d, %d): %s\n", std::string(verify::ToString(e.stage)).c_str(), e.row, e.col,
        e.what.c_str());
  if (!e.tactic.empty()) {
    Print(out, "  tactic %s, %zu steps of k\n", e.tactic.c_str(), e.steps.size());
  }
  PrintRoutes(e, out);
  for (const std::string& note : e.notes) {
    PrintNote(note, out);
  }
  Print(out, "\n  %-18s %14s %14s %14s %14s\n", "", "device", "model", "fp32", "fp64");
  Print(out, "  %-18s %14s %14s %14.8g %14.8g\n", "result", Number(e.result.device).c_str(),
        Number(e.result.model).c_str(), e.result.fp32, e.result.fp64);
  const auto distance = [&](const std::optional<double>& x) {
    return x ? std::optional(*x - e.result.fp64) : std::nullopt;
  };
  Print(out, "  %-18s %14s %14s %14.4g\n", "minus fp64", Number(distance(e.result.device)).c_str(),
        Number(distance(e.result.model)).c_str(), e.result.fp32 - e.result.fp64);
  if (e.budget) {
    Print(out, "  %-18s %14.8g\n", "budget", *e.budget);
    if (e.result.device && *e.budget > 0) {
      Print(out, "  %-18s %14.4g\n", "budget use",
            std::abs(*e.result.device - e.result.fp64) / *e.budget);
    }
  }
  PrintSteps(e, out);
  PrintDeparture(e, out);
  PrintFactors(e, out);
  return out;
}

}  // namespace voltcheck::explain
