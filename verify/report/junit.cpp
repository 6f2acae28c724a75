// A run as JUnit XML. A case that did not pass is a failure, one that crashed or was not tested an
// error, and so is a skip that the run's configuration does not allow.
#include <algorithm>

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

struct Suite {
  std::string name;
  std::vector<Test> tests;

  std::size_t Number(Element element) const {
    return static_cast<std::size_t>(std::count_if(
        tests.begin(), tests.end(), [&](const Test& t) { return t.element == element; }));
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

void Append(const Test& test, std::string& xml) {
  xml += "    <testcase" + Attribute("name", test.name) + Attribute("classname", test.class_name) +
         Attribute("time", "0");
  const std::string verdict(verify::ToString(test.verdict));
  switch (test.element) {
    case Element::kNone:
      xml += "/>\n";
      return;
    case Element::kSkipped:
      xml += ">\n      <skipped" + Attribute("message", test.message) + "/>\n    </testcase>\n";
      return;
    case Element::kFailure:
    case Element::kError:
      const std::string element = test.element == Element::kError ? "error" : "failure";
      xml += ">\n      <" + element + Attribute("message", test.message) +
             Attribute("type", verdict) + ">" + EscapeMarkup(test.details) + "</" + element +
             ">\n    </testcase>\n";
  }
}

std::string Details(const RunData& run, std::size_t index) {
  const CaseFigures& c = run.cases[index];
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

Suite Cases(const RunData& run, const RunSummary& summary) {
  Suite suite{Title(run), {}};
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const CaseFigures& c = run.cases[i];
    Test test{c.descriptor, "voltcheck." + c.data, c.verdict, ElementOf(c.verdict), c.reason, ""};
    if (test.element == Element::kSkipped && !summary.allowed_skip[i]) {
      test.element = Element::kError;
    }
    if (test.element != Element::kNone) {
      test.details = Details(run, i);
    } else if (c.has_nan) {
      test.element = Element::kFailure;
      test.message = "passed, but figures in the run file are NaN";
      test.details = Details(run, i);
    }
    suite.tests.push_back(std::move(test));
  }
  return suite;
}

Suite Properties(const RunData& run) {
  Suite suite{"properties", {}};
  for (const verify::PropertyRecord& p : run.properties) {
    suite.tests.push_back({p.property + " #" + std::to_string(p.draw) + ": " + p.descriptor,
                           "voltcheck.properties." + p.property, p.verdict, ElementOf(p.verdict),
                           p.reason, p.reason + "\nrepeat: " + p.reproduction + "\n"});
  }
  return suite;
}

// Mutants that survived say that the gate is weak, so they are failures.
Suite Mutants(const RunData& run) {
  Suite suite{"mutants", {}};
  for (const MutantEntry& m : run.mutants) {
    const Verdict verdict = m.fate == "caught"     ? Verdict::kPassed
                            : m.fate == "survived" ? Verdict::kFailed
                                                   : Verdict::kSkipped;
    suite.tests.push_back({m.id, "voltcheck.mutants." + m.op, verdict, ElementOf(verdict),
                           m.fate + ": " + m.reason, m.change + "\n" + m.reason + "\n"});
  }
  return suite;
}

}  // namespace

std::string RenderJunit(const RunData& run) {
  const RunSummary summary = Summarise(run);
  std::vector<Suite> suites;
  // The cases of a run of mutants are those that caught one: not passing is what they are for.
  suites.push_back(run.has_mutants ? Mutants(run) : Cases(run, summary));
  if (!run.properties.empty()) {
    suites.push_back(Properties(run));
  }
  if (!run.complete) {
    suites.front().tests.push_back({"the whole run", "voltcheck.run", Verdict::kUntested,
                                    Element::kError,
                                    "the run was interrupted: later cases are missing", ""});
  }
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  for (const Suite& suite : suites) {
    tests += suite.tests.size();
    failures += suite.Number(Element::kFailure);
    errors += suite.Number(Element::kError);
  }
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" +
                    Attribute("name", "voltcheck") + Counts(tests, failures, errors) +
                    Attribute("time", "0") + ">\n";
  for (const Suite& suite : suites) {
    xml += "  <testsuite" + Attribute("name", suite.name) +
           Counts(suite.tests.size(), suite.Number(Element::kFailure),
                  suite.Number(Element::kError), suite.Number(Element::kSkipped)) +
           Attribute("time", "0") + ">\n    <properties>\n";
    for (const auto& [name, value] : run.attributes) {
      xml += "      <property" + Attribute("name", name) + Attribute("value", value) + "/>\n";
    }
    xml += "    </properties>\n";
    for (const Test& test : suite.tests) {
      Append(test, xml);
    }
    std::string out(ToString(summary.outcome));
    out += ": " + summary.headline + "\n";
    for (const std::string& note : summary.notes) {
      out += "note: " + note + "\n";
    }
    xml += "    <system-out>" + EscapeMarkup(out) + "</system-out>\n  </testsuite>\n";
  }
  return xml + "</testsuites>\n";
}

}  // namespace voltcheck::report
