// Reads back what write_mps writes, by the format's own rules: free MPS, minimised.
#pragma once

#include <cstdlib>
#include <istream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "solver/lp/milp.h"

namespace muster::test {

class MpsReader {
 public:
  explicit MpsReader(std::istream& in) {
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line[0] == '*') continue;
      std::istringstream stream(line);
      std::vector<std::string> words;
      for (std::string word; stream >> word;) words.push_back(word);
      if (line[0] != ' ')
        section_ = words[0];
      else
        read(words);
    }
    is_whole_ = section_ == "ENDATA";
  }

  bool is_whole() const { return is_whole_; }

  // With the objective turned round again: to be maximised.
  Milp milp() const {
    Milp milp;
    for (const Row& row : rows_) {
      milp.add_row(row.type == 'L' ? -kInfinity : row.side,
                   row.type == 'G' ? (row.range < 0 ? kInfinity : row.side + row.range) : row.side);
      milp.row_names.push_back(row.name);
    }
    for (const Column& column : columns_) {
      milp.add_column({column.objective == 0 ? 0 : -column.objective, column.lower, column.upper, column.integer},
                      column.entries);
      milp.column_names.push_back(column.name);
    }
    return milp;
  }

 private:
  struct Row {
    std::string name;
    char type = 'E';
    double side = 0, range = -1;  // negative: none
  };
  struct Column {
    std::string name;
    double objective = 0, lower = 0, upper = kInfinity;
    bool integer = false;
    std::vector<Entry> entries;
  };

  void read(const std::vector<std::string>& words) {
    if (section_ == "ROWS") {
      add_row(words);
    } else if (section_ == "COLUMNS") {
      add_entry(words);
    } else if (section_ == "RHS") {
      rows_.at(row_.at(words.at(1))).side = std::strtod(words.at(2).c_str(), nullptr);
    } else if (section_ == "RANGES") {
      rows_.at(row_.at(words.at(1))).range = std::strtod(words.at(2).c_str(), nullptr);
    } else if (section_ == "BOUNDS") {
      bound(words);
    } else {
      ADD_FAILURE() << "a line in section " << section_;
    }
  }

  void add_row(const std::vector<std::string>& words) {
    if (words.at(0) == "N") {
      objective_ = words.at(1);
      return;
    }
    EXPECT_TRUE(row_.emplace(words.at(1), rows_.size()).second) << words.at(1) << " comes twice";
    rows_.push_back({words.at(1), words.at(0).at(0)});
  }

  void add_entry(const std::vector<std::string>& words) {
    if (words.at(1) == "'MARKER'") {
      inside_integers_ = words.at(2) == "'INTORG'";
      return;
    }
    if (columns_.empty() || columns_.back().name != words.at(0)) {
      EXPECT_TRUE(column_.emplace(words.at(0), columns_.size()).second) << words.at(0) << " comes twice";
      columns_.push_back({words.at(0), 0, 0, kInfinity, inside_integers_, {}});
    }
    const double value = std::strtod(words.at(2).c_str(), nullptr);
    if (words.at(1) == objective_)
      columns_.back().objective = value;
    else
      columns_.back().entries.push_back({static_cast<std::int32_t>(row_.at(words.at(1))), value});
  }

  void bound(const std::vector<std::string>& words) {
    Column& column = columns_.at(column_.at(words.at(2)));
    const std::string& type = words.at(0);
    const double value = words.size() > 3 ? std::strtod(words[3].c_str(), nullptr) : 0;
    if (type == "LO" || type == "FX") column.lower = value;
    if (type == "UP" || type == "FX") column.upper = value;
    if (type == "MI" || type == "FR") column.lower = -kInfinity;
    if (type == "PL" || type == "FR") column.upper = kInfinity;
  }

  std::string section_, objective_;
  bool inside_integers_ = false, is_whole_ = false;
  std::vector<Row> rows_;
  std::vector<Column> columns_;
  std::map<std::string, std::size_t> row_, column_;
};

}  // namespace muster::test
