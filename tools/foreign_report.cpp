#include "tools/foreign_report.h"

#include "tools/json_record.h"

namespace voltcheck::tools {

using Json = nlohmann::ordered_json;

namespace {

Json ToJson(const verify::TacticMatch& match) {
  Json tactics = Json::array();
  for (const Tactic& tactic : match.tactics) {
    tactics.push_back(ToString(tactic));
  }
  return {{"looked_for", match.looked_for}, {"tactics", tactics}};
}

}  // namespace

std::string TacticText(const char* gemm, const verify::TacticMatch& match) {
  std::string text = std::string(gemm) + ": ";
  if (!match.looked_for) {
    return text + "no output tells";
  }
  if (match.tactics.empty()) {
    return text + "no tactic reproduces the bits";
  }
  constexpr std::size_t kShown = 3;
  text += "bit for bit ";
  for (std::size_t i = 0; i < match.tactics.size() && i < kShown; ++i) {
    text += (i == 0 ? "" : ", ") + ToString(match.tactics[i]);
  }
  if (match.tactics.size() > kShown) {
    text += " and " + std::to_string(match.tactics.size() - kShown) + " more of the same order";
  }
  return text;
}

Json ToJson(const verify::ForeignVerdict& verdict) {
  return {{"w13", ToJson(verdict.tactics.w13)},
          {"w2", ToJson(verdict.tactics.w2)},
          {"order", verify::ToString(verdict.order)},
          {"logits", verdict.logits ? ToJson(*verdict.logits) : Json()}};
}

void PrintLogits(std::FILE* out, const verify::ForeignVerdict& verdict) {
  if (!verdict.logits) {
    return;
  }
  const verify::LogitFigures& f = *verdict.logits;
  std::fprintf(
      out,
      "  logits (not judged): %llu rows, max |diff| %.6g, RMS %.6g, %llu of the same greedy "
      "choice, KL mean %.3g\n",
      static_cast<unsigned long long>(f.rows), f.max_abs, f.rms,
      static_cast<unsigned long long>(f.argmax_equal), f.kl_mean);
}

}  // namespace voltcheck::tools
