#include "verify/run_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

#include "fixtures/atomic_file.h"
#include "fixtures/case/error.h"
#include "reference/arith/half.h"
#include "verify/build_info.h"
#include "verify/h5.h"
#include "verify/h5_table.h"
#include "verify/run_columns.h"
#include "verify/run_totals.h"
#include "verify/source_lines.h"

namespace voltcheck::verify {
namespace {

using h5::Handle;

// A kernel that is wrong everywhere finds the same thing thousands of times; the first ones tell it
// all.
constexpr std::size_t kFindingsPerCase = 64;

void WriteProvenance(hid_t file, const RunProvenance& p) {
  h5::SetText(file, "schema", kRunSchema);
  h5::SetText(file, "tool_version", p.tool_version);
  h5::SetText(file, "commit", p.commit);
  h5::SetText(file, "arguments", p.arguments);
  h5::SetText(file, "options", p.options);
  h5::SetNumber(file, "seed", p.seed);
  h5::SetText(file, "device_kind", p.device.kind);
  h5::SetText(file, "device_name", p.device.name);
  h5::SetText(file, "driver", p.device.driver);
  h5::SetText(file, "numerics", p.device.numerics);
  h5::SetText(file, "code", p.device.code);
  h5::SetText(file, "tables", p.device.tables);
  h5::SetText(file, "toolkit", p.toolkit);
  h5::SetText(file, "compiler", p.compiler);
  h5::SetText(file, "kernels_hash", p.kernels_hash);
  h5::SetText(file, "fixtures", p.fixtures);
  h5::SetText(file, "cases_hash", p.cases_hash);
}

struct KernelRow {
  std::uint64_t index = 0;
  const kernels::ModuleImage* image = nullptr;
};

// PTX as it ran, without the paths that it came from.
void WriteModules(Handle group, const std::vector<kernels::ModuleImage>& modules) {
  h5::Table<KernelRow> table;
  table.AddNumber<std::uint64_t>(group.get(), {"module", "1", "number of the module"},
                                 [](const KernelRow& row) { return row.index; });
  table.AddText(group.get(), {"name", "", "file name"}, [](const KernelRow& row) {
    return row.image->name.substr(row.image->name.rfind('/') + 1);
  });
  table.AddText(group.get(), {"ptx", "", "PTX as it ran"},
                [](const KernelRow& row) { return row.image->ptx; });
  for (std::size_t i = 0; i < modules.size(); ++i) {
    table.Append({i, &modules[i]});
  }
  table.Close();
  h5::Check(group.Reset() ? 0 : -1);
}

void WriteKernels(hid_t file, const RunProvenance& p) {
  if (!p.overrides.empty()) {
    Handle group = h5::CreateGroup(file, "kernels");
    h5::SetText(group.get(), "long_name", "PTX that replaced built-in kernels, in this order");
    WriteModules(std::move(group), p.overrides);
  }
  if (!p.recipe_name.empty()) {
    Handle group = h5::CreateGroup(file, "recipe");
    h5::SetText(group.get(), "long_name", "recipe that launched kernels, and its modules");
    h5::SetText(group.get(), "file", p.recipe_name);
    h5::Table<const std::string*> table;
    table.AddText(group.get(), {"text", "", "the recipe's JSON"},
                  [](const std::string* text) { return *text; });
    table.Append(&p.recipe_text);
    table.Close();
    WriteModules(std::move(group), p.recipe_modules);
  }
}

// The row or column numbers of a window, as the dimension scale of its arrays.
Handle WriteWindowScale(hid_t group, const char* name, int first, int count) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  const std::array<hsize_t, 1> extent{numbers.size()};
  Handle scale = h5::WriteDataset(group, name, H5T_STD_I32LE, extent, numbers.data());
  h5::SetText(scale.get(), "long_name", std::string(name) + " in the stage's output");
  h5::MakeScale(scale.get(), name);
  return scale;
}

void WriteFailure(hid_t parent, const FailureArrays& failure) {
  const Handle group = h5::CreateGroup(parent, std::string(ToString(failure.stage)));
  const Handle row = WriteWindowScale(group.get(), "row", failure.first_row, failure.rows);
  const Handle col = WriteWindowScale(group.get(), "col", failure.first_col, failure.cols);
  const bool is_logits = !failure.got_logits.empty();
  const auto write = [&](const char* name, hid_t type, const void* data, const char* long_name) {
    const std::array<hsize_t, 2> extent{static_cast<hsize_t>(failure.rows),
                                        static_cast<hsize_t>(failure.cols)};
    Handle dataset = h5::WriteDataset(group.get(), name, type, extent, data);
    h5::SetText(dataset.get(), "units", "1");
    h5::SetText(dataset.get(), "long_name", long_name);
    h5::AttachScale(dataset.get(), row.get(), 0);
    h5::AttachScale(dataset.get(), col.get(), 1);
    h5::Check(dataset.Reset() ? 0 : -1);  // closing writes: a full disk shows here
  };
  // Halves as float32, which holds each of them exactly: not every viewer shows float16.
  std::vector<float> got(failure.got.size());
  arith::HalfToFloat(failure.got.data(), got.data(), got.size());
  write("got", H5T_IEEE_F32LE, is_logits ? failure.got_logits.data() : got.data(),
        is_logits ? "logit of the device's output" : "device value, a half");
  write("want", H5T_IEEE_F64LE, failure.want.data(),
        is_logits ? "fp64 oracle from the case's inputs" : "fp64 oracle on the device's own input");
  write("budget", H5T_IEEE_F64LE, failure.budget.data(), "how far got may lie from want");
}

// The figures of every token, expert and tile of one stage, a group of columns each.
void WriteBreakdown(hid_t parent, const Breakdown& breakdown) {
  for (const Part part : kParts) {
    const std::vector<PartFigures>& parts = breakdown[static_cast<std::size_t>(part)];
    if (parts.empty()) {
      continue;
    }
    const std::string name(ToString(part));
    const Handle group = h5::CreateGroup(parent, name);
    const std::array<hsize_t, 1> extent{parts.size()};
    const auto write = [&]<typename T>(const char* column, const char* long_name, auto get, T) {
      std::vector<T> values;
      for (const PartFigures& figures : parts) {
        values.push_back(static_cast<T>(get(figures)));
      }
      Handle dataset =
          h5::WriteDataset(group.get(), column, h5::NumberType<T>(), extent, values.data());
      h5::SetText(dataset.get(), "units", "1");
      h5::SetText(dataset.get(), "long_name", long_name);
      return dataset;
    };
    using P = PartFigures;
    const Handle scale = write(
        name.c_str(), ("number of the " + name).c_str(), [](const P& p) { return p.index; },
        std::int32_t{});
    h5::MakeScale(scale.get(), name.c_str());
    const auto attach = [&](Handle dataset) {
      h5::AttachScale(dataset.get(), scale.get(), 0);
      h5::Check(dataset.Reset() ? 0 : -1);
    };
    attach(write(
        "elements", "elements finite on both sides", [](const P& p) { return p.elements; },
        std::uint64_t{}));
    attach(write(
        "nonfinite", "elements that are not", [](const P& p) { return p.nonfinite; },
        std::uint64_t{}));
    attach(write(
        "max_abs", "largest |difference| to the FP32 reference",
        [](const P& p) { return p.max_abs; }, float{}));
    attach(write(
        "rms", "RMS of the differences", [](const P& p) { return p.rms; }, float{}));
    attach(write(
        "bias", "mean difference", [](const P& p) { return p.bias; }, float{}));
    attach(write(
        "rms_want", "RMS of the reference's values", [](const P& p) { return p.rms_want; },
        float{}));
  }
}

void WriteBreakdowns(hid_t parent, std::uint64_t index, const CaseRecord& record) {
  Handle group;
  for (const Stage stage : kStages) {
    const Breakdown& breakdown = record.at(stage).breakdown;
    if (std::all_of(breakdown.begin(), breakdown.end(),
                    [](const auto& parts) { return parts.empty(); })) {
      continue;
    }
    if (group.get() < 0) {
      group = h5::CreateGroup(parent, std::to_string(index));
      h5::SetText(group.get(), "descriptor", record.descriptor);
    }
    const Handle of_stage = h5::CreateGroup(group.get(), std::string(ToString(stage)));
    WriteBreakdown(of_stage.get(), breakdown);
  }
}

}  // namespace

class RunFileWriter::Impl {
 public:
  Impl(const std::string& path, const RunProvenance& provenance)
      : target_(path), lines_(provenance.overrides), planned_(provenance.planned) {
    h5::Quiet();
    Guard([&] {
      file_ = h5::CreateFile(target_.temporary());
      WriteProvenance(file_.get(), provenance);
      WriteKernels(file_.get(), provenance);
      DeclareCaseColumns(file_.get(), cases_, groups_);
      DeclareFindingColumns(file_.get(), findings_, groups_);
      failures_ = h5::CreateGroup(file_.get(), "failures");
      breakdown_ = h5::CreateGroup(file_.get(), "breakdown");
    });
  }

  void Append(const CaseRecord& record, std::uint64_t number) {
    Guard([&] {
      cases_.Append({number, &record});
      totals_.Add(record);
      const std::size_t kept = std::min(record.findings.size(), kFindingsPerCase);
      for (std::size_t i = 0; i < kept; ++i) {
        const kernels::Finding& finding = record.findings[i];
        findings_.Append({finding_count_++, number, &finding, lines_.Text(finding)});
      }
      if (!record.failures.empty()) {
        const Handle group = h5::CreateGroup(failures_.get(), std::to_string(number));
        h5::SetText(group.get(), "descriptor", record.descriptor);
        for (const FailureArrays& failure : record.failures) {
          WriteFailure(group.get(), failure);
        }
      }
      WriteBreakdowns(breakdown_.get(), number, record);
      ++count_;
    });
  }

  std::uint64_t count() const { return count_; }

  void Finish(bool complete, const std::function<void(hid_t)>& extras) {
    Guard([&] {
      if (extras) {
        extras(file_.get());
      }
      totals_.Write(file_.get());
      h5::SetNumber(file_.get(), "cases", count_);
      h5::SetNumber(file_.get(), "planned", planned_ == 0 ? count_ : planned_);
      h5::SetNumber(file_.get(), "complete", std::uint64_t{complete ? 1U : 0U});
      cases_.Close();
      findings_.Close();
      h5::Check(failures_.Reset() ? 0 : -1);
      h5::Check(breakdown_.Reset() ? 0 : -1);
      groups_.clear();
      h5::Check(H5Fflush(file_.get(), H5F_SCOPE_LOCAL));
      h5::Check(file_.Reset() ? 0 : -1);
    });
    target_.Commit();
  }

 private:
  template <typename Work>
  void Guard(Work work) {
    try {
      work();
    } catch (const h5::Failure& failure) {
      throw BadInput(target_.path(), "cannot be written (" + failure.reason() + ")",
                     "make room or name another file; an existing file was left as it is");
    }
  }

  // Destroyed in reverse order: everything inside the file, the file, and last its temporary name.
  fixtures::AtomicFile target_;
  Handle file_;
  std::vector<Handle> groups_;
  Handle failures_;
  Handle breakdown_;
  h5::Table<CaseRow> cases_;
  h5::Table<FindingRow> findings_;
  RunTotals totals_;
  SourceLines lines_;
  std::uint64_t planned_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t finding_count_ = 0;
};

RunProvenance ProvenanceOfThisBuild(std::string arguments) {
  const BuildInfo& build = ThisBuild();
  RunProvenance provenance;
  provenance.tool_version = build.version;
  provenance.commit = build.commit;
  provenance.toolkit = build.toolkit;
  provenance.compiler = build.compiler;
  provenance.arguments = std::move(arguments);
  return provenance;
}

RunFileWriter::RunFileWriter(const std::string& path, const RunProvenance& provenance)
    : impl_(std::make_unique<Impl>(path, provenance)) {}

RunFileWriter::~RunFileWriter() = default;

void RunFileWriter::Append(const CaseRecord& record, std::uint64_t number) {
  impl_->Append(record, number);
}

void RunFileWriter::Append(const CaseRecord& record) { impl_->Append(record, impl_->count()); }

void RunFileWriter::Finish(bool complete, const std::function<void(hid_t)>& extras) {
  impl_->Finish(complete, extras);
}

}  // namespace voltcheck::verify
