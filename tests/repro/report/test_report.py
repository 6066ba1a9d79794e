"""The report: one page that needs nothing else, says what is missing, and works in a real browser."""

import json
import re
import shutil
import time
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from skem.repro.ledger import summary
from skem.repro.papers.pulford2022.figures import FIGURES
from skem.repro.report import markup
from skem.repro.report.page import FINDINGS, Results, fingerprint, write

ROOT = Path(__file__).parents[3]
TEMPLATES = ROOT / "workflow/report"


def page(folder):
    return write(Results(folder, ROOT), TEMPLATES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The reference run, with a name that would break a page made without escaping."""
    folder = tmp_path_factory.mktemp("report") / "results"
    shutil.copytree(ROOT / "results/reference", folder)
    (folder / "data").mkdir(exist_ok=True)
    record = {"dataset": "rice", "available": False, "reasons": ["<img src=x onerror=alert(1)>"]}
    record |= {"licence": "CC BY 4.0", "sha256": "6799b12964b938c88db1297a0c9bb5dc"}
    (folder / "data/rice.json").write_text(json.dumps(record), encoding="utf-8")
    (folder / "configuration.yaml").write_text(
        "experiments: [table1, mda, arrangements, starts]\n", encoding="utf-8"
    )
    return folder


@pytest.fixture(scope="module")
def html(folder):
    return page(folder)


@pytest.fixture(scope="module")
def gappy(folder, tmp_path_factory):
    """Without a figure, a table, a claim and the peers."""
    own = tmp_path_factory.mktemp("gaps") / "results"
    shutil.copytree(folder, own)
    for name in (
        "figures/figure5.svg",
        "tables/mda.md",
        "tables/audit.md",
        "peers.md",
        "peers.svg",
        "environment.json",
    ):
        (own / name).unlink()
    claims = pd.read_csv(own / "claims.csv", dtype=str, keep_default_na=False)
    claims[claims["id"] != "pulford.table1.mnist.pskem_accuracy"].to_csv(own / "claims.csv", index=False)
    return own


class Page(HTMLParser):
    """What a page loads, names and leaves unnamed."""

    VOID = ("meta", "link", "br", "img", "input", "wbr", "hr")

    def __init__(self, html):
        super().__init__()
        self.tags, self.open, self.text = [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes), tuple(self.open)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes), tuple(self.open)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}>"

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.text += data

    def all(self, *names):
        return [(attributes, inside) for tag, attributes, inside in self.tags if tag in names]


def test_the_page_needs_nothing_but_itself(html):
    found = Page(html)
    assert not found.open
    for tag, attributes, _ in found.tags:
        for key in ("src", "srcset", "poster", "data", "action", "href", "xlink:href"):
            address = attributes.get(key, "")
            citation = tag == "a" and address.startswith("https://doi.org/")
            assert citation or not address or address.startswith(("data:", "#")), (tag, address[:80])
    styles = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert len(styles) == 1
    assert "@import" not in styles[0]
    assert "url(" not in styles[0]


def test_the_page_is_small(html):
    assert len(html.encode()) < 6.5e6  # of four papers, with the files of every figure


def test_a_screen_reader_finds_its_way(html):
    found = Page(html)
    assert found.all("html")[0][0]["lang"] == "en"
    assert [len(found.all(name)) for name in ("header", "main", "footer", "h1")] == [1, 1, 1, 1]
    ids = [attributes["id"] for _, attributes, _ in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    # What the script unpacks has no address before.
    anchors = {a["href"][1:] for a, _ in found.all("a") if a.get("href", "").startswith("#")}
    assert anchors <= set(ids)
    assert all(a["scope"] in ("col", "row") for a, _ in found.all("th"))
    assert len(found.all("table")) == len(found.all("caption")) > 50
    drawings = [a for a, inside in found.all("svg") if "svg" not in inside]
    # Beside those: accuracy by pass, peers, two of Titsias and Likas, five of Hayashi and Uchida, three of Sanderson and Curtin,
    # readings, and all accuracies.
    assert len(drawings) == len(FIGURES) + 14
    assert all(a["role"] == "img" and len(a["aria-label"]) > 100 for a in drawings)
    assert len(found.all("figure")) == len(found.all("figcaption")) == len(drawings)
    labels = {a["aria-labelledby"] for _, a, _ in found.tags if "aria-labelledby" in a}
    assert labels <= set(ids)
    levels = [int(tag[1]) for tag, _, _ in found.tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_stands_out_in_light_and_dark():
    css = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    themes = [
        dict(re.findall(r"--(\w+): (#\w{6});", part))
        for part in re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    ]
    themes = [theme for theme in themes if len(theme) == 10]
    assert len(themes) == 2
    for theme in themes:
        for text in ("ink", "quiet", "link", "good", "bad", "better", "open"):
            for ground in ("page", "raised"):
                light, dark = sorted((luminance(theme[text]), luminance(theme[ground])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)  # WCAG 2, AA


def test_the_ledger_has_every_claim_and_values_as_printed(html):
    ledger = html.split('<table id="ledger"')[1].split("</table>")[0]
    rows = ledger.split("<tbody>")[1].split("<tr>")[1:]
    assert len(rows) == len(pd.read_csv(ROOT / "config/claims.csv")) == 691
    row = next(row for row in rows if "<code>table1.mnist.pskem_accuracy</code>" in row)
    assert '<th scope="row">Accuracy of PSKEM on MNIST (3x13, K = 60)</th>' in row
    for cell in ("97.48", "accuracy, %", "Pulford (2022)", "Table 1"):
        assert f">{cell}</td>" in row
    # The claims about time stand in a file of their own, and in the same count.
    holds = ledger_of_the_reference("pulford2022", "measured", "holds")
    assert f'aria-label="{len(holds)} holds of Pulford (2022)"' in html


def ledger_of_the_reference(paper, kind=None, verdict=None):
    """The claims of a paper in the committed ledger."""
    table = Results(ROOT / "results/reference", ROOT).ledger
    table = table.assign(kind=summary.kinds(table))
    wanted = (table["paper"] == paper) & (kind is None or table["kind"] == kind)
    return table[wanted & (verdict is None or table["verdict"] == verdict)]


def test_what_differs_from_the_paper_comes_first(folder):
    rows = Results(folder, ROOT).claims()
    kinds = [summary.KINDS.index(row["kind"]) for row in rows]
    assert kinds == sorted(kinds)
    measured = [row["verdict"] in FINDINGS for row in rows if row["kind"] == "measured"]
    assert measured == sorted(measured, reverse=True)
    assert any(measured)


def test_a_long_remark_is_folded_and_nothing_of_it_is_lost(folder):
    ledger = Results(folder, ROOT)
    remarks = dict(zip(ledger.ledger["id"].str.partition(".")[2], ledger.ledger["remark"], strict=True))
    rows = ledger.claims()
    for row in rows:
        assert "; ".join(filter(None, [row["short"], row["rest"]])) == remarks[row["claim"]]
    assert any(row["rest"] for row in rows)


def test_table_1_comes_first_with_how_many_accuracies_reproduce(html):
    heading = re.search(r"Table 1 of Pulford \(2022\): (\d) of 5 accuracies reproduce", html)
    rows = html[heading.end() :].split("<tbody>")[1].split("</tbody>")[0].split("<tr>")[1:]
    told = [re.search(r'scope="row">([^<]+)<', row)[1] for row in rows]
    assert told == ["Rice", "Ionosphere", "MNIST", "Fashion-MNIST", "CIFAR-10"]
    assert sum('"verdict reproduced"' in row for row in rows) == int(heading[1])
    assert heading.start() < html.index('<table id="ledger"')


def test_all_about_the_run_is_there(html):
    text = Page(html).text
    environment = json.loads((ROOT / "results/reference/environment.json").read_text())
    for word in (environment["commit"], f"numpy {environment['packages']['numpy']}", environment["python"]):
        assert word in text
    assert "experiments: [table1, mda, arrangements, starts]" in text
    assert "Pulford, Graham W. (2022)" in text
    assert "Which protocol" not in text  # the section has the title
    assert "best-fold" in text
    # A table without an experiment of its own is called what its heading says.
    assert "Tables I to V of Titsias and Likas (2001)" in text


def test_what_is_written_in_results_is_text_and_never_markup(html, folder, tmp_path):
    assert "<img src=x" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    shown = markup.markdown("# Title\n\n**Caption <b>**\n\n| a | b |\n|---|---|\n| <script> | 1 |\n", "Title")
    assert "<script" not in shown
    assert "<caption>Caption &lt;b&gt;</caption>" in shown
    assert '<th scope="row">&lt;script&gt;</th>' in shown
    assert '<td class="number">1</td>' in shown
    assert "<img" not in markup.markdown("![a](https://example.org/a.png) [b](https://example.org)", "")
    assert "<a" not in markup.markdown("[b](https://example.org) <https://example.org>", "")


def test_what_is_missing_leaves_a_gap_that_says_how_to_have_it(gappy):
    html = page(gappy)
    gaps = [Page(part.split("</p>")[0]).text for part in html.split('<p class="gap">')[1:]]
    again = "snakemake --cores all --configfile config/paper.yaml"
    for words in (
        # The configuration has these experiments, so the run broke off.
        f"This run has not finished: PSKEM and MDA. To have it: {again}",
        f"This run has not finished: Figure 5: how many components the classes share. To have it: {again}",
        "Not part of this run: Protocols on rice and ionosphere. To have it: "
        f"{again} --config 'experiments=[table1, mda, arrangements, starts, audit]'",
        "Not part of this run: Other engines on the same work. To have it: snakemake peers --cores all",
        "Machine and versions are not written down: results/environment.json is missing. To have it: "
        "snakemake --cores all",
    ):
        assert words in gaps
    found = Page(html)
    # Figure 5 and the peers are missing, and with a drawing goes the caption that explains it.
    assert len(found.all("figcaption")) == len(found.all("figure")) - 2
    ledger = html.split('<table id="ledger"')[1].split("</table>")[0]
    row = next(row for row in ledger.split("<tr>") if "<code>table1.mnist.pskem_accuracy</code>" in row)
    assert ">missing</td>" in row
    assert not found.open


def test_without_claims_the_tables_are_shown_and_without_tables_the_claims(folder, tmp_path):
    (tmp_path / "tables").mkdir()
    shutil.copy(folder / "tables/table1.md", tmp_path / "tables")
    html = page(tmp_path)
    assert "No verdicts yet" in html
    assert "Accuracy in % and its 95% interval" in html
    (tmp_path / "tables/table1.md").unlink()
    shutil.copy(folder / "claims.csv", tmp_path)
    assert "No verdicts yet" not in page(tmp_path)


def test_bad_results_get_one_sentence(folder, tmp_path):
    with pytest.raises(
        ValueError, match="neither tables nor verdicts to report; `snakemake --cores all` makes them"
    ):
        Results(tmp_path, ROOT)
    shutil.copytree(folder, tmp_path / "results")
    for name, content, words in (
        ("claims.csv", "id,paper\na,b\n", "claims.csv has no column 'place'"),
        ("run.json", "{", "run.json is not JSON"),
        ("environment.json", '{"python": "3.11"}', "lacks what the report shows .*another version wrote it"),
        ("figures/figure1_timing.svg", "<svg", "figure1_timing.svg is not an SVG"),
    ):
        path = tmp_path / "results" / name
        before = path.read_bytes()
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match=words):
            page(tmp_path / "results")
        path.write_bytes(before)


def test_a_report_is_made_anew_when_its_results_change(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "results")
    before = fingerprint(tmp_path / "results")
    assert fingerprint(tmp_path / "results") == before
    (tmp_path / "results/report.html").write_text("", encoding="utf-8")
    assert fingerprint(tmp_path / "results") == before
    (tmp_path / "results/tables/mda.csv").write_text("", encoding="utf-8")
    assert fingerprint(tmp_path / "results") != before


# In a real browser


CHROMIUM = next(filter(None, map(shutil.which, ("google-chrome", "chromium", "chromium-browser"))), None)
DRIVER = shutil.which("chromedriver")


@pytest.fixture(scope="module")
def browser():
    if not (CHROMIUM and DRIVER):
        pytest.skip("chromium and chromedriver are not installed: apt-get install chromium chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    # Else a page may not offer one file after another.
    options.add_experimental_option(
        "prefs", {"profile.default_content_setting_values.automatic_downloads": 1}
    )
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(html, folder):
    path = folder / "report.html"
    path.write_text(html, encoding="utf-8")
    return path.as_uri()


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def ready(browser):
    return browser.execute_script("return !!document.querySelector('.dt-info')")


@pytest.fixture
def opened(browser, address):
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.get(address)
    wait_until(lambda: ready(browser))
    return browser


def test_it_loads_without_a_request_or_a_complaint(opened, address):
    sent = []
    for entry in opened.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            sent.append(message["params"]["request"]["url"])
    assert address in sent
    assert [url[:80] for url in sent if url != address and not url.startswith(("data:", "blob:"))] == []
    assert opened.get_log("browser") == []


TAMPERED = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9"
 onload="window.tampered = 1"><script>window.tampered = 2</script>
<a xlink:href="javascript:window.tampered = 3"><text>click</text></a>
<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="window.tampered = 4"/></body></foreignObject>
<image href="https://example.org/spy.png"/><use xlink:href="https://example.org/spy.svg#a"/>
<animate attributeName="href" values="javascript:window.tampered = 5"/>
<rect id="kept" style="fill: url(https://example.org/spy)" onclick="window.tampered = 6" width="5" height="5"/></svg>"""


def test_nothing_in_a_figure_can_run_or_fetch(browser, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "results")
    (tmp_path / "results/figures/figure5.svg").write_text(TAMPERED, encoding="utf-8")
    text = page(tmp_path / "results")
    figure = text[text.index('id="figure5-kept"') - 400 :][:800]
    for word in ("window.tampered", "example.org", "javascript:", "<script", "foreignObject", "onclick"):
        assert word not in figure.split("</svg>")[0]
    # Whatever gets past that is stopped by the page's policy.
    hole = text.replace(
        "</main>", '<img src="x" onerror="window.tampered = 7"><script>window.tampered = 8</script></main>'
    )
    path = tmp_path / "report.html"
    for content in (text, hole):
        path.write_text(content, encoding="utf-8")
        browser.get(path.as_uri())
        wait_until(lambda: ready(browser))
        assert browser.execute_script("return window.tampered === undefined")
    browser.get_log("browser")


def test_it_is_painted_within_a_second(browser, address):
    times = []
    for _ in range(6):  # the machine may be busy with other tests
        browser.get(address)
        wait_until(lambda: ready(browser))
        paint = "return performance.getEntriesByName('first-contentful-paint')[0].startTime"
        times.append(browser.execute_script(paint))
        if times[-1] < 1000:
            return
    pytest.fail(f"milliseconds to the first paint: {times}")


def shown(browser):
    """The ledger's rows: data set, verdict."""
    return browser.execute_script(
        "return [...document.querySelectorAll('#ledger tbody tr')]"
        ".map(row => row.cells.length < 9 ? null : [6, 1].map(i => row.cells[i].textContent))"
    )


def choose(browser, **chosen):
    for name, value in chosen.items():
        browser.execute_script(
            "const select = document.getElementById('filters').elements[arguments[0]];"
            "select.value = arguments[1]; select.dispatchEvent(new Event('change', {bubbles: true}));",
            name, value,
        )  # fmt: skip


def info(browser):
    return browser.execute_script("return document.querySelector('.dt-info').textContent")


def test_the_ledger_can_be_filtered(opened, html):
    pulford = ledger_of_the_reference("pulford2022")
    assert info(opened) == f"1 to 25 of {len(pulford)} claims (out of 691)"
    expected = pulford[(pulford["dataset"] == "rice") & (pulford["verdict"] == "worse")]
    assert 0 < len(expected) < 25
    choose(opened, dataset="Rice", verdict="worse")
    assert shown(opened) == [["Rice", "worse"]] * len(expected)
    choose(opened, paper="", dataset="", verdict="")
    assert info(opened) == "1 to 25 of 691 claims"
    # Where they are of several papers the paper is told.
    heads = "return [...document.querySelectorAll('#ledger thead th')].map(th => th.textContent.trim())"
    assert "paper" in opened.execute_script(heads)
    choose(opened, paper="Hayashi and Uchida (2021)", verdict="holds")
    holds = ledger_of_the_reference("hayashi2021", verdict="holds")
    assert info(opened).endswith(f"{len(holds)} claims (out of 691)")
    assert {verdict for _, verdict in shown(opened)} == {"holds"}
    assert "paper" not in opened.execute_script(heads)
    opened.execute_script("document.querySelector('#filters button').click()")
    wait_until(lambda: info(opened) == f"1 to 25 of {len(pulford)} claims (out of 691)")
    opened.execute_script("document.querySelector('a[data-verdict=\"fails\"]').click()")
    fails = ledger_of_the_reference("pulford2022", "measured", "fails")
    assert [row[1] for row in shown(opened)] == ["fails"] * len(fails)
    names = [row[0] for row in shown(opened)]
    opened.execute_script("document.querySelectorAll('#ledger thead th')[6].click()")
    wait_until(lambda: [row[0] for row in shown(opened)] == sorted(names, key=str.lower))


def test_the_filters_stand_in_the_address(opened, address):
    choose(opened, kind="cited", verdict="cited")
    chosen = info(opened)
    found = opened.current_url
    assert found == f"{address}#ledger?kind=cited&verdict=cited"
    opened.get("about:blank")
    opened.get(found)
    wait_until(lambda: ready(opened))
    assert info(opened) == chosen
    assert opened.execute_script("return document.getElementById('filters').elements.kind.value") == "cited"
    # A link of the page leads elsewhere, and leaves them alone.
    opened.get(address)
    wait_until(lambda: ready(opened))
    opened.execute_script("document.querySelector('a[href=\"#figures\"]').click()")
    assert opened.current_url == f"{address}#figures"


def test_the_ledger_can_be_searched(opened):
    opened.execute_script(
        "const input = document.querySelector('.dt-search input'); input.value = 'table1.mnist';"
        "input.dispatchEvent(new Event('input', {bubbles: true}));"
    )
    wait_until(lambda: len(shown(opened)) < 10)
    assert {row[0] for row in shown(opened)} == {"MNIST"}


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_the_screen_in_light_and_dark(opened, width, dark):
    screen = {"width": width, "height": 740, "deviceScaleFactor": 1, "mobile": width < 500}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    opened.execute_script("for (const part of document.querySelectorAll('details')) part.open = true")
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width
    assert opened.execute_script("return document.body.scrollWidth") <= width
    ground = opened.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")
    sizes = opened.execute_script(
        "return [...document.querySelectorAll('figure svg[role=img]')].map(svg => "
        "{const box = svg.getBoundingClientRect(); return [box.width, box.height]})"
    )
    assert len(sizes) > len(FIGURES)
    assert all(width > 250 and height > 100 for width, height in sizes)
    # Something is drawn in them.
    assert opened.execute_script(
        "return [...document.querySelectorAll('figure svg[role=img]')].every(svg => svg.getBBox().width > 100"
        " && [...svg.querySelectorAll('use')].every(use => document.querySelector(use.getAttribute('xlink:href'))))"
    )


def test_every_download_comes(opened, folder, tmp_path):
    opened.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    names = opened.execute_script("return [...document.querySelectorAll('a[download]')].map(a => a.download)")
    assert len(names) == len(set(names)) > 30
    for name in FIGURES:
        assert {f"{name}.svg", f"{name}.pdf", f"{name}.csv"} <= set(names)
    for name in names:
        opened.execute_script(
            "[...document.querySelectorAll('a[download]')].find(a => a.download === arguments[0]).click()",
            name,
        )
        wait_until((tmp_path / name).exists)
        time.sleep(0.1)  # Chromium takes ten a second
    sources = [*folder.rglob("*.*"), ROOT / "CITATION.cff"]
    for name in names:
        source = next(path for path in sources if path.name == name)
        wait_until(lambda path=tmp_path / name, source=source: path.read_bytes() == source.read_bytes())


def test_on_paper_nothing_is_folded_or_on_another_page(opened):
    total = int(re.search(r"of (\d+)", info(opened))[1])
    opened.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert len(shown(opened)) == total
    assert opened.execute_script("return document.querySelectorAll('details:not([open])').length") == 0
    opened.execute_script("dispatchEvent(new Event('afterprint'))")
    assert len(shown(opened)) == 25


def test_a_page_with_gaps_works_all_the_same(browser, gappy, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(page(gappy), encoding="utf-8")
    browser.get_log("browser")
    browser.get(path.as_uri())
    wait_until(lambda: ready(browser))
    assert browser.get_log("browser") == []
    gaps = browser.execute_script(
        "return [...document.querySelectorAll('.gap')].filter(gap => gap.checkVisibility()).map(gap => gap.innerText)"
    )
    assert any("Figure 5" in gap for gap in gaps)
    choose(browser, verdict="missing")
    assert shown(browser) == [["MNIST", "missing"]]
