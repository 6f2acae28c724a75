// binary32 and binary64 arithmetic, and the approximate units.
#include "instruction.h"

namespace voltcheck::conformance {
namespace {

using Words = std::vector<std::string>;

const Words kRoundings = {".rn", ".rz", ".rm", ".rp"};
const Words kFlush = {"", ".ftz"};

void AddSingle(std::vector<Instruction>& all) {
  for (const std::string& rounding : kRoundings) {
    for (const std::string& ftz : kFlush) {
      for (const std::string& sat : Words{"", ".sat"}) {
        const std::string suffix = rounding + ftz + sat + ".f32";
        for (const char* op : {"add", "sub", "mul"}) {
          all.push_back(Plain(op + suffix, {"f32", "f32"}, "f32"));
        }
        all.push_back(Plain("fma" + suffix, {"f32", "f32", "f32"}, "f32"));
      }
      const std::string suffix = rounding + ftz + ".f32";
      all.push_back(Plain("div" + suffix, {"f32", "f32"}, "f32"));
      all.push_back(Plain("rcp" + suffix, {"f32"}, "f32"));
      all.push_back(Plain("sqrt" + suffix, {"f32"}, "f32"));
    }
  }
  for (const std::string& ftz : kFlush) {
    for (const char* op : {"min", "max"}) {
      all.push_back(Plain(op + ftz + ".f32", {"f32", "f32"}, "f32"));
    }
    for (const char* op : {"abs", "neg"}) {
      all.push_back(Plain(op + ftz + ".f32", {"f32"}, "f32"));
    }
  }
}

void AddApproximate(std::vector<Instruction>& all) {
  for (const std::string& ftz : kFlush) {
    for (const char* op : {"rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"}) {
      all.push_back(Plain(std::string(op) + ".approx" + ftz + ".f32", {"f32"}, "f32"));
    }
    all.push_back(Plain("div.approx" + ftz + ".f32", {"f32", "f32"}, "f32"));
    all.push_back(Plain("div.full" + ftz + ".f32", {"f32", "f32"}, "f32"));
  }
  all.push_back(Plain("rcp.approx.ftz.f64", {"f64"}, "f64"));
  all.push_back(Plain("rsqrt.approx.f64", {"f64"}, "f64"));
  all.push_back(Plain("rsqrt.approx.ftz.f64", {"f64"}, "f64"));
}

void AddWide(std::vector<Instruction>& all) {
  for (const std::string& rounding : kRoundings) {
    for (const char* op : {"add", "sub", "mul", "div"}) {
      all.push_back(Plain(op + rounding + ".f64", {"f64", "f64"}, "f64"));
    }
    all.push_back(Plain("fma" + rounding + ".f64", {"f64", "f64", "f64"}, "f64"));
    all.push_back(Plain("rcp" + rounding + ".f64", {"f64"}, "f64"));
    all.push_back(Plain("sqrt" + rounding + ".f64", {"f64"}, "f64"));
  }
  for (const char* op : {"min.f64", "max.f64"}) {
    all.push_back(Plain(op, {"f64", "f64"}, "f64"));
  }
  for (const char* op : {"abs.f64", "neg.f64"}) {
    all.push_back(Plain(op, {"f64"}, "f64"));
  }
}

void AddClasses(std::vector<Instruction>& all) {
  for (const std::string& t : Words{"f32", "f64"}) {
    for (const char* kind : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
      Instruction test = Plain(std::string("testp.") + kind + "." + t, {t}, "u32");
      test.body = test.name + " %p0, %a0; selp.u32 %x0, 1, 0, %p0;";
      all.push_back(test);
    }
    all.push_back(Plain("copysign." + t, {t, t}, t));
  }
}

}  // namespace

void AddFloat(std::vector<Instruction>& all) {
  AddSingle(all);
  AddApproximate(all);
  AddWide(all);
  AddClasses(all);
}

}  // namespace voltcheck::conformance
