#include "kernels/simulator/check/findings.h"

#include <algorithm>

#include "kernels/simulator/schedule/launch.h"

namespace voltcheck::simulator {

void FindingList::Add(const LaunchState& launch, std::uint64_t block, std::uint32_t thread,
                      const std::string& checker, const std::string& message, std::uint32_t pc,
                      std::uint64_t address) {
  const auto [known, added] = known_.try_emplace({checker, pc}, entries_.size());
  if (!added) {
    ++entries_[known->second].count;
    return;
  }
  const Program& program = *launch.program;
  Entry entry;
  entry.pc = pc;
  kernels::Finding& finding = entry.finding;
  finding.checker = checker;
  finding.kernel = launch.entry->name;
  finding.file = program.file;
  finding.block = CoordinatesOf(block, launch.grid);
  finding.thread = CoordinatesOf(thread, launch.block);
  finding.address = address;
  finding.message = message;
  if (pc != kNone) {
    const InstrInfo& info = program.info[pc];
    finding.line = info.line;
    finding.message = "`" + program.texts[info.text] + "` " + message;
    const auto source = program.source_files.find(info.source_file);
    if (info.source_line != 0 && source != program.source_files.end()) {
      const std::string& path = source->second;
      finding.source =
          path.substr(path.find_last_of('/') + 1) + ":" + std::to_string(info.source_line);
    }
  }
  entries_.push_back(std::move(entry));
}

bool FindingList::Repeat(std::string_view checker, std::uint32_t pc) {
  const auto is_it = [&](const Entry& entry) {
    return entry.pc == pc && entry.finding.checker == checker;
  };
  if (repeated_ >= entries_.size() || !is_it(entries_[repeated_])) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), is_it);
    if (found == entries_.end()) {
      return false;
    }
    repeated_ = static_cast<std::size_t>(found - entries_.begin());
  }
  ++entries_[repeated_].count;
  return true;
}

void FindingList::Append(const FindingList& other) {
  for (const Entry& entry : other.entries_) {
    const auto [known, added] =
        known_.try_emplace({entry.finding.checker, entry.pc}, entries_.size());
    if (added) {
      entries_.push_back(entry);
    } else {
      entries_[known->second].count += entry.count;
    }
  }
}

void FindingList::AppendNew(const FindingList& other) {
  for (const Entry& entry : other.entries_) {
    if (known_.try_emplace({entry.finding.checker, entry.pc}, entries_.size()).second) {
      entries_.push_back(entry);
    }
  }
}

void FindingList::Clear() {
  entries_.clear();
  known_.clear();
}

std::vector<kernels::Finding> FindingList::Summary() const {
  std::vector<kernels::Finding> findings;
  for (const Entry& entry : entries_) {
    findings.push_back(entry.finding);
    if (entry.count > 1) {
      findings.back().message += " (" + std::to_string(entry.count - 1) + " more like this)";
    }
  }
  return findings;
}

}  // namespace voltcheck::simulator
