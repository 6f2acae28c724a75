#include <nlohmann/json.hpp>

#include "verify/explain/write.h"
#include "verify/report/html_parts.h"

namespace voltcheck::explain {
namespace {

using Json = nlohmann::ordered_json;

// Draws both charts from the page's data; the table below them says the same in numbers.
constexpr const char* kScript = R"js("use strict";
(() => {
  const e = JSON.parse(document.getElementById("data").textContent);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim() || "#888";
  const labels = e.steps.map((s) => (s.split >= 0 ? s.split + ": " : "") + s.label);
  const sides = [["device", "--fail"], ["model", "--series-1"], ["fp32", "--series-2"], ["fp64", "--dim"]];
  const line = (name, key, values) => ({
    label: name, data: values, borderColor: colour(key), backgroundColor: colour(key),
    spanGaps: true, borderWidth: 1.5,
    pointRadius: (c) => name === "device" || c.dataIndex === e.departure ? 4 : 0,
  });
  const chart = (id, names, value, title) => new Chart(document.getElementById(id), {
    type: "line",
    data: {labels, datasets: names.map(([name, key]) => line(name, key, e.steps.map((s) => value(s, name))))},
    options: {
      animation: false, responsive: true, maintainAspectRatio: false,
      plugins: {legend: {labels: {color: colour("--text")}}},
      scales: {
        x: {ticks: {color: colour("--dim"), maxTicksLimit: 16}, grid: {color: colour("--grid")}},
        y: {title: {display: true, text: title, color: colour("--dim")},
            ticks: {color: colour("--dim")}, grid: {color: colour("--grid")}},
      },
    },
  });
  chart("sums", sides, (s, name) => s[name], "sum so far");
  chart("distances", sides.slice(0, 3), (s, name) => s[name] === null ? null : s[name] - s.fp64,
        "minus fp64");
})();
)js";

// JSON inside <script> must not close it.
std::string Embedded(std::string json) {
  for (std::size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at)) {
    json.replace(at, 1, "\\u003c");
  }
  return json;
}

std::string Number(const std::optional<double>& x) {
  return x ? Json(*x).dump() : std::string("-");
}

std::string StepTable(const Explanation& e) {
  std::string rows = report::Head({"step", "#device", "#model", "#fp32", "#fp64"}) + "<tbody>\n";
  for (std::size_t i = 0; i < e.steps.size(); ++i) {
    const Step& s = e.steps[i];
    std::string label = (s.split >= 0 ? "split " + std::to_string(s.split) + ", " : "") + s.label;
    if (static_cast<int>(i) == e.departure) {
      label += " (they part here)";
    }
    rows += report::Row({report::Element("span", label), Number(s.sum.device), Number(s.sum.model),
                         Number(s.sum.fp32), Number(s.sum.fp64)});
  }
  return report::Table("All steps", rows + "</tbody>", "numbers");
}

}  // namespace

std::string ToHtml(const Explanation& e) {
  const std::string title = std::string(verify::ToString(e.stage)) + " at (" +
                            std::to_string(e.row) + ", " + std::to_string(e.col) + "): " + e.what;
  const auto figure = [](const char* id, const char* name) {
    return std::string("<figure><div style=\"height:22rem\"><canvas id=\"") + id +
           "\" role=\"img\" aria-label=\"" + name + "\"></canvas></div><figcaption>" + name +
           "</figcaption></figure>\n";
  };
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n" +
         report::Element("title", title) + "\n<style>" + std::string(report::PageStyle()) +
         "</style>\n</head>\n<body>\n<main>\n" + report::Element("h1", title) + "\n" +
         report::Element("pre", ToText(e)) + "\n" +
         report::Element("p style=\"overflow-wrap: anywhere\"", e.descriptor) + "\n" +
         figure("sums", "Sum after each step, on each side") +
         figure("distances", "Distance of each sum to fp64") + StepTable(e) +
         "</main>\n<script type=\"application/json\" id=\"data\">" + Embedded(ToJson(e)) +
         "</script>\n<script>" + std::string(report::ChartLibrary()) + "</script>\n<script>" +
         kScript + "</script>\n</body>\n</html>\n";
}

}  // namespace voltcheck::explain
