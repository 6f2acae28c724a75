// mma.sync.m8n8k4 and wmma, every layout and type of accumulator.
#include "instruction.h"

namespace voltcheck::conformance {
namespace {

using Words = std::vector<std::string>;

std::string List(const std::string& prefix, int first, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) {
    list += (i == 0 ? "" : ", ") + ("%" + prefix + std::to_string(first + i));
  }
  return list + "}";
}

int Registers(const std::string& type) { return type == "f32" ? 8 : 4; }

std::vector<Operand> Inputs(int matrix_words, const std::string& c_type) {
  std::vector<Operand> inputs(static_cast<std::size_t>(matrix_words), {Domain::kMatrix, 4});
  inputs.insert(inputs.end(), static_cast<std::size_t>(Registers(c_type)),
                {c_type == "f32" ? Domain::kFloat : Domain::kMatrix, 4});
  return inputs;
}

Instruction Mma(const std::string& layouts, const std::string& d_type, const std::string& c_type) {
  Instruction mma;
  mma.name = "mma.sync.aligned.m8n8k4." + layouts + "." + d_type + ".f16.f16." + c_type;
  mma.inputs = Inputs(4, c_type);
  mma.results.assign(static_cast<std::size_t>(Registers(d_type)), 4);
  mma.body = mma.name + " " + List("x", 0, Registers(d_type)) + ", {%a0, %a1}, {%a2, %a3}, " +
             List("a", 4, Registers(c_type)) + ";";
  return mma;
}

struct WmmaShape {
  const char* name;
  int m;
  int n;
};

/// The warp's lanes write A, B and C into its memory, wmma loads, multiplies and stores them, and
/// the lanes read D back. A is at 0 (1024 bytes), B at 1024, C at 2048 (1024 bytes), D at 3072.
Instruction Wmma(const WmmaShape& shape, const std::string& a_layout, const std::string& b_layout,
                 const std::string& d_type, const std::string& c_type) {
  const int a_words = shape.m * 16 / 2 / 32;
  const int b_words = shape.n * 16 / 2 / 32;
  Instruction wmma;
  const std::string middle = std::string(".") + shape.name + ".";
  wmma.name = "wmma.mma.sync.aligned." + a_layout + "." + b_layout + middle + d_type + "." + c_type;
  wmma.inputs = Inputs(a_words + b_words, c_type);
  wmma.results.assign(static_cast<std::size_t>(Registers(d_type)), 4);
  const auto lanes = [](int count, int at, const char* operation, const std::string& prefix,
                        int first) {
    std::string text = "mad.wide.u32 %u0, %lane, " + std::to_string(4 * count) + ", %warp; ";
    for (int i = 0; i < count; ++i) {
      const std::string address = "[%u0+" + std::to_string(at + 4 * i) + "]";
      const std::string name = "%" + prefix + std::to_string(first + i);
      text += std::string(operation) + ".global.b32 " +
              (operation[0] == 's' ? address + ", " + name : name + ", " + address) + "; ";
    }
    return text;
  };
  wmma.body = lanes(a_words, 0, "st", "a", 0) + lanes(b_words, 1024, "st", "a", a_words) +
              lanes(Registers(c_type), 2048, "st", "a", a_words + b_words);
  wmma.body += "bar.warp.sync -1; .reg .b32 %fa<8>, %fb<8>, %fc<8>, %fd<8>; ";
  const auto stride = [](bool major_is_k, int other) {
    return std::to_string(major_is_k ? 16 : other);
  };
  const std::string shape_name = middle + "global.";
  wmma.body += "wmma.load.a.sync.aligned." + a_layout + shape_name + "f16 " + List("fa", 0, 8) +
               ", [%warp], " + stride(a_layout == "row", shape.m) + "; ";
  wmma.body += "wmma.load.b.sync.aligned." + b_layout + shape_name + "f16 " + List("fb", 0, 8) +
               ", [%warp+1024], " + stride(b_layout == "col", shape.n) + "; ";
  wmma.body += "wmma.load.c.sync.aligned.row" + shape_name + c_type + " " +
               List("fc", 0, Registers(c_type)) + ", [%warp+2048], " + std::to_string(shape.n) +
               "; ";
  wmma.body += wmma.name + " " + List("fd", 0, Registers(d_type)) + ", " + List("fa", 0, 8) + ", " +
               List("fb", 0, 8) + ", " + List("fc", 0, Registers(c_type)) + "; ";
  wmma.body += "wmma.store.d.sync.aligned.row" + shape_name + d_type + " [%warp+3072], " +
               List("fd", 0, Registers(d_type)) + ", " + std::to_string(shape.n) + "; ";
  wmma.body += "bar.warp.sync -1; " + lanes(Registers(d_type), 3072, "ld", "x", 0);
  return wmma;
}

}  // namespace

void AddMatrix(std::vector<Instruction>& all) {
  const Words layouts = {"row", "col"};
  for (const std::string& a : layouts) {
    for (const std::string& b : layouts) {
      all.push_back(Mma(a + "." + b, "f32", "f32"));
      all.push_back(Mma(a + "." + b, "f16", "f16"));
      all.push_back(Mma(a + "." + b, "f32", "f16"));
    }
  }
  for (const WmmaShape& shape : {WmmaShape{"m16n16k16", 16, 16}, WmmaShape{"m32n8k16", 32, 8},
                                 WmmaShape{"m8n32k16", 8, 32}}) {
    for (const std::string& a : layouts) {
      for (const std::string& b : layouts) {
        for (const std::string& d : Words{"f32", "f16"}) {
          for (const std::string& c : Words{"f32", "f16"}) {
            all.push_back(Wmma(shape, a, b, d, c));
          }
        }
      }
    }
  }
}

}  // namespace voltcheck::conformance
