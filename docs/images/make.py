"""Pictures of a report for the guides: how it looks on a wide and on a narrow screen, in light and in dark colours.

Run ``make demo`` first, then ``.venv/bin/python docs/images/make.py``. It needs chromium and chromedriver, and writes
report-1200-light.png and its like for 390 pixels and dark colours, and report.png and report-query.png.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from base64 import b64decode
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

HERE = Path(__file__).parent
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
)
COLOURS = 64
"""Of a picture: a page has few, and the files stay small."""
OPEN_FIRST = "document.querySelector('.queries details').open = true;"


@dataclass(frozen=True)
class Picture:
    """One picture: its file, the size of the screen, the colours, and what part of the page it shows."""

    name: str
    width: int
    height: int
    colours: str = "light"
    section: str | None = None
    """The id of the section it begins at; the top of the page if None. Of the queries, the first is opened."""
    dots: float = 1.0
    """Dots per pixel of the style sheet."""


PICTURES = (
    Picture("report.png", 1105, 1660),
    Picture("report-query.png", 1105, 1320, section="queries"),
    *(Picture(f"report-1200-{colours}.png", 1200, 1800, colours) for colours in ("light", "dark")),
    *(Picture(f"report-390-{colours}.png", 390, 1800, colours, dots=2.0) for colours in ("light", "dark")),
)


@contextmanager
def browser() -> Generator[webdriver.Chrome]:
    """A browser without a window, closed in the end."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        sys.exit("chromium and chromedriver are not installed: apt install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        chromium = webdriver.Chrome(options=options, service=Service(driver))
        try:
            yield chromium
        finally:
            chromium.quit()


def photographed(chromium: webdriver.Chrome, report: Path, picture: Picture) -> bytes:
    """A report as PNG."""
    screen = {"width": picture.width, "height": picture.height, "deviceScaleFactor": picture.dots, "mobile": False}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    features = [{"name": "prefers-color-scheme", "value": picture.colours}]
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "screen", "features": features})
    chromium.get(report.resolve().as_uri())
    top = 0.0
    if picture.section is not None:
        chromium.execute_script(OPEN_FIRST * (picture.section == "queries"))
        find = "return document.getElementById(arguments[0]).getBoundingClientRect().top + scrollY - 12"
        top = chromium.execute_script(find, picture.section)
    area = {"x": 0, "y": top, "width": picture.width, "height": picture.height, "scale": 1}
    asked = {"format": "png", "clip": area, "captureBeyondViewport": True}
    # Drawings are made when their width is known, which is one frame after the page was laid out.
    chromium.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    taken = Image.open(BytesIO(b64decode(chromium.execute_cdp_cmd("Page.captureScreenshot", asked)["data"])))
    small = BytesIO()
    taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()


def main() -> None:
    """Make all pictures of one report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("report", nargs="?", type=Path, default=Path("demo/adapted/report.html"))
    parser.add_argument("--out", type=Path, default=HERE, help="the folder of the pictures")
    asked = parser.parse_args()
    if not asked.report.is_file():
        sys.exit(f"{asked.report}: there is no such report; run `make demo` first, or name another")
    asked.out.mkdir(parents=True, exist_ok=True)
    with browser() as chromium:
        for picture in PICTURES:
            (asked.out / picture.name).write_bytes(photographed(chromium, asked.report, picture))


if __name__ == "__main__":
    main()
