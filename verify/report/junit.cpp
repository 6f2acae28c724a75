// A run as JUnit XML. A case that did not pass is a failure, one that crashed or was not tested an
// error, and so is a skip that the run's configuration does not allow.
#include <array>
#include <functional>
#include <numeric>

#include "verify/report/render.h"
#include "verify/report/summary.h"
#include "verify/report/text.h"

namespace voltcheck::report {
namespace {

using verify::Verdict;

// Which element of JUnit says what a verdict says.
enum class Element { kNone, kFailure, kError, kSkipped };

Element ElementOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return Element::kNone;
    case Verdict::kSkipped:
      return Element::kSkipped;
    case Verdict::kCrashed:
    case Verdict::kUntested:
      return Element::kError;
    default:
      return Element::kFailure;
  }
}

struct Test {
  std::string name;
  std::string class_name;
  Verdict verdict = Verdict::kUntested;
  Element element = Element::kNone;
  std::string message;
  std::string details;
};

// A suite: its tests are made when they are asked for, first to be counted and then to be written.
using TestSink = std::function<void(const Test& test)>;
struct Suite {
  std::string name;
  std::array<std::size_t, 4> counts{};  // by Element
  std::function<void(const TestSink& sink)> visit;

  std::size_t Number(Element element) const { return counts[static_cast<std::size_t>(element)]; }
  std::size_t tests() const {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  }
};

std::string Attribute(const char* name, const std::string& value) {
  return std::string(" ").append(name).append("=\"").append(EscapeMarkup(value)).append("\"");
}

std::string Counts(std::size_t tests, std::size_t failures, std::size_t errors) {
  return Attribute("tests", std::to_string(tests)) +
         Attribute("failures", std::to_string(failures)) +
         Attribute("errors", std::to_string(errors));
}

std::string Counts(std::size_t tests, std::size_t failures, std::size_t errors,
                   std::size_t skipped) {
  return Counts(tests, failures, errors) + Attribute("skipped", std::to_string(skipped));
}

std::string ToXml(const Test& test) {
  std::string xml = "    <testcase" + Attribute("name", test.name) +
                    Attribute("classname", test.class_name) + Attribute("time", "0");
  const std::string verdict(verify::ToString(test.verdict));
  switch (test.element) {
    case Element::kNone:
      return xml + "/>\n";
    case Element::kSkipped:
      return xml + ">\n      <skipped" + Attribute("message", test.message) +
             "/>\n    </testcase>\n";
    case Element::kFailure:
    case Element::kError:
      break;
  }
  const std::string element = test.element == Element::kError ? "error" : "failure";
  return xml + ">\n      <" + element + Attribute("message", test.message) +
         Attribute("type", verdict) + ">" + EscapeMarkup(test.details) + "</" + element +
         ">\n    </testcase>\n";
}

std::string Details(const RunData& run, const CaseFigures& c) {
  std::string text = c.reason + "\nrepeat: " + run.Reproduction(c.descriptor) + "\n";
  for (const verify::Stage stage : verify::kStages) {
    const StageFigures& f = c.at(stage);
    if (f.ran()) {
      text += std::string(verify::ToString(stage)) + ": " +
              std::string(verify::ToString(f.verdict)) + ", budget use " + Figure(f.Use()) +
              ", end to end " + Figure(f.end_to_end_use) + ", max |d| to FP32 " +
              Figure(f.max_abs) + ", bits off " + std::to_string(f.bits_differing) + "\n";
    }
  }
  return text;
}

void VisitCases(const RunData& run, const RunSummary& summary, const TestSink& sink) {
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const CaseFigures& c = run.cases[i];
    Test test{c.descriptor, "voltcheck." + c.data, c.verdict, ElementOf(c.verdict), c.reason, ""};
    if (test.element == Element::kSkipped && !summary.allowed_skip[i]) {
      test.element = Element::kError;
    }
    if (test.element != Element::kNone) {
      test.details = Details(run, c);
    } else if (c.has_nan) {
      test.element = Element::kFailure;
      test.message = "passed, but figures in the run file are NaN";
      test.details = Details(run, c);
    }
    sink(test);
  }
}

void VisitProperties(const RunData& run, const TestSink& sink) {
  for (const verify::PropertyRecord& p : run.properties) {
    sink({p.property + " #" + std::to_string(p.draw) + ": " + p.descriptor,
          "voltcheck.properties." + p.property, p.verdict, ElementOf(p.verdict), p.reason,
          p.reason + "\nrepeat: " + p.reproduction + "\n"});
  }
}

// Mutants that survived say that the gate is weak, so they are failures.
void VisitMutants(const RunData& run, const TestSink& sink) {
  for (const MutantEntry& m : run.mutants) {
    const Verdict verdict = m.fate == "caught"     ? Verdict::kPassed
                            : m.fate == "survived" ? Verdict::kFailed
                                                   : Verdict::kSkipped;
    sink({m.id, "voltcheck.mutants." + m.op, verdict, ElementOf(verdict), m.fate + ": " + m.reason,
          m.change + "\n" + m.reason + "\n"});
  }
}

void VisitMain(const RunData& run, const RunSummary& summary, const TestSink& sink) {
  // The cases of a run of mutants are those that caught one: not passing is what they are for.
  if (run.has_mutants) {
    VisitMutants(run, sink);
  } else {
    VisitCases(run, summary, sink);
  }
  if (!run.complete) {
    sink({"the whole run", "voltcheck.run", Verdict::kUntested, Element::kError, Interruption(run),
          ""});
  }
}

std::vector<Suite> SuitesOf(const RunData& run, const RunSummary& summary) {
  std::vector<Suite> suites;
  suites.push_back({run.has_mutants ? "mutants" : Title(run), {}, [&](const TestSink& sink) {
                      VisitMain(run, summary, sink);
                    }});
  if (!run.properties.empty()) {
    suites.push_back({"properties", {}, [&](const TestSink& sink) { VisitProperties(run, sink); }});
  }
  for (Suite& suite : suites) {
    suite.visit(
        [&suite](const Test& test) { ++suite.counts[static_cast<std::size_t>(test.element)]; });
  }
  return suites;
}

}  // namespace

void RenderJunit(const RunData& run, const Sink& sink) {
  const RunSummary summary = Summarise(run);
  const std::vector<Suite> suites = SuitesOf(run, summary);
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  for (const Suite& suite : suites) {
    tests += suite.tests();
    failures += suite.Number(Element::kFailure);
    errors += suite.Number(Element::kError);
  }
  sink("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + Attribute("name", "voltcheck") +
       Counts(tests, failures, errors) + Attribute("time", "0") + ">\n");
  for (const Suite& suite : suites) {
    sink("  <testsuite" + Attribute("name", suite.name) +
         Counts(suite.tests(), suite.Number(Element::kFailure), suite.Number(Element::kError),
                suite.Number(Element::kSkipped)) +
         Attribute("time", "0") + ">\n    <properties>\n");
    for (const auto& [name, value] : run.attributes) {
      sink("      <property" + Attribute("name", name) + Attribute("value", value) + "/>\n");
    }
    sink("    </properties>\n");
    suite.visit([&sink](const Test& test) { sink(ToXml(test)); });
    std::string out(ToString(summary.outcome));
    out += ": " + summary.headline + "\n";
    for (const std::string& note : summary.notes) {
      out += "note: " + note + "\n";
    }
    sink("    <system-out>" + EscapeMarkup(out) + "</system-out>\n  </testsuite>\n");
  }
  sink("</testsuites>\n");
}

}  // namespace voltcheck::report
