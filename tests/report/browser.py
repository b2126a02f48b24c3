"""Chromium without a window: a page, scripts at its end, and what they found."""

import html
import json
import re
import shutil
import subprocess

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

TELL = """const tell = (found) => {
document.body.innerHTML = "<pre id='seen'></pre>";
document.getElementById("seen").textContent = JSON.stringify(found);
};"""


def visit(page, *scripts):
    """What ``tell`` was given by scripts at the end of the page, in a window 500 pixels wide."""
    catch = "<script>window.errors = []; addEventListener('error', (e) => errors.push(e.message));</script>"
    text = page.read_text(encoding="utf-8").replace("<head>", f"<head>{catch}", 1)
    added = "".join(f"<script>{script}</script>" for script in (TELL, *scripts))
    visited = page.with_name("visited.html")
    visited.write_text(text.replace("</body>", f"{added}</body>", 1), encoding="utf-8")
    command = [
        str(CHROMIUM),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=500,900",
        f"--user-data-dir={page.parent / 'profile'}",
        "--virtual-time-budget=60000",
        "--dump-dom",
        visited.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, f"a step failed: {done.stdout[-500:]}"
    return json.loads(html.unescape(found[1]))
