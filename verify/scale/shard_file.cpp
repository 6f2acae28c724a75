#include "verify/scale/shard_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>

#include "fixtures/case/error.h"
#include "verify/h5.h"
#include "verify/in_child.h"
#include "verify/journal/identity.h"
#include "verify/run_reader.h"

namespace voltcheck::verify {
namespace {

using h5::Check;
using h5::Handle;

constexpr const char* kGroup = "/shard";
constexpr const char* kRecords = "/shard/records";
constexpr std::size_t kShownMissing = 8;

// A shard's run file, without its records.
struct OpenedShard {
  std::string path;
  Shard shard;
  std::string identity;
  bool complete = false;
  RunJournal::Part part;
};

std::uint64_t Whole(const std::string& path, const std::string& name, const std::string& text) {
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || result.ec != std::errc() || result.ptr != text.data() + text.size()) {
    throw BadInput(path, "has no number " + name, "run the shard again");
  }
  return value;
}

// Texts as one, each with its length before it, and back.
std::string Packed(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) {
    packed += std::to_string(text.size()) + ":" + text;
  }
  return packed;
}
std::vector<std::string> Unpacked(const std::string& packed) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < packed.size();) {
    const std::size_t colon = packed.find(':', at);
    const std::size_t size = std::stoull(packed.substr(at, colon - at));
    texts.push_back(packed.substr(colon + 1, size));
    at = colon + 1 + size;
  }
  return texts;
}

// In a child process: the shard's text, whether it is complete, and where its records lie.
std::string Look(const std::string& path) {
  const RunReader run(path);
  if (!run.Has(kRecords)) {
    throw BadInput(path, "is no shard of a run", "name run files that sweep --shard k/n wrote");
  }
  return Packed({run.Attribute("shard"), run.Attribute("complete"),
                 std::to_string(run.Offset(kRecords)), std::to_string(run.Extent(kRecords).at(0))});
}

OpenedShard Open(const std::string& path) {
  const std::vector<std::string> seen = Unpacked(InChild(path, [&] { return Look(path); }));
  OpenedShard opened;
  opened.path = path;
  opened.shard = ParseShard(path + ": shard", seen.at(0));
  opened.complete = seen.at(1) == "1";
  opened.part = {path, Whole(path, "offset", seen.at(2)), Whole(path, "length", seen.at(3))};
  opened.identity = JournalReader(path, opened.part.offset, opened.part.length).identity();
  return opened;
}

// The root attributes that a run's provenance is made of, in the order in which they travel.
constexpr std::array kAttributes{
    "tool_version", "commit",       "arguments", "options", "seed",      "device_kind",
    "device_name",  "driver",       "numerics",  "code",    "tables",    "toolkit",
    "compiler",     "kernels_hash", "fixtures",  "planned", "cases_hash"};

// Name and PTX of the modules in a group of the file, one after the other.
std::vector<std::string> Modules(const RunReader& run, const std::string& group) {
  std::vector<std::string> texts;
  if (run.Has(group)) {
    const std::vector<std::string> names = run.Texts(group + "/name");
    const std::vector<std::string> modules = run.Texts(group + "/ptx");
    for (std::size_t i = 0; i < std::min(names.size(), modules.size()); ++i) {
      texts.push_back(names[i]);
      texts.push_back(modules[i]);
    }
  }
  return texts;
}

std::vector<kernels::ModuleImage> ToModules(const std::vector<std::string>& texts) {
  std::vector<kernels::ModuleImage> modules;
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) {
    modules.push_back({texts[i], texts[i + 1], {}});
  }
  return modules;
}

// In a child process: the attributes, then what the run brought along: kernels, and a recipe.
std::string LookAtProvenance(const std::string& path) {
  const RunReader run(path);
  std::vector<std::string> texts;
  for (const char* name : kAttributes) {
    texts.push_back(run.Attribute(name));
  }
  const bool has_recipe = run.Has("/recipe");
  texts.push_back(Packed(Modules(run, "/kernels")));
  texts.push_back(has_recipe ? run.Attribute("file", "/recipe") : "");
  texts.push_back(has_recipe ? run.Texts("/recipe/text", 0, 1).at(0) : "");
  texts.push_back(Packed(Modules(run, "/recipe")));
  return Packed(texts);
}

RunProvenance ReadProvenance(const std::string& path) {
  const std::vector<std::string> texts =
      Unpacked(InChild(path, [&] { return LookAtProvenance(path); }));
  RunProvenance p;
  auto text = texts.begin();
  for (std::string* to : {&p.tool_version, &p.commit, &p.arguments, &p.options}) {
    *to = *text++;
  }
  p.seed = Whole(path, "seed", *text++);
  for (std::string* to :
       {&p.device.kind, &p.device.name, &p.device.driver, &p.device.numerics, &p.device.code,
        &p.device.tables, &p.toolkit, &p.compiler, &p.kernels_hash, &p.fixtures}) {
    *to = *text++;
  }
  p.planned = Whole(path, "planned", *text++);
  p.cases_hash = *text++;
  p.overrides = ToModules(Unpacked(*text++));
  p.recipe_name = *text++;
  p.recipe_text = *text++;
  p.recipe_modules = ToModules(Unpacked(*text++));
  return p;
}

// Every shard once, all of one run, none unfinished.
void RequireWhole(const std::vector<OpenedShard>& shards) {
  const OpenedShard& first = shards.front();
  std::map<std::uint64_t, std::string> by_number;
  for (const OpenedShard& one : shards) {
    const std::string difference = IdentityDifference(one.identity, first.identity);
    if (!difference.empty()) {
      throw BadInput(one.path, difference + " than " + first.path,
                     "merge shards of one sweep alone");
    }
    if (one.shard.of != first.shard.of) {
      throw BadInput(one.path,
                     "is shard " + ToString(one.shard) + ", " + first.path + " is shard " +
                         ToString(first.shard),
                     "merge shards of one division alone");
    }
    const auto [other, is_new] = by_number.emplace(one.shard.number, one.path);
    if (!is_new) {
      throw BadInput(one.path,
                     "overlaps with " + other->second + ": both are shard " + ToString(one.shard),
                     "name each shard once");
    }
  }
  std::string missing;
  std::size_t count = 0;
  for (std::uint64_t number = 1; number <= first.shard.of; ++number) {
    if (!by_number.contains(number) && ++count <= kShownMissing) {
      missing += (missing.empty() ? "" : ", ") + ToString({number, first.shard.of});
    }
  }
  if (count > 0) {
    throw BadInput("merge",
                   (count == 1 ? "shard " : std::to_string(count) + " shards are missing: ") +
                       missing + (count == 1 ? " is missing" : ""),
                   "run them and name their files too");
  }
  for (const OpenedShard& one : shards) {
    if (!one.complete) {
      throw BadInput(one.path, "shard " + ToString(one.shard) + " was interrupted",
                     "finish it with --resume");
    }
  }
}

}  // namespace

void WriteShard(hid_t file, const Shard& shard, const std::string& journal) {
  h5::SetText(file, "shard", ToString(shard));
  const Handle group = h5::CreateGroup(file, "shard");
  h5::SetText(group.get(), "long_name", "what a merge needs beside the tables");
  std::ifstream in(journal, std::ios::binary | std::ios::ate);
  const auto size = static_cast<hsize_t>(in.tellg());
  in.seekg(0);
  const Handle space(Check(H5Screate_simple(1, &size, nullptr)), H5Sclose);
  const Handle properties(Check(H5Pcreate(H5P_DATASET_CREATE)), H5Pclose);
  Check(H5Pset_obj_track_times(properties.get(), false));
  Handle records(Check(H5Dcreate2(group.get(), "records", H5T_STD_U8LE, space.get(), H5P_DEFAULT,
                                  properties.get(), H5P_DEFAULT)),
                 H5Dclose);
  h5::SetText(records.get(), "units", "1");
  h5::SetText(records.get(), "long_name", "journal of the shard's cases, every figure in full");
  std::vector<char> part(1 << 20);
  for (hsize_t at = 0; at < size;) {
    const hsize_t count = std::min<hsize_t>(part.size(), size - at);
    Check(in.read(part.data(), static_cast<std::streamsize>(count)) ? 0 : -1);
    Check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &at, nullptr, &count, nullptr));
    const Handle memory(Check(H5Screate_simple(1, &count, nullptr)), H5Sclose);
    Check(
        H5Dwrite(records.get(), H5T_STD_U8LE, memory.get(), space.get(), H5P_DEFAULT, part.data()));
    at += count;
  }
  Check(records.Reset() ? 0 : -1);
}

ShardSet OpenShards(const std::vector<std::string>& paths) {
  std::vector<OpenedShard> shards;
  shards.reserve(paths.size());
  for (const std::string& path : paths) {
    shards.push_back(Open(path));
  }
  RequireWhole(shards);
  ShardSet set;
  set.provenance = ReadProvenance(paths.front());
  const std::string here = IdentityText(set.provenance, HashOfBinary());
  const std::string difference = IdentityDifference(shards.front().identity, here);
  if (!difference.empty()) {
    throw BadInput(paths.front(), difference, "merge with the voltcheck that made the shards");
  }
  std::vector<RunJournal::Part> parts;
  std::uint64_t bytes = 0;
  for (const OpenedShard& one : shards) {
    parts.push_back(one.part);
    bytes += one.part.length;
  }
  if (set.provenance.planned > bytes) {  // before as much memory is asked for
    throw BadInput(paths.front(),
                   "says that its run has " + std::to_string(set.provenance.planned) +
                       " cases, more than the shards' records can be",
                   "run the shards again: the file is damaged");
  }
  set.records = std::make_unique<RunJournal>(parts, here, set.provenance.planned);
  for (std::uint64_t i = 0; i < set.provenance.planned; ++i) {
    if (!set.records->Holds(i)) {
      throw BadInput("merge", "no shard holds case " + std::to_string(i),
                     "run the shards again: one of the files is damaged");
    }
  }
  return set;
}

}  // namespace voltcheck::verify
