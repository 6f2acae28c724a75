"""Opens a page of `voltcheck report` in headless Chromium and looks at what its script made of it.

usage: check_browser.py PAGE.html [hostile]; exit status 77 when no Chromium is installed.

The page is opened twice: as it is, where its own content policy is in force, and without the policy
and with a script at its end that sorts, filters and opens a case as a user would. Of a hostile page it
is seen that nothing of what its texts attempt came about, with the policy and without.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

USER = """
<script>
(async () => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const rows = () => document.querySelectorAll("#case-rows tr:not(.detail)").length;
  const first = () => document.querySelector("#case-rows th").textContent;
  const seen = {rows: rows(), first: first(), matches: document.getElementById("matches").textContent};
  const head = [...document.querySelectorAll("#case-heads button")];
  head[0].click();
  seen.sorted = first() + document.querySelector("#case-heads th").getAttribute("aria-sort");
  head[0].click();
  seen.reversed = first();
  const filter = document.getElementById("filter");
  filter.value = "seed=7 t=8";
  filter.dispatchEvent(new Event("input"));
  await wait(400);
  seen.filtered = document.getElementById("matches").textContent;
  document.querySelector("#case-rows .open").click();
  seen.detail = document.querySelector(".detail code").textContent;
  seen.command = document.querySelector(".detail .copy code").textContent;
  const verdict = document.getElementById("verdict");
  filter.value = "";
  verdict.value = "failed";
  verdict.dispatchEvent(new Event("change"));
  seen.failed = document.getElementById("matches").textContent;
  document.querySelectorAll("input[name=stage]")[2].click();
  seen.charts = [...document.querySelectorAll("canvas")].filter((c) => c.width > 0).length;
  seen.table = document.querySelectorAll("#ulps-table tbody tr").length;
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = Object.entries(seen).map(([k, v]) => k + "=" + v).join("\\n");
  document.body.append(out);
})();
</script>
"""


def dump(browser, path, folder):
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
               "--user-data-dir=" + os.path.join(folder, "profile"), "--virtual-time-budget=4000", "--dump-dom",
               "file://" + path]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def check_hostile(browser, path, folder):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", file.read())
    open_path = os.path.join(folder, "open.html")
    with open(open_path, "w", encoding="utf-8") as file:
        file.write(text.replace("</body>", "<script>document.querySelectorAll('.open').forEach((b) => b.click())</script></body>"))
    for page in (path, open_path):
        dom = dump(browser, page, folder)
        assert "page 1 of 1" in dom, "the script did not run"
        assert "<title>FAILED" in dom, re.search("<title>.*?</title>", dom).group(0)
        assert "<img" not in dom and "<svg" not in dom and "<x>" not in dom, "an element came out of a text"


def main(path, hostile=False):
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-headless-shell"))), None)
    if not browser:
        return 77
    with tempfile.TemporaryDirectory() as folder:
        if hostile:
            check_hostile(browser, os.path.abspath(path), folder)
            return 0
        own = dump(browser, os.path.abspath(path), folder)
        assert 'id="case-heads"><th' in own, "the script did not run under the page's own policy"
        assert "page 1 of 3" in own and "120 of 120 cases" in own
        with open(path, encoding="utf-8") as file:
            text = file.read()
        driven = os.path.join(folder, "driven.html")
        with open(driven, "w", encoding="utf-8") as file:
            file.write(re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text).replace("</body>", USER + "</body>"))
        dom = dump(browser, driven, folder)
        seen = dict(line.split("=", 1) for line in re.search(r'<pre id="seen">(.*?)</pre>', dom, re.S).group(1).split("\n"))
        assert seen["rows"] == "50" and seen["matches"] == "120 of 120 cases", seen
        assert seen["sorted"] == "0ascending" and seen["reversed"] == "119", seen
        assert seen["filtered"].startswith("3 of"), seen  # seeds 7, 70, 79 with 8 tokens
        assert "seed=7" in seen["detail"] and seen["command"].startswith("voltcheck replay --case '"), seen
        assert seen["command"].endswith("' --device simulator --schedule 3 --kernels 'mine.ptx'"), seen
        assert seen["failed"].startswith("24 of"), seen
        assert seen["charts"] == "4" and seen["table"] == "18", seen
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], len(sys.argv) > 2))
