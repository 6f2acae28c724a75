#include "verify/mutation/journal.h"

#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "fixtures/case/error.h"

namespace voltcheck::mutation {
namespace {

using Json = nlohmann::json;

constexpr const char* kSchema = "voltcheck.mutate-journal/1";

Json ToJson(const MutantResult& r) {
  return {{"id", r.mutant.id},
          {"change", r.mutant.what},
          {"fate", ToString(r.fate)},
          {"reason", r.reason},
          {"verdict", static_cast<int>(r.killer.verdict)},
          {"case", r.killer.descriptor},
          {"schedule", r.schedule},
          {"cases_run", r.cases},
          {"deep", r.deep},
          {"rejected", r.rejected},
          {"seconds", r.seconds}};
}

Fate ParseFate(const std::string& text) {
  for (const Fate fate : {Fate::kDiscarded, Fate::kEquivalent, Fate::kCaught, Fate::kSurvived}) {
    if (ToString(fate) == text) {
      return fate;
    }
  }
  throw Json::other_error::create(501, "no fate", nullptr);
}

MutantResult ParseMutant(const Json& json) {
  MutantResult r;
  json.at("id").get_to(r.mutant.id);
  json.at("change").get_to(r.mutant.what);
  r.fate = ParseFate(json.at("fate").get<std::string>());
  json.at("reason").get_to(r.reason);
  const int verdict = json.at("verdict").get<int>();
  if (verdict < 0 || verdict > static_cast<int>(verify::Verdict::kUntested)) {
    throw Json::other_error::create(501, "no verdict", nullptr);
  }
  r.killer.verdict = static_cast<verify::Verdict>(verdict);
  json.at("case").get_to(r.killer.descriptor);
  json.at("schedule").get_to(r.schedule);
  json.at("cases_run").get_to(r.cases);
  json.at("deep").get_to(r.deep);
  json.at("rejected").get_to(r.rejected);
  json.at("seconds").get_to(r.seconds);
  return r;
}

Json ToJson(std::uint64_t first, const HonestFigures& figures) {
  return {{"honest_from", first},
          {"cases", figures.cases},
          {"alarms", figures.alarms},
          {"policy_alarms", figures.policy_alarms},
          {"examples", figures.examples}};
}

HonestFigures ParseHonest(const Json& json) {
  HonestFigures figures;
  json.at("cases").get_to(figures.cases);
  json.at("alarms").get_to(figures.alarms);
  json.at("policy_alarms").get_to(figures.policy_alarms);
  json.at("examples").get_to(figures.examples);
  return figures;
}

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

Journal::Journal(const std::string& path, const std::string& key) : path_(path) {
  const std::string text = ReadAll(path);
  const std::string head = Json{{"schema", kSchema}, {"key", key}}.dump();
  std::size_t whole = 0;
  std::size_t number = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', whole)) {
    const std::string line = text.substr(whole, end - whole);
    whole = end + 1;
    const std::string where = path + ":" + std::to_string(++number);
    if (number == 1) {
      if (line != head) {
        throw BadInput(where, "is the journal of another campaign, or none",
                       "repeat the options and kernels that it was begun with, or name a new file");
      }
      continue;
    }
    try {
      const Json json = Json::parse(line);
      if (json.contains("honest_from")) {
        honest_[json.at("honest_from").get<std::uint64_t>()] = ParseHonest(json);
      } else {
        MutantResult result = ParseMutant(json);
        const std::string id = result.mutant.id;
        mutants_[id] = std::move(result);
      }
    } catch (const Json::exception&) {
      throw BadInput(where, "is no line of a journal", "remove it");
    }
  }
  if (whole < text.size()) {
    std::filesystem::resize_file(path, whole);
  }
  out_.open(path, std::ios::binary | std::ios::app);
  if (!out_) {
    throw BadInput(path, "cannot be written", "name a file in a folder that can be");
  }
  if (whole == 0) {
    Write(head);
  }
}

void Journal::Append(const MutantResult& result) { Write(ToJson(result).dump()); }

void Journal::Append(std::uint64_t first, const HonestFigures& figures) {
  Write(ToJson(first, figures).dump());
}

void Journal::Write(const std::string& line) {
  out_ << line << '\n' << std::flush;
  if (!out_) {
    throw BadInput(path_, "cannot be written", "make room on its disk");
  }
}

}  // namespace voltcheck::mutation
