"""The report: one self-contained page that names missing parts and works in a browser."""

import gzip
import json
import re
import shutil
import time
from base64 import b64decode
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from checkouts import ROOT
from claims import STATED

from skem.repro import finished_run, papers
from skem.repro.files import read_json, write_json
from skem.repro.ledger import totals
from skem.repro.report.page import Results, write

REFERENCE = ROOT / "results/reference"
CSS = (ROOT / "workflow/report/page.css").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def html():
    return write(Results(REFERENCE, ROOT))


@pytest.fixture
def small(tmp_path):
    """An incomplete run: claims and one table."""
    folder = tmp_path / "results"
    (folder / "tables").mkdir(parents=True)
    for name in ("tables/table1.md", "run.json", "claims.csv", "summary.json"):
        shutil.copy(REFERENCE / name, folder / name)
    (folder / "configuration.yaml").write_text("experiments: [table1]\n", encoding="utf-8")
    return folder


class Page(HTMLParser):
    """Elements of a page with their attributes; fails on elements that are not closed in order."""

    VOID = ("meta", "link", "br", "img", "input", "hr")

    def __init__(self, html):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}>"

    def all(self, *names):
        return [attributes for tag, attributes in self.tags if tag in names]


def test_the_page_loads_nothing_from_elsewhere_and_has_a_sound_structure(html):
    page = Page(html)
    for tag, attributes in page.tags:
        for key in ("src", "srcset", "href", "data", "action"):
            address = attributes.get(key) or "#"
            allowed = ("https://doi.org/",) if tag == "a" else ()
            assert address.startswith(("data:", "#", *allowed)), (tag, address[:80])
    assert "@import" not in CSS
    assert "url(" not in CSS
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    anchors = {a["href"].partition("?")[0][1:] for a in page.all("a") if a["href"][1:]}
    assert {anchor for anchor in anchors if not anchor.startswith("ttps:")} <= set(ids)
    assert len(page.all("table")) == len(page.all("caption"))
    assert all(a["scope"] in ("col", "row") for a in page.all("th"))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_figure_has_a_caption_an_alternative_text_and_its_files(html):
    page = Page(html)
    images, figures = page.all("img"), page.all("figure")
    names = {a["id"].removeprefix("figure-") for a in figures}
    drawn = {path.stem for path in REFERENCE.rglob("*.svg")}
    assert names == drawn
    assert len(images) == len(figures) == len(page.all("figcaption"))
    assert all(len(a["alt"]) > 100 for a in images)
    downloads = [(a["download"], a["data-packed"]) for a in page.all("a") if "download" in a]
    assert {f"{name}.{kind}" for name in drawn for kind in ("svg", "pdf")} <= {name for name, _ in downloads}
    contents = {(path.name, path.read_bytes()) for path in [*REFERENCE.rglob("*.*"), ROOT / "CITATION.cff"]}
    assert {(name, gzip.decompress(b64decode(packed))) for name, packed in downloads} <= contents


def test_missing_parts_name_the_command_that_produces_them(small):
    page = write(Results(small, ROOT))
    gaps = [re.sub("<[^>]*>", "", part.split("</p>")[0]) for part in page.split('class="gap">')[1:]]
    again = "snakemake --cores all --configfile config/paper.yaml --config &#39;experiments=[table1, {}]&#39;"
    for title, command in (
        ("PSKEM and MDA", again.format("mda")),
        ("Figure 5 of Pulford (2022): components shared by classes", again.format("arrangements")),
        ("Machine and versions (results/environment.json)", "snakemake --cores all"),
    ):
        assert f"Not part of this run: {title}. To produce it: {command}" in gaps
    (small / "claims.csv").unlink()
    assert "Not part of this run:</strong> outcomes of the claims" in write(Results(small, ROOT))
    (small / "tables/table1.md").unlink()
    with pytest.raises(ValueError, match=r"neither tables nor claims.*snakemake --cores all"):
        Results(small, ROOT)


def test_results_are_text_and_never_markup(small):
    (small / "data").mkdir()
    record = {"dataset": "rice", "available": False, "reasons": ["<img src=x onerror=alert(1)>"]}
    record |= {"licence": "CC BY 4.0", "sha256": "6799b12964b938c88db1297a0c9bb5dc"}
    (small / "data/rice.json").write_text(json.dumps(record), encoding="utf-8")
    text = "# Title\n\n**Caption <b>**\n\n| a | b |\n|---|---|\n| <script> | 1 |\n\n![a](https://example.org/a.png)"
    (small / "tables/table1.md").write_text(text, encoding="utf-8")
    page = write(Results(small, ROOT))
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "<caption>Caption &lt;b&gt;</caption>" in page
    assert '<th scope="row">&lt;script&gt;</th>\n<td>1</td>' in page
    assert "<img" not in page


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("claims.csv", "id,paper\na,b\n", "claims.csv has no column 'place'"),
        ("run.json", "{", "run.json is damaged"),
    ],
)
def test_damaged_results_are_one_error(small, name, content, words):
    (small / name).write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        write(Results(small, ROOT))


def test_claims_that_differ_come_first():
    rows = Results(REFERENCE, ROOT).claims
    assert len(rows) == len(STATED)
    assert rows[0]["outcome"] == "differs"
    counted = [row["kind"] == "measurable" for row in rows]
    assert counted == sorted(counted, reverse=True)


def test_totals_are_equal_on_every_page_and_in_the_terminal(html, tmp_path, monkeypatch, capsys):
    titles, found = papers.titles(ROOT / "config"), read_json(REFERENCE / "summary.json")
    expected = totals.by_outcome(found, titles).astype(str)

    def check(page):
        text = re.sub(r"<[^>]*>|\|", " ", page)
        for row in (list(expected), *expected.to_numpy()):
            assert re.search(r"\s+".join(map(re.escape, row)), text), row

    check((REFERENCE / "claims.md").read_text(encoding="utf-8"))
    check(html)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(papers, "titles", lambda: titles)
    (tmp_path / "results/tables").mkdir(parents=True)
    for name in ("summary.json", "tables/table1.md"):
        shutil.copy(REFERENCE / name, tmp_path / "results" / name)
    where = {"tables": ["results/tables/table1.md"], "others": ["results/summary.json"]}
    where |= {"sources": [], "datasets": []}
    finished_run.show(0.0, 1, [], **where)
    check(output := capsys.readouterr().out)
    assert len(output.splitlines()) <= 25
    more = {"not_run": 2, "commands": ["snakemake titsias --cores all"]}
    write_json("results/summary.json", found | {"all": found["all"] | more})
    for of, way in ([], "snakemake --cores all --configfile config/paper.yaml; "), ([finished_run.PAPER], ""):
        finished_run.show(0.0, 1, of, **where)
        words = f"2 claims were not run; results/claims.csv says why. Measure them: {way}snakemake titsias"
        assert words in capsys.readouterr().out


CHROMIUM = next(filter(None, map(shutil.which, ("google-chrome", "chromium", "chromium-browser"))), None)
DRIVER = shutil.which("chromedriver")


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def opened(html, tmp_path_factory):
    """The report of the reference in a browser, loaded once."""
    if not (CHROMIUM and DRIVER):
        pytest.skip("chromium and chromedriver are not installed: apt-get install chromium chromium-driver")
    from selenium import webdriver

    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html, encoding="utf-8")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        driver.get(path.as_uri())
        wait_until(lambda: driver.find_elements("css selector", ".dt-info"))
        yield driver
    finally:
        driver.quit()


def test_the_browser_requests_nothing_and_reports_no_error(opened):
    messages = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    sent = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert {url.partition(":")[0] for url in sent} <= {"file", "data", "blob"}
    assert sum(url.startswith("file:") for url in sent) == 1
    assert opened.get_log("browser") == []


def test_claims_can_be_filtered_searched_and_linked_to(opened):
    def info():
        return opened.execute_script("return document.querySelector('.dt-info').textContent")

    def choose(name, value):
        opened.execute_script(
            "const select = document.getElementById('filters').elements[arguments[0]];"
            "select.value = arguments[1]; select.dispatchEvent(new Event('change', {bubbles: true}));",
            *(name, value),
        )

    total = len(STATED)
    assert info() == f"1 to 25 of {total} claims"
    rows = Results(REFERENCE, ROOT).claims
    differs = sum((row["dataset"], row["outcome"]) == ("Rice", "differs") for row in rows)
    choose("data set", "Rice")
    choose("outcome", "differs")
    wait_until(lambda: info() == f"1 to {differs} of {differs} claims (out of {total})")
    shown = (
        "return [...document.querySelectorAll('#claims-table tbody tr')].map(tr => tr.cells[6].textContent)"
    )
    assert opened.execute_script(shown) == ["Rice"] * differs
    link = opened.find_element("css selector", "a[href*='outcome=differs']")
    count = int(link.get_attribute("textContent"))
    opened.execute_script("arguments[0].click()", link)
    wait_until(lambda: f" of {count} claims (out of {total})" in info())
    opened.execute_script("location.hash = 'claims?'")
    wait_until(lambda: info() == f"1 to 25 of {total} claims")
    opened.execute_script(
        "const input = document.querySelector('.dt-search input'); input.value = arguments[0];"
        "input.dispatchEvent(new Event('input', {bubbles: true}));",
        "table1.mnist.pskem_accuracy",
    )
    wait_until(lambda: "(out of" in info())
    assert "MNIST" in opened.execute_script(shown)


@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_the_screen(opened, width):
    screen = {"width": width, "height": 740, "deviceScaleFactor": 1, "mobile": width < 500}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    opened.refresh()
    wait_until(lambda: opened.find_elements("css selector", ".dt-info"))
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    opened.execute_script("for (const part of document.querySelectorAll('details')) part.open = true")
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
