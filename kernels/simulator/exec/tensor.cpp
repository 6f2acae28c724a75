// mma.sync.m8n8k4 on register rows; the arithmetic is reference/arith's.
#include "kernels/simulator/exec/scalar.h"
#include "reference/arith/warp_mma.h"

namespace voltcheck::simulator {
namespace {

arith::StepArithmetic ArithmeticOf(Numerics numerics) {
  switch (numerics) {
    case Numerics::kV100:
      return arith::StepArithmetic::kV100;
    case Numerics::kSm75:
      return arith::StepArithmetic::kSm75;
    default:  // sm_80 and newer have no such tensor-core instruction
      return arith::StepArithmetic::kSm80Software;
  }
}

/// pool: D, A (2), B (2), C. Instr::imm: bit 0 A is column-major, bit 1 B is.
template <bool kDHalf, bool kCHalf>
void Mma884(ExecContext& context, const Instr& instr) {
  constexpr std::size_t kD = kDHalf ? 4 : 8;
  constexpr std::size_t kC = kCHalf ? 4 : 8;
  const Ref* refs = context.program->pool.data() + instr.aux;
  arith::WarpMmaForm form;
  form.arithmetic = ArithmeticOf(context.numerics);
  form.a = (instr.imm & 1) != 0 ? arith::MmaLayout::kCol : arith::MmaLayout::kRow;
  form.b = (instr.imm & 2) != 0 ? arith::MmaLayout::kCol : arith::MmaLayout::kRow;
  form.c_half = kCHalf;
  form.d_half = kDHalf;
  std::uint32_t* d[kD];
  const std::uint32_t* a[2];
  const std::uint32_t* b[2];
  const std::uint32_t* c[kC];
  for (std::size_t i = 0; i < kD; ++i) {
    d[i] = context.Row<std::uint32_t>(refs[i]);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    a[i] = context.Row<const std::uint32_t>(refs[kD + i]);
    b[i] = context.Row<const std::uint32_t>(refs[kD + 2 + i]);
  }
  for (std::size_t i = 0; i < kC; ++i) {
    c[i] = context.Row<const std::uint32_t>(refs[kD + 4 + i]);
  }
  context.matrix_zero_rows += static_cast<std::uint64_t>(arith::WarpMma884(form, a, b, c, d));
  ++context.matrix_instructions;
}

constexpr std::size_t kRows = 8;  // of D, in front of those of A, B and C

/// The first of two that program/matrix_pairs.h has put together.
void Mma884First(ExecContext& context, const Instr& instr) {
  const Instr& next = (&instr)[1];
  const Ref* first = context.program->pool.data() + instr.aux;
  const Ref* second = context.program->pool.data() + next.aux;
  arith::WarpMmaForm form;
  form.arithmetic = ArithmeticOf(context.numerics);
  form.a = (instr.imm & 1) != 0 ? arith::MmaLayout::kCol : arith::MmaLayout::kRow;
  form.b = (instr.imm & 2) != 0 ? arith::MmaLayout::kCol : arith::MmaLayout::kRow;
  const std::uint32_t* a[4];
  const std::uint32_t* b[4];
  std::uint32_t* d[kRows];
  for (std::size_t i = 0; i < 2; ++i) {
    a[i] = context.Row<const std::uint32_t>(first[kRows + i]);
    a[2 + i] = context.Row<const std::uint32_t>(second[kRows + i]);
    b[i] = context.Row<const std::uint32_t>(first[kRows + 2 + i]);
    b[2 + i] = context.Row<const std::uint32_t>(second[kRows + 2 + i]);
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    d[i] = context.Row<std::uint32_t>(first[i]);
  }
  context.matrix_zero_rows += static_cast<std::uint64_t>(arith::WarpMma884Twice(form, a, b, d));
  context.matrix_instructions += 2;
  context.matrix_done = &next;
}
void Mma884Second(ExecContext& context, const Instr& instr) {
  if (context.matrix_done != &instr) {
    Mma884<false, false>(context, instr);
  }
  context.matrix_done = nullptr;
}

}  // namespace

void AppendTensorOps(OpList& list) {
  const auto add = [&](const char* key, Handler handler) {
    list.push_back({key, "", handler, handler});
  };
  add("@mma.m8n8k4.f32.f32", Mma884<false, false>);
  list.push_back({"@mma.first", "", Mma884<false, false>, Mma884First});
  list.push_back({"@mma.second", "", Mma884<false, false>, Mma884Second});
  add("@mma.m8n8k4.f16.f16", Mma884<true, true>);
  add("@mma.m8n8k4.f32.f16", Mma884<false, true>);
}

}  // namespace voltcheck::simulator
