// Barriers and the order of memory accesses.
#include <optional>

#include "verify/mutation/ptx_edits.h"

namespace voltcheck::mutation {
namespace {

bool IsBarrier(const ptx::Instruction& i) { return Is(i, {"bar", "barrier"}); }

bool IsSharedAccess(const ptx::Instruction& i) {
  return Is(i, {"ld", "st", "atom", "red"}) && Has(i, "shared");
}

std::optional<std::size_t> SharedAccessBehind(const KernelText& kernel, std::size_t from) {
  for (std::size_t i = from + 1; i < kernel.body().size(); ++i) {
    if (IsSharedAccess(kernel.body()[i])) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> SharedAccessBefore(const KernelText& kernel, std::size_t from) {
  for (std::size_t i = from; i-- > 0;) {
    if (IsSharedAccess(kernel.body()[i])) {
      return i;
    }
  }
  return std::nullopt;
}

void Move(const KernelText& kernel, std::size_t barrier, std::size_t place, std::string_view where,
          const std::string& past, PtxFaults& faults) {
  const Edit statement = kernel.Statement(barrier);
  const std::string text(kernel.View(statement));
  faults.push_back({barrier,
                    text + " moved " + std::string(where) + " " + past,
                    {With(statement, ""), {place, place, "\n\t" + text + "\n\t"}}});
}

}  // namespace

void DropBarrier(const KernelText& kernel, PtxFaults& faults) {
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    if (IsBarrier(kernel.body()[i])) {
      faults.push_back(Remove(kernel, i));
    }
  }
}

void MoveBarrier(const KernelText& kernel, PtxFaults& faults) {
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    if (!IsBarrier(kernel.body()[i])) {
      continue;
    }
    if (const auto behind = SharedAccessBehind(kernel, i)) {
      const Edit access = kernel.Statement(*behind);
      Move(kernel, i, access.end, "behind", std::string(kernel.View(access)), faults);
    }
    if (const auto before = SharedAccessBefore(kernel, i)) {
      const Edit access = kernel.Statement(*before);
      Move(kernel, i, access.begin, "before", std::string(kernel.View(access)), faults);
    }
  }
}

void WeakenMemoryOrder(const KernelText& kernel, PtxFaults& faults) {
  for (std::size_t i = 0; i < kernel.body().size(); ++i) {
    const ptx::Instruction& instruction = kernel.body()[i];
    if (Is(instruction, {"membar", "fence"})) {
      faults.push_back(Remove(kernel, i));
      continue;
    }
    const Edit mnemonic = kernel.Mnemonic(i);
    std::string text(kernel.View(mnemonic));
    for (const std::string_view order : {".acquire", ".release", ".acq_rel"}) {
      const std::size_t at = text.find(order);
      if (at != std::string::npos) {
        text.replace(at, order.size(), ".relaxed");
        faults.push_back(Replace(kernel, i, mnemonic, text));
        break;
      }
    }
  }
}

}  // namespace voltcheck::mutation
