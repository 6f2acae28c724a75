// Instructions that other simulators of PTX compute silently wrong, each against plain host code.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "reference/arith/fused_dot_add.h"
#include "reference/arith/half.h"
#include "runner.h"

namespace voltcheck::simulator::testing {
namespace {

std::uint32_t Bits(float f) { return std::bit_cast<std::uint32_t>(f); }
float Float(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// A reproducible stream of operands, every fourth one an edge case.
class Operands {
 public:
  explicit Operands(std::uint64_t seed) : random_(seed) {}
  std::uint32_t Next() {
    static constexpr std::uint32_t kEdges[] = {
        0,          1,          0x7fffffff, 0x80000000, 0xffffffff, 31,         32,
        33,         0x3f800000, 0xbf800000, 0x00800000, 0x007fffff, 0x7f800000, 0xff800000,
        0x7fc00000, 0x7f7fffff, 0x3c003c00, 0x7c000001, 0x8000fc00, 0x03ff0400};
    state_ = state_ * 6364136223846793005u + 1442695040888963407u + random_;
    const auto bits = static_cast<std::uint32_t>(state_ >> 32);
    return bits % 4 == 0 ? kEdges[(bits >> 8) % std::size(kEdges)] : bits;
  }

 private:
  std::uint64_t random_;
  std::uint64_t state_ = 88172645463325252u;
};

/// Runs `body` on 1024 threads; a, b and c are in %r10, %r11, %r12 (also %f10.. as floats), the
/// result is taken from %r20. `expected` gives it on the host.
void Compare(
    const std::string& body,
    const std::function<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t)>& expected,
    std::uint64_t seed = 1) {
  constexpr std::size_t kCount = 1024;
  Operands operands(seed);
  std::vector<std::uint32_t> in(3 * kCount);
  std::generate(in.begin(), in.end(), [&] { return operands.Next(); });
  Runner runner;
  const auto kernel = runner.Load(EntryText(".param .u64 in, .param .u64 out", R"(
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd3, %r4, 12;
    add.u64 %rd3, %rd1, %rd3;
    ld.global.u32 %r10, [%rd3]; ld.global.u32 %r11, [%rd3+4]; ld.global.u32 %r12, [%rd3+8];
    mov.b32 %f10, %r10; mov.b32 %f11, %r11; mov.b32 %f12, %r12;
    mov.u32 %r20, 0;
    )" + body + R"(
    mul.wide.u32 %rd4, %r4, 4;
    add.u64 %rd4, %rd2, %rd4;
    st.global.u32 [%rd4], %r20;)"));
  const auto in_buffer = runner.Upload(in);
  const auto out_buffer = runner.Buffer(kCount * 4);
  runner.Run(kernel, {4, 1, 1}, {256, 1, 1}, 0, in_buffer, out_buffer);
  ASSERT_EQ(runner.Findings(), "");
  const auto out = runner.Download<std::uint32_t>(out_buffer, kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::uint32_t want = expected(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
    ASSERT_EQ(out[i], want) << body << std::hex << " a=" << in[3 * i] << " b=" << in[3 * i + 1]
                            << " c=" << in[3 * i + 2];
  }
}

TEST(Traps, PrmtReplicatesSigns) {
  Compare("prmt.b32 %r20, %r10, %r11, %r12;", [](auto a, auto b, auto c) {
    std::uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t s = c >> (4 * i) & 0xf;
      const std::uint32_t word = (s & 4) != 0 ? b : a;
      std::uint32_t byte = word >> (8 * (s & 3)) & 0xff;
      if ((s & 8) != 0) {
        byte = byte >= 0x80 ? 0xff : 0;
      }
      result |= byte << (8 * i);
    }
    return result;
  });
  Compare("prmt.b32 %r20, %r10, %r11, 0x9180;", [](auto a, auto, auto) {
    const auto sign = [&](int byte) { return (a >> (8 * byte + 7) & 1) != 0 ? 0xffu : 0u; };
    return (a & 0xff) | sign(0) << 8 | (a >> 8 & 0xff) << 16 | sign(1) << 24;
  });
}

TEST(Traps, Lop3TakesAnyTable) {
  for (const std::uint32_t lut : {0x80u, 0xeau, 0x96u, 0xcau, 0x01u, 0xfeu, 0x3cu}) {
    Compare("lop3.b32 %r20, %r10, %r11, %r12, " + std::to_string(lut) + ";",
            [&](auto a, auto b, auto c) {
              std::uint32_t result = 0;
              for (int i = 0; i < 32; ++i) {
                const std::uint32_t index = (a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1);
                result |= (lut >> index & 1) << i;
              }
              return result;
            });
  }
}

TEST(Traps, ShiftsAndFunnelsBeyondTheWord) {
  Compare("shl.b32 %r20, %r10, %r11;", [](auto a, auto b, auto) { return b > 31 ? 0 : a << b; });
  Compare("shr.u32 %r20, %r10, %r11;", [](auto a, auto b, auto) { return b > 31 ? 0 : a >> b; });
  Compare("shr.s32 %r20, %r10, %r11;", [](auto a, auto b, auto) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(a) >> std::min(b, 31u));
  });
  const auto funnel = [](std::uint32_t a, std::uint32_t b, std::uint32_t n, bool left) {
    const std::uint64_t both = std::uint64_t{b} << 32 | a;
    return static_cast<std::uint32_t>(left ? both << n >> 32 : both >> n);
  };
  Compare("shf.l.wrap.b32 %r20, %r10, %r11, %r12;",
          [&](auto a, auto b, auto c) { return funnel(a, b, c & 31, true); });
  Compare("shf.r.wrap.b32 %r20, %r10, %r11, %r12;",
          [&](auto a, auto b, auto c) { return funnel(a, b, c & 31, false); });
  Compare("shf.l.clamp.b32 %r20, %r10, %r11, %r12;",
          [&](auto a, auto b, auto c) { return c > 31 ? a : funnel(a, b, c, true); });
  Compare("shf.r.clamp.b32 %r20, %r10, %r11, %r12;",
          [&](auto a, auto b, auto c) { return c > 31 ? b : funnel(a, b, c, false); });
}

TEST(Traps, BitFields) {
  Compare("bfe.u32 %r20, %r10, %r11, %r12;", [](auto a, auto b, auto c) {
    const std::uint32_t begin = b & 0xff;
    const std::uint32_t length = c & 0xff;
    std::uint64_t wide = begin > 63 ? 0 : std::uint64_t{a} >> begin;
    return static_cast<std::uint32_t>(length > 31 ? wide : wide & ((1u << length) - 1));
  });
  Compare("bfe.s32 %r20, %r10, %r11, %r12;", [](auto a, auto b, auto c) {
    const std::uint32_t begin = b & 0xff;
    const std::uint32_t length = c & 0xff;
    if (length == 0) {
      return 0u;
    }
    const auto wide = static_cast<std::int64_t>(static_cast<std::int32_t>(a));
    const std::int64_t shifted = wide >> std::min(begin, 63u);
    if (length > 32) {
      return static_cast<std::uint32_t>(shifted);
    }
    return static_cast<std::uint32_t>(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted) << (64 - length)) >>
        (64 - length));
  });
  Compare("bfi.b32 %r20, %r10, %r11, %r12, 7;", [](auto a, auto b, auto c) {
    const std::uint32_t begin = c & 0xff;
    if (begin > 31) {
      return b;
    }
    const std::uint32_t mask = 0x7fu << begin;
    return (b & ~mask) | (a << begin & mask);
  });
}

TEST(Traps, CarryChains) {
  // 96-bit sum of {a, b, c} and {b, c, a}, its words mixed together.
  Compare(
      "add.cc.u32 %r13, %r10, %r11; addc.cc.u32 %r14, %r11, %r12; addc.u32 %r15, %r12, %r10;"
      "shf.l.wrap.b32 %r14, %r14, %r14, 7; xor.b32 %r20, %r13, %r14; add.u32 %r20, %r20, %r15;",
      [](auto a, auto b, auto c) {
        const std::uint64_t low = std::uint64_t{a} + b;
        const std::uint64_t middle = std::uint64_t{b} + c + (low >> 32);
        const auto high = static_cast<std::uint32_t>(std::uint64_t{c} + a + (middle >> 32));
        return (static_cast<std::uint32_t>(low) ^
                std::rotl(static_cast<std::uint32_t>(middle), 7)) +
               high;
      });
  Compare("sub.cc.u32 %r13, %r10, %r11; subc.u32 %r20, %r12, %r11;",
          [](auto a, auto b, auto c) { return c - b - (a < b ? 1u : 0u); });
  // The flag of a subtraction is a carry: set when there is no borrow.
  Compare("sub.cc.u32 %r13, %r10, %r11; addc.u32 %r20, %r12, 0;",
          [](auto a, auto b, auto c) { return c + (a >= b ? 1u : 0u); });
  Compare("add.cc.u32 %r13, %r10, %r11; subc.u32 %r20, %r12, %r11;",
          [](auto a, auto b, auto c) { return c + ~b + (a + b < a ? 1u : 0u); });
  Compare("mad.lo.cc.u32 %r13, %r10, %r11, %r12; madc.hi.u32 %r20, %r10, %r11, %r12;",
          [](auto a, auto b, auto c) {
            const std::uint64_t product = std::uint64_t{a} * b;
            const std::uint64_t sum = product + c;
            const bool carry = (product & 0xffffffff) + c > 0xffffffff;
            (void)sum;
            return static_cast<std::uint32_t>(product >> 32) + c + (carry ? 1 : 0);
          });
}

TEST(Traps, FmaIsFused) {
  Compare("fma.rn.f32 %f20, %f10, %f11, %f12; mov.b32 %r20, %f20;", [](auto a, auto b, auto c) {
    const float r = std::fma(Float(a), Float(b), Float(c));
    return std::isnan(r) ? 0x7fffffffu : Bits(r);
  });
}

/// Directed rounding by trying both neighbours in long double, which holds a float product plus a
/// float whose exponents are near; operands with far exponents are left to the conformance suite.
TEST(Traps, DirectedRounding) {
  const auto directed = [](long double exact, int mode) {  // -1 down, 0 zero, 1 up
    float r = static_cast<float>(exact);
    const bool up = mode > 0 || (mode == 0 && exact < 0);
    if (up && r < exact) {
      r = std::nextafter(r, HUGE_VALF);
    }
    if (!up && r > exact) {
      r = std::nextafter(r, -HUGE_VALF);
    }
    return r;
  };
  const char* modes[] = {"rm", "rz", "rp"};
  for (int mode = -1; mode <= 1; ++mode) {
    // Operands cut to exponents 2^-8 .. 2^7, so that long double is exact.
    const auto tame = [](std::uint32_t x) {
      return Float((x & 0x807fffffu) | (119u + (x >> 23 & 15)) << 23);
    };
    const std::string cut =
        "and.b32 %r13, %r10, 0x807fffff; bfe.u32 %r14, %r10, 23, 4; add.u32 %r14, %r14, 119;"
        "shl.b32 %r14, %r14, 23; or.b32 %r13, %r13, %r14; mov.b32 %f13, %r13;"
        "and.b32 %r15, %r11, 0x807fffff; bfe.u32 %r14, %r11, 23, 4; add.u32 %r14, %r14, 119;"
        "shl.b32 %r14, %r14, 23; or.b32 %r15, %r15, %r14; mov.b32 %f14, %r15;";
    const std::string m = modes[mode + 1];
    Compare(cut + "fma." + m + ".f32 %f20, %f13, %f14, %f13; mov.b32 %r20, %f20;",
            [&](auto a, auto b, auto) {
              const long double x = tame(a);
              return Bits(directed(x * tame(b) + x, mode));
            });
    Compare(cut + "div." + m + ".f32 %f20, %f13, %f14; mov.b32 %r20, %f20;",
            [&](auto a, auto b, auto) {
              return Bits(directed(static_cast<long double>(tame(a)) / tame(b), mode));
            });
    Compare(cut + "add." + m + ".f32 %f20, %f13, %f14; mov.b32 %r20, %f20;",
            [&](auto a, auto b, auto) {
              const long double sum = static_cast<long double>(tame(a)) + tame(b);
              return sum == 0 && mode < 0 ? 0x80000000u : Bits(directed(sum, mode));
            });
  }
}

TEST(Traps, HalfPairsHaveUpperHalves) {
  const auto pairs = [](auto f) {
    return [f](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
      const auto low = [](std::uint32_t x) { return static_cast<std::uint16_t>(x); };
      const auto high = [](std::uint32_t x) { return static_cast<std::uint16_t>(x >> 16); };
      return std::uint32_t{f(low(a), low(b), low(c))} | std::uint32_t{f(high(a), high(b), high(c))}
                                                            << 16;
    };
  };
  using H = std::uint16_t;
  Compare("add.f16x2 %r20, %r10, %r11;", pairs([](H a, H b, H) { return arith::HalfAdd(a, b); }));
  Compare("sub.rn.f16x2 %r20, %r10, %r11;",
          pairs([](H a, H b, H) { return arith::HalfSub(a, b); }));
  Compare("mul.f16x2 %r20, %r10, %r11;", pairs([](H a, H b, H) { return arith::HalfMul(a, b); }));
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Compare("fma.rn.f16x2 %r20, %r10, %r11, %r12;",
            pairs([](H a, H b, H c) { return arith::HalfFma(a, b, c); }), seed);
  }
  Compare(
      "cvt.u16.u32 %rs1, %r10; cvt.u16.u32 %rs2, %r11; mul.f16 %rs3, %rs1, %rs2;"
      "cvt.u32.u16 %r20, %rs3;",
      [](auto a, auto b, auto) {
        return std::uint32_t{arith::HalfMul(static_cast<H>(a), static_cast<H>(b))};
      });
}

TEST(Traps, HalfConversionsOfEveryHalf) {
  Compare("cvt.u16.u32 %rs1, %r10; cvt.f32.f16 %f1, %rs1; mov.b32 %r20, %f1;",
          [](auto a, auto, auto) {
            const float f = arith::HalfToFloat(static_cast<std::uint16_t>(a));
            return std::isnan(f) ? 0x7fffffffu : Bits(f);
          });
  Compare("cvt.rn.f16.f32 %rs1, %f10; cvt.u32.u16 %r20, %rs1;",
          [](auto a, auto, auto) { return std::uint32_t{arith::FloatToHalf(Float(a))}; });
}

TEST(Traps, ConversionsClampAndExtend) {
  const auto clamp = [](double x, double low, double high) {
    return std::isnan(x) ? 0.0 : std::min(std::max(x, low), high);
  };
  Compare("cvt.rzi.s32.f32 %r20, %f10;", [&](auto a, auto, auto) {
    return static_cast<std::uint32_t>(
        static_cast<std::int32_t>(clamp(std::trunc(Float(a)), -2147483648.0, 2147483647.0)));
  });
  Compare("cvt.rni.u32.f32 %r20, %f10;", [&](auto a, auto, auto) {
    return static_cast<std::uint32_t>(clamp(std::nearbyint(Float(a)), 0.0, 4294967295.0));
  });
  Compare("cvt.s32.s8 %r20, %r10;", [](auto a, auto, auto) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<std::int8_t>(a)));
  });
  Compare("cvt.sat.u8.s32 %r20, %r10;", [](auto a, auto, auto) {
    return static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(a), 0, 255));
  });
  Compare("cvt.rz.f32.u32 %f20, %r10; mov.b32 %r20, %f20;", [](auto a, auto, auto) {
    float f = static_cast<float>(a);
    if (static_cast<double>(f) > a) {
      f = std::nextafter(f, 0.0f);
    }
    return Bits(f);
  });
}

TEST(Traps, ShufflesHaveTheirPredicateInEveryWarp) {
  const auto out = RunWriter(R"(
    shfl.sync.up.b32 %r5|%p1, %r1, 3, 0, -1;
    shfl.sync.down.b32 %r6|%p2, %r1, 5, 31, -1;
    shfl.sync.idx.b32 %r7|%p3, %r1, 9, 0x181f, -1;
    selp.u32 %r8, 1, 0, %p1;
    selp.u32 %r9, 2, 0, %p2;
    selp.u32 %r10, 4, 0, %p3;
    or.b32 %r8, %r8, %r9;
    or.b32 %r8, %r8, %r10;
    mad.lo.u32 %r8, %r5, 10, %r8;
    mad.lo.u32 %r8, %r6, 10000, %r8;
    mad.lo.u32 %r8, %r7, 10000000, %r8;
    st.global.u32 [%rd1], %r8;)",
                             96);
  for (std::uint32_t i = 0; i < 96; ++i) {
    const std::uint32_t lane = i % 32;
    const std::uint32_t base = i - lane;
    const std::uint32_t up = lane >= 3 ? i - 3 : i;
    const std::uint32_t down = lane + 5 <= 31 ? i + 5 : i;
    const std::uint32_t index = base + (lane & 24) + 1;  // segments of eight: 9 mod 8
    const std::uint32_t predicates = (lane >= 3 ? 1 : 0) | (lane + 5 <= 31 ? 2 : 0) | 4;
    EXPECT_EQ(out[i], predicates + up * 10 + down * 10000 + index * 10000000) << i;
  }
}

TEST(Traps, VotesAndMatches) {
  const auto out = RunWriter(R"(
    and.b32 %r5, %r1, 3;
    setp.eq.u32 %p1, %r5, 2;
    vote.sync.ballot.b32 %r6, %p1, -1;
    vote.sync.all.pred %p2, %p1, -1;
    vote.sync.any.pred %p3, !%p1, -1;
    vote.sync.uni.pred %p4, %p1, -1;
    match.any.sync.b32 %r7, %r5, -1;
    match.all.sync.b32 %r8|%p5, %r5, -1;
    mov.u32 %r9, %lanemask_lt;
    and.b32 %r10, %r7, %r9;
    popc.b32 %r10, %r10;
    selp.u32 %r11, 100, 0, %p2;
    selp.u32 %r12, 200, 0, %p3;
    selp.u32 %r13, 400, 0, %p4;
    selp.u32 %r14, 800, 0, %p5;
    add.u32 %r10, %r10, %r11;
    add.u32 %r10, %r10, %r12;
    add.u32 %r10, %r10, %r13;
    add.u32 %r10, %r10, %r14;
    add.u32 %r10, %r10, %r8;
    xor.b32 %r10, %r10, %r6;
    st.global.u32 [%rd1], %r10;)");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], (200 + i / 4) ^ 0x44444444u);
  }
}

TEST(Traps, WideIntegersAndDivision) {
  Compare("div.s32 %r13, %r10, 7; rem.s32 %r14, %r10, 7; mad.lo.s32 %r20, %r13, 7, %r14;",
          [](auto a, auto, auto) { return a; });
  Compare("mul.wide.s32 %rd5, %r10, %r11; shr.s64 %rd5, %rd5, 17; cvt.u32.u64 %r20, %rd5;",
          [](auto a, auto b, auto) {
            const std::int64_t product = static_cast<std::int64_t>(static_cast<std::int32_t>(a)) *
                                         static_cast<std::int32_t>(b);
            return static_cast<std::uint32_t>(product >> 17);
          });
  Compare("mad.hi.u32 %r20, %r10, %r11, %r12;", [](auto a, auto b, auto c) {
    return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32) + c;
  });
  Compare("min.s32 %r20, %r10, %r11;", [](auto a, auto b, auto) {
    return static_cast<std::uint32_t>(
        std::min(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)));
  });
}

TEST(Traps, ClockMovesOn) {
  const auto out = RunWriter(
      "mov.u64 %rd5, %clock64; mov.u64 %rd6, %clock64; setp.gt.u64 %p1, %rd6, %rd5;"
      "selp.u32 %r5, 1, 0, %p1; st.global.u32 [%rd1], %r5;");
  EXPECT_EQ(out, std::vector<std::uint32_t>(32, 1));
}

TEST(Traps, WmmaOnSharedMemory) {
  // C = A * B + 1 for A[i][k] = i + k, B[k][j] = j - k (small integers, exact), row- and
  // column-major.
  const auto half = [](int value) { return arith::FloatToHalf(static_cast<float>(value)); };
  std::vector<std::uint16_t> a(256);
  std::vector<std::uint16_t> b(256);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      a[static_cast<std::size_t>(i * 16 + j)] = half(i + j);
      b[static_cast<std::size_t>(j * 16 + i)] = half(j - i);  // column-major: B[k=i][n=j]
    }
  }
  Runner runner;
  const auto kernel = runner.Load(EntryText(".param .u64 a, .param .u64 b, .param .u64 d",
                                            R"(
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [d];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 16;
    add.u64 %rd5, %rd1, %rd4;
    ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%rd5];
    shl.b32 %r6, %r1, 4;
    mov.u32 %r7, tile;
    add.u32 %r6, %r7, %r6;
    st.shared.v4.u32 [%r6], {%r2,%r3,%r4,%r5};
    bar.sync 0;
    mov.f32 %f1, 0f3F800000;
    wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [tile], 16;
    wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27}, [%rd2], 16;
    wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f10,%f11,%f12,%f13,%f14,%f15,%f16,%f17},
      {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, {%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27},
      {%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1};
    wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd3], {%f10,%f11,%f12,%f13,%f14,%f15,%f16,%f17}, 20;
    wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%rd3+1280], {%f10,%f11,%f12,%f13,%f14,%f15,%f16,%f17};)",
                                            ".shared .align 32 .b8 tile[512];\n"));
  const auto d = runner.Upload(std::vector<float>(320 + 256, 0.0f));
  runner.Run(kernel, {1, 1, 1}, {32, 1, 1}, 0, runner.Upload(a), runner.Upload(b), d);
  ASSERT_EQ(runner.Findings(), "");
  const auto out = runner.Download<float>(d, 320 + 256);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      float want = 1;
      for (int k = 0; k < 16; ++k) {
        want += static_cast<float>((i + k) * (j - k));
      }
      EXPECT_EQ(out[static_cast<std::size_t>(i * 20 + j)], want) << i << "," << j;
      EXPECT_EQ(out[static_cast<std::size_t>(320 + j * 16 + i)], want) << i << "," << j;
    }
  }
}

/// One m8n8k4 through a whole kernel, in every warp, against the scalar rule and the PTX layouts.
TEST(Traps, MatrixInstructionInEveryWarp) {
  Operands operands(7);
  const auto halves = [&](std::size_t n) {
    std::vector<std::uint16_t> values(n);
    for (auto& v : values) {
      v = static_cast<std::uint16_t>(operands.Next() & 0xbfff);  // finite
    }
    return values;
  };
  constexpr std::size_t kWarps = 3;
  const auto a = halves(kWarps * 128);
  const auto b = halves(kWarps * 128);
  std::vector<float> c(kWarps * 256);
  for (auto& v : c) {
    v = static_cast<float>(static_cast<std::int32_t>(operands.Next())) * 0x1p-30f;
  }
  Runner runner;
  const auto kernel = runner.Load(EntryText(".param .u64 a, .param .u64 b, .param .u64 c", R"(
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 8; add.u64 %rd1, %rd1, %rd4; add.u64 %rd2, %rd2, %rd4;
    mul.wide.u32 %rd4, %r1, 32; add.u64 %rd3, %rd3, %rd4;
    ld.global.v2.u32 {%r2,%r3}, [%rd1];
    ld.global.v2.u32 {%r4,%r5}, [%rd2];
    ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd3];
    ld.global.v4.f32 {%f5,%f6,%f7,%f8}, [%rd3+16];
    mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8},
      {%r2,%r3}, {%r4,%r5}, {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};
    st.global.v4.f32 [%rd3], {%f1,%f2,%f3,%f4};
    st.global.v4.f32 [%rd3+16], {%f5,%f6,%f7,%f8};)"));
  const auto c_buffer = runner.Upload(c);
  runner.Run(kernel, {1, 1, 1}, {kWarps * 32, 1, 1}, 0, runner.Upload(a), runner.Upload(b),
             c_buffer);
  ASSERT_EQ(runner.Findings(), "");
  const auto out = runner.Download<std::uint32_t>(c_buffer, c.size());
  for (std::size_t warp = 0; warp < kWarps; ++warp) {
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const std::size_t quad = lane / 4 % 4;
      const std::size_t h = lane / 16;
      const auto holder = [&](std::size_t row) { return 4 * quad + row % 4 + 16 * (row / 4); };
      for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t row = (lane & 1) + (i & 2) + 4 * h;
        const std::size_t column = (i & 4) + (lane & 2) + (i & 1);
        const std::span<const std::uint16_t> x(&a[(warp * 32 + holder(row)) * 4], 4);
        const std::span<const std::uint16_t> y(&b[(warp * 32 + holder(column)) * 4], 4);
        const std::size_t at = (warp * 32 + lane) * 8 + i;
        EXPECT_EQ(out[at], Bits(arith::FusedDotAdd(arith::kV100DotAdd, x, y, c[at])))
            << warp << " " << lane << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace voltcheck::simulator::testing
