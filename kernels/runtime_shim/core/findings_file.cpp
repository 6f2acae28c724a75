#include "kernels/runtime_shim/core/findings_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fixtures/case/error.h"

namespace voltcheck::shim {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const kernels::Dim3& d) { return {d.x, d.y, d.z}; }
kernels::Dim3 ToDim(const Json& json) { return {json.at(0), json.at(1), json.at(2)}; }

std::string Coordinates(const kernels::Dim3& d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

void ReadLine(const Json& json, ProgramRecord& record) {
  if (json.contains("finding")) {
    const Json& f = json["finding"];
    kernels::Finding finding;
    finding.checker = f.at("checker");
    finding.kernel = f.at("kernel");
    finding.message = f.at("message");
    finding.file = f.at("file");
    finding.line = f.at("line");
    finding.source = f.at("source");
    finding.block = ToDim(f.at("block"));
    finding.thread = ToDim(f.at("thread"));
    finding.address = f.at("address");
    record.findings.push_back(std::move(finding));
  } else if (json.contains("module")) {
    const Json& m = json["module"];
    record.modules.push_back({m.at("name"), m.at("ptx_sha256"), m.at("sass_sha256"),
                              m.at("shipped_code_sha256"), m.at("assembled_code_sha256")});
  } else if (json.contains("refusal")) {
    record.refusals.push_back(json["refusal"]);
  } else {
    for (const auto& [kernel, count] : json.at("launches").items()) {
      record.launches[kernel] += count.get<std::uint64_t>();
    }
    const Json& c = json.at("counters");
    record.counters.lane_instructions += c.at("lane_instructions").get<std::uint64_t>();
    record.counters.warp_instructions += c.at("warp_instructions").get<std::uint64_t>();
    record.counters.mma += c.at("mma").get<std::uint64_t>();
    record.counters.mma_zero_rows += c.at("mma_zero_rows").get<std::uint64_t>();
    record.counters.bank_conflicts += c.at("bank_conflicts").get<std::uint64_t>();
    record.counters.global_sectors += c.at("global_sectors").get<std::uint64_t>();
  }
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string ToLine(const kernels::Finding& f) {
  const std::string place = f.source.empty() ? f.file + ":" + std::to_string(f.line) : f.source;
  return f.checker + " in " + f.kernel + " at " + place + ", block " + Coordinates(f.block) +
         ", thread " + Coordinates(f.thread) + ": " + f.message;
}

void FindingsFile::Append(const std::string& line) {
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string text = line + "\n";
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    std::fprintf(stderr, "voltcheck: %s: cannot be written; make room for the findings\n",
                 path_.c_str());
  }
  if (file >= 0) {
    close(file);
  }
}

void FindingsFile::Write(const kernels::Finding& f) {
  if (host_ != nullptr) {
    host_->finding(host_->context, f);
    return;
  }
  if (path_.empty()) {
    std::fprintf(stderr, "voltcheck: %s\n", ToLine(f).c_str());
    return;
  }
  Append(Dump({{"finding",
                {{"checker", f.checker},
                 {"kernel", f.kernel},
                 {"message", f.message},
                 {"file", f.file},
                 {"line", f.line},
                 {"source", f.source},
                 {"block", ToJson(f.block)},
                 {"thread", ToJson(f.thread)},
                 {"address", f.address}}}}));
}

void FindingsFile::Write(const ModuleNote& module) {
  if (host_ == nullptr && !path_.empty()) {
    Append(Dump({{"module",
                  {{"name", module.name},
                   {"ptx_sha256", module.ptx_sha256},
                   {"sass_sha256", module.sass_sha256},
                   {"shipped_code_sha256", module.shipped_code_sha256},
                   {"assembled_code_sha256", module.assembled_code_sha256}}}}));
  }
}

void FindingsFile::WriteRefusal(const std::string& line) {
  if (host_ != nullptr) {
    host_->refusal(host_->context, line.c_str());
    return;
  }
  if (path_.empty()) {
    std::fprintf(stderr, "voltcheck: %s\n", line.c_str());
    return;
  }
  Append(Dump({{"refusal", line}}));
}

void FindingsFile::WriteTotals(const std::map<std::string, std::uint64_t>& launches,
                               const kernels::Counters& c) {
  if (host_ == nullptr && !path_.empty()) {
    Json counts = Json::object();
    for (const auto& [kernel, count] : launches) {
      counts[kernel] = count;
    }
    Append(Dump({{"launches", counts},
                 {"counters",
                  {{"lane_instructions", c.lane_instructions},
                   {"warp_instructions", c.warp_instructions},
                   {"mma", c.mma},
                   {"mma_zero_rows", c.mma_zero_rows},
                   {"bank_conflicts", c.bank_conflicts},
                   {"global_sectors", c.global_sectors}}}}));
  }
}

ProgramRecord ReadFindingsFile(const std::string& path) {
  ProgramRecord record;
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    if (in.eof()) {
      break;  // without its end: the program was killed while it wrote
    }
    try {
      ReadLine(Json::parse(line), record);
    } catch (const Json::exception&) {
      throw BadInput(path, "holds a line that is no finding", "the program wrote to this file");
    }
  }
  return record;
}

}  // namespace voltcheck::shim
