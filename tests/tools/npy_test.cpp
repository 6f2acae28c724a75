// NumPy files: what numpy.save writes is read, everything else is refused in one line.
#include "tools/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "fixtures/case/error.h"

namespace voltcheck::tools {
namespace {

NpyHeader Parse(const std::string& file) {
  return ParseNpy(std::as_bytes(std::span(file.data(), file.size())), "x.npy");
}

std::string File(const std::string& dictionary, std::size_t data_bytes) {
  std::string header = dictionary + "\n";
  std::string file = "\x93NUMPY";
  file += std::string("\x01\x00", 2);
  file += static_cast<char>(header.size());
  file += '\0';
  return file + header + std::string(data_bytes, 'x');
}

TEST(Npy, WhatNumpyWritesIsRead) {
  const NpyHeader matrix =
      Parse(File("{'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), }", 24));
  EXPECT_EQ(matrix.dtype, "<f2");
  EXPECT_FALSE(matrix.fortran_order);
  EXPECT_EQ(matrix.shape, (std::vector<std::uint64_t>{3, 4}));
  EXPECT_EQ(matrix.data_bytes, 24U);
  EXPECT_EQ(Parse(File("{'descr': '|u1', 'fortran_order': True, 'shape': (5,), }", 5)).shape,
            std::vector<std::uint64_t>{5});
  EXPECT_EQ(Parse(File("{'descr': '<i8', 'fortran_order': False, 'shape': (), }", 8)).data_bytes,
            8U);
  EXPECT_EQ(
      Parse(File("{'descr': '<i8', 'fortran_order': False, 'shape': (0, 7), }", 0)).data_bytes, 0U);
}

TEST(Npy, PreambleIsReadBackAndAligned) {
  for (const std::vector<std::uint64_t>& shape :
       {std::vector<std::uint64_t>{}, {7}, {3, 4}, {1, 2, 3, 4, 5}}) {
    NpyHeader header;
    header.dtype = "<f4";
    header.fortran_order = shape.size() == 2;
    header.shape = shape;
    std::size_t elements = 1;
    for (const std::uint64_t size : shape) {
      elements *= size;
    }
    const std::string preamble = NpyPreamble(header);
    EXPECT_EQ(preamble.size() % 64, 0U);
    const NpyHeader read = Parse(preamble + std::string(4 * elements, '\0'));
    EXPECT_EQ(read.dtype, header.dtype);
    EXPECT_EQ(read.shape, header.shape);
    EXPECT_EQ(read.fortran_order, header.fortran_order);
    EXPECT_EQ(read.data_offset, preamble.size());
  }
}

TEST(Npy, EverythingElseIsRefused) {
  const std::string good = File("{'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), }", 24);
  const auto refused = [](const std::string& file) {
    try {
      Parse(file);
      return false;
    } catch (const Error& error) {
      return error.status() == ExitStatus::kBadInput;
    }
  };
  ASSERT_FALSE(refused(good));
  for (std::size_t kept = 0; kept < good.size(); ++kept) {
    EXPECT_TRUE(refused(good.substr(0, kept))) << kept << " bytes";
  }
  EXPECT_TRUE(refused(good + "x"));
  for (const char* dictionary :
       {"{'descr': '>f2', 'fortran_order': False, 'shape': (3, 4), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (3, 4), }",
        "{'descr': [('a', '<f2')], 'fortran_order': False, 'shape': (3, 4), }",
        "{'descr': '<f2', 'fortran_order': 0, 'shape': (3, 4), }",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (3, -4), }",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (4611686018427387904, 4, 4), }",
        "{'descr': '<f2', 'fortran_order': False, }",
        "{'descr': '<f2', 'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), }",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), 'more': 1}",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), } and more", "", "{"}) {
    EXPECT_TRUE(refused(File(dictionary, 24))) << dictionary;
  }
  std::string version = good;
  version[6] = 9;
  EXPECT_TRUE(refused(version));
}

}  // namespace
}  // namespace voltcheck::tools
