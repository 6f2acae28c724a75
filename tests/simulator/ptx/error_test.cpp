// Malformed text: one line with file, line and column, what is wrong, what to do.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "parse.h"

namespace voltcheck::simulator::ptx {
namespace {

struct Malformed {
  const char* text;
  const char* error;  ///< without the file's name
};

void Check(const std::vector<Malformed>& cases, std::string (*parse)(const std::string&)) {
  for (const Malformed& c : cases) {
    const std::string line = parse(c.text);
    EXPECT_EQ(line, std::string("test.ptx:") + c.error) << c.text;
    EXPECT_NE(line.find("; "), std::string::npos) << "says what to do: " << c.text;
    EXPECT_EQ(line.find('\n'), std::string::npos) << c.text;
  }
}

TEST(PtxError, Header) {
  Check({{"",
          "1:1: expected .version at the start of a PTX file but found the end of the file; give a "
          "PTX file"},
         {"\x7f"
          "ELF",
          "1:1: unexpected character '?'; PTX is plain ASCII text"},
         {"int main() {}",
          "1:1: expected .version at the start of a PTX file but found 'int'; give a PTX file"},
         {".version 7", "1:10: the PTX version '7'; write one such as 7.8"},
         {".version 1e9 .target sm_70", "1:10: the PTX version '1e9'; write one such as 7.8"},
         {".version 7.8\n.entry",
          "2:1: expected .target after .version but found '.entry'; add it, as in '.target sm_70'"},
         {".version 7.8\n.target sm_70\n.address_size 32",
          "3:15: addresses that are not 64 bits wide; compile with -m64"}},
        ErrorOf);
}

TEST(PtxError, Tokens) {
  Check({{"  /* open", "2:3: this comment never ends; close it with '*/'"},
         {".file 1 \"open\n\"", "2:9: this string never ends; close it with '\"' on the same line"},
         {"#include", "2:1: a preprocessor line; run the preprocessor first"},
         {".global .u32 x = 12ab;", "2:18: malformed number '12a'; a number ends before letters"},
         {".global .f32 x = 0f123;",
          "2:18: a floating-point pattern with 3 digits; write 8 hexadecimal digits"},
         {".global .u32 x = 0x;", "2:18: a number without digits; write digits after the prefix"},
         {".global .u32 x = 018;",
          "2:18: the number '018' is not a 64-bit integer; write one that fits"},
         {".global .u32 x = 99999999999999999999;",
          "2:18: the number '99999999999999999999' is not a 64-bit integer; write one that fits"},
         {".global .f64 x = 1e999;",
          "2:18: the number '1e999' is not a double; write one in range, or its bits as 0d..."},
         {". x", "2:1: a '.' without a word behind it; write a directive or a modifier"}},
        ItemError);
}

TEST(PtxError, Items) {
  Check(
      {{"ret;",
        "2:1: expected a directive but found 'ret'; begin with .visible, .entry, .func, .global, "
        "..."},
       {".thing x;", "2:1: the directive '.thing' is not known; remove it"},
       {".reg .b32 x;", "2:1: '.reg' outside a function; move the declaration into a function"},
       {".global x;",
        "2:9: expected the type of a declaration but found 'x'; write one such as .b32"},
       {".global .b33 x;",
        "2:9: '.b33' in a declaration; write a type such as .b32, .align or .v2, .v4"},
       {".global .texref x;",
        "2:9: texture and surface references are not supported; use plain memory"},
       {".global .align 3 .b8 x;",
        "2:16: the alignment 3 is not a power of two up to 1048576; write 1, 2, 4, 8, ..."},
       {".global .u32 x[];", "2:14: 'x' has no size; write its size, or declare it .extern"},
       {".global .u32 x[0];",
        "2:15: an array of no or too many elements; use 1 to 1099511627776 bytes in all"},
       {".global .u32 x[2][];", "2:18: only the first dimension may be left open; write its size"},
       {".global .u32 x; .global .u32 x;",
        "2:30: 'x' is declared already, in line 2; rename one of them"},
       {".global .u32 x[2] = {1, 2, 3};",
        "2:28: more initial values than 'x' has room for; remove the excess"},
       {".global .u32 x[2] = 1;",
        "2:21: expected '{' before the initial values of an array or vector but found '1'; add it"},
       {".global .u32 x = 1.5;",
        "2:18: a floating-point value for an integer variable; write an integer"},
       {".global .f32 x = 1;",
        "2:18: an integer for a floating-point variable; write 1.0 or 0f..."},
       {".global .f16 x = 1.0;",
        "2:18: an initial value for a half-precision type; declare it as .b16 or .b32"},
       {".global .u32 x = 1/0;", "2:19: a division by zero; use another divisor"},
       {".global .pred p;", "2:15: a predicate in memory; declare it as .reg .pred"},
       {".entry k() { ret; } .entry k() { ret; }",
        "2:28: 'k' is defined already, in line 2; rename one of them"},
       {".entry k(.b32 x) { ret; }",
        "2:10: expected .param but found '.b32'; declare each parameter with .param and its type"},
       {".entry k() .maxntid 0 { ret; }",
        "2:21: .maxntid of no or too many threads; write 1 to 1024"},
       {".entry k() .sometimes { ret; }",
        "2:12: expected '{' before the kernel's body but found '.sometimes'; remove the directive"},
       {".entry k() { ret;", "2:8: the body of 'k' never ends; close it with '}'"},
       {".section .debug_str { .b8 1", "2:10: this section never ends; close it with '}'"},
       {".alias a, b;", "2:11: 'b' is not a defined function; define it before its alias"}},
      ItemError);
}

TEST(PtxError, Bodies) {
  Check(
      {{"add.u32 %r1, %r2", "3:1: expected ';' after the instruction but found '}'; add it"},
       {"add.u32 %r1 %r2;", "2:13: expected ';' after the instruction but found '%r2'; add it"},
       {"add.u32 %r1, ;",
        "2:14: expected an operand but found ';'; write a register, a number, an address or a "
        "vector"},
       {"add.u32 r1, %r2;",
        "2:9: 'r1' is not declared in this function; declare the label, variable or function"},
       {"ld.u32 %r1, [r2];", "2:14: 'r2' is not declared; declare it before its use"},
       {"ld.u32 %r1, [%rd1+%r1];",
        "2:19: expected a constant offset but found '%r1'; add registers with an instruction of "
        "their own"},
       {"ld.u32 %r1, [%rd1;", "2:18: expected ']' after the address but found ';'; add it"},
       {"ld.u32 %r1, %rd1[2];", "2:13: '%rd1' is not an array; index a declared array"},
       {"mov.u32 %r1, {%r2, };",
        "2:20: expected an operand but found '}'; write a register, a number, an address or a "
        "vector"},
       {"mov.u32 %r1, %r2.q;", "2:17: '.q' of a register; write a component such as .x"},
       {"@q ret;", "2:2: 'q' is not declared; declare it before its use"},
       {"@%p1 { ret; }", "2:6: expected an instruction but found '{'; write a name"},
       {"bra nowhere;",
        "2:5: 'nowhere' is not declared in this function; declare the label, variable or function"},
       {"bra L; { L: ret; }",
        "2:5: 'L' is not declared in this function; declare the label, variable or function"},
       {"t: .branchtargets nowhere;",
        "2:19: 'nowhere' is not declared in this function; declare the label, variable or "
        "function"},
       {"L: ret; L: ret;",
        "2:9: 'L' is declared twice in this block, first in line 2; rename one of them"},
       {".reg .b32 a; .reg .b64 a;",
        "2:24: 'a' is declared twice in this block, first in line 2; rename one of them"},
       {".reg .b32 %q<2>[3];", "2:16: expected ';' after a declaration but found '['; add it"},
       {".reg .b32 a[3];",
        "2:12: expected a scalar or vector register but found '['; registers have no arrays"},
       {".shared .b8 s[];", "2:13: 's' has no size; write its size"},
       {".loc 1 2", "3:1: expected a source column but found '}'; write an unsigned integer"},
       {".loc 1 2 3, thing x", "2:13: 'thing' behind .loc; write function_name or inlined_at"},
       {".entry x;",
        "2:1: the directive '.entry' in a function; remove it, or write an instruction without the "
        "dot"},
       {"mov.u32 %r1, 1+;",
        "2:16: expected a constant but found ';'; write a number or an expression of numbers"},
       {"mov.u32 %r1, ~1.5;", "2:14: '~' of a floating-point value; use an integer"},
       {"mov.u32 %r1, 1.5 & 1.5;", "2:18: '&' of floating-point values; use integers"},
       {"; ret;", "2:1: expected an instruction, a label or a directive but found ';'; remove it"}},
      BodyError);
}

TEST(PtxError, LongAndUnprintableTokensAreCut) {
  const std::string error = BodyError("bra " + std::string(5000, 'x') + ";");
  EXPECT_LT(error.size(), 200U);
  EXPECT_NE(error.find("xxx...'"), std::string::npos);
}

}  // namespace
}  // namespace voltcheck::simulator::ptx
