// `voltcheck inspect`: what is in a fixture, run or safetensors file.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "fixtures/fixture_export.h"
#include "fixtures/fixture_file.h"
#include "fixtures/safetensors.h"
#include "tools/arguments.h"
#include "tools/json_record.h"
#include "tools/summary_table.h"
#include "verify/in_child.h"
#include "verify/report/run_check.h"
#include "verify/run_file.h"
#include "verify/run_reader.h"

namespace voltcheck::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFixtureSchema = "voltcheck.fixture/1";

// Everything that the three kinds of file have in common: named text, then a list of arrays.
Json DescribeRun(const std::string& path) {
  const verify::RunOverview run = verify::ReadRunOverview(path);
  const report::RunCheck check = report::CheckRunFile(path);
  Json json = {{"file", path}, {"kind", "run"}, {"complete", run.complete}};
  json["summary"] = ToJson(run.summary);
  if (!check.nan_columns.empty()) {
    json["nan"] = Json::object();
    for (const report::NanColumn& nan : check.nan_columns) {
      json["nan"]["/" + nan.name] = std::to_string(nan.count) + ", first in " +
                                    (check.cases > 0 ? "case " : "row ") +
                                    std::to_string(nan.first_case);
    }
  }
  json["attributes"] = Json::object();
  for (const auto& [name, value] : run.attributes) {
    json["attributes"][name] = value;
  }
  json["arrays"] = Json::object();
  for (const auto& [name, shape] : run.datasets) {
    json["arrays"][name] = shape;
  }
  return json;
}

std::string Shape2(const char* type, std::size_t rows, std::size_t cols) {
  return std::string(type) + " [" + std::to_string(rows) + ", " + std::to_string(cols) + "]";
}

void DescribeMatrix(const std::string& name, const AwqMatrix& m, Json& arrays) {
  const auto k = static_cast<std::size_t>(m.k);
  const auto n = static_cast<std::size_t>(m.n);
  const auto groups = static_cast<std::size_t>(m.k / m.group);
  arrays[name + ".qweight"] = Shape2("int32", k, n / 8);
  arrays[name + ".qzeros"] = Shape2("int32", groups, n / 8);
  arrays[name + ".scales"] = Shape2("float16", groups, n);
}

Json DescribeFixture(const std::string& path) {
  const fixtures::Fixture fixture = fixtures::ReadFixture(path);
  const Problem& p = fixture.problem;
  const Shape& s = p.c.shape;
  Json json = {{"file", path}, {"kind", "fixture"}, {"name", fixture.name}, {"hash", fixture.hash}};
  json["shape"] = {{"hidden", s.hidden},
                   {"intermediate", s.intermediate},
                   {"experts", s.experts},
                   {"top_k", s.top_k},
                   {"group", s.group},
                   {"tokens", s.tokens},
                   {"experts_held", p.experts.size()}};
  json["attributes"] = Json::object();
  for (const auto& [name, value] : fixture.attributes) {
    json["attributes"][name] = value;
  }
  Json arrays = Json::object();
  const auto tokens = static_cast<std::size_t>(s.tokens);
  const auto hidden = static_cast<std::size_t>(s.hidden);
  arrays["hidden"] = Shape2("float16", tokens, hidden);
  arrays["topk_ids"] = Shape2("int32", tokens, static_cast<std::size_t>(s.top_k));
  arrays["topk_weights"] = Shape2("float32", tokens, static_cast<std::size_t>(s.top_k));
  if (!p.experts.empty()) {
    DescribeMatrix("expert.w13", p.experts.front()->w13, arrays);
    DescribeMatrix("expert.w2", p.experts.front()->w2, arrays);
  }
  if (p.head) {
    arrays["head"] = Shape2("float16", p.head->token_ids.size(), hidden);
  }
  if (p.captured) {
    const auto captured = [&](const char* name, std::size_t elements) {
      if (elements > 0) {
        arrays[std::string("captured.") + name] = std::to_string(elements) + " elements";
      }
    };
    captured("w13", p.captured->w13.size());
    captured("silu", p.captured->silu.size());
    captured("w2", p.captured->w2.size());
    captured("output", p.captured->output.size());
    captured("logits", p.captured->logits.size());
  }
  json["arrays"] = arrays;
  return json;
}

Json DescribeSafetensors(const std::string& path) {
  const fixtures::SafetensorsFile file(path);
  Json json = {{"file", path}, {"kind", "safetensors"}};
  json["attributes"] = Json::object();
  for (const auto& [name, value] : file.metadata()) {
    json["attributes"][name] = value;
  }
  json["arrays"] = Json::object();
  for (const auto& [name, tensor] : file.tensors()) {
    std::string shape = tensor.dtype + " [";
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      shape += (i == 0 ? "" : ", ") + std::to_string(tensor.shape[i]);
    }
    json["arrays"][name] = shape + "]";
  }
  return json;
}

Json Describe(const std::string& path) {
  if (!verify::IsHdf5(path)) {
    return DescribeSafetensors(path);
  }
  const std::string schema = verify::InChild(path, [&path] { return verify::ReadSchema(path); });
  if (schema == verify::kRunSchema) {
    return Json::parse(verify::InChild(path, [&path] {
      return DescribeRun(path).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }));
  }
  if (schema == kFixtureSchema) {
    return DescribeFixture(path);
  }
  throw BadInput(path,
                 schema.empty() ? "is an HDF5 file without a schema" : "has the schema " + schema,
                 "name a fixture, run or safetensors file");
}

// Control characters of a foreign file must not reach the terminal.
std::string Printable(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    c = byte < 0x20 || byte == 0x7F ? '?' : c;
  }
  return text;
}

void Print(const Json& json, int indent) {
  for (const auto& [key, value] : json.items()) {
    std::printf("%*s%s:", indent, "", Printable(key).c_str());
    if (value.is_object()) {
      std::printf("\n");
      Print(value, indent + 2);
    } else {
      const std::string text =
          value.is_string() ? value.get<std::string>() : std::string(value.dump());
      std::printf(" %s\n", Printable(text).c_str());
    }
  }
}

}  // namespace

ExitStatus Inspect(const Words& words) {
  Arguments arguments("inspect FILE [--json] [--tensors OUT.safetensors]",
                      "Says what is in a fixture file, a run file or a safetensors file.");
  arguments.Positional("file", 1);
  arguments.Flag("json", "print JSON");
  arguments.Value("tensors", "", "also write a fixture's tensors to this safetensors file");
  if (!arguments.Parse(words)) {
    return ExitStatus::kPassed;
  }
  const std::vector<std::string> files = arguments.Texts("file");
  if (files.empty()) {
    throw BadInput("voltcheck inspect", "needs a file", "see 'voltcheck inspect --help'");
  }
  if (arguments.Has("tensors")) {
    fixtures::ExportFixture(fixtures::ReadFixture(files.front()), arguments.Text("tensors"));
  }
  const Json json = Describe(files.front());
  if (arguments.Has("json")) {
    std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    Print(json, 0);
  }
  return ExitStatus::kPassed;
}

}  // namespace voltcheck::tools
