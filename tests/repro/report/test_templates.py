"""Pages are rendered from templates and the results of the reference."""

import pytest
from checkouts import ROOT

from skem.repro.config.documents import ConfigurationError
from skem.repro.report import templates


@pytest.fixture
def project(tmp_path):
    """The results of the reference, and no template."""
    (tmp_path / "results").symlink_to(ROOT / "results")
    (tmp_path / templates.FOLDER).mkdir(parents=True)
    return tmp_path


def test_committed_pages_are_the_rendered_templates():
    assert [path.name for path in templates.changed(ROOT)] == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{{ tabel1.rice.nested }}", "'tabel1' is undefined"),
        ("{{ table1.rice.nestet }}", "unknown 'nestet'; did you mean nested?"),
        ("{{ table1.rise.nested }}", "unknown 'rise'; did you mean rice?"),
        ("{{ mda.mnist_half.pskem.k20.accuracy }}", "3 rows have these keys; add a key of protocol"),
        (
            '{{ ours["pulford.table1.rise.skem_accuracy"] }}',
            "did you mean pulford.table1.rice.skem_accuracy?",
        ),
        ("{{ summary.pulford2022 }}", "int() argument must be"),
        ("{{ summary.pulford2022.opn }}", "unknown 'opn'; did you mean open?"),
        ("{{ minutes.test }}", "unknown 'test'; did you mean tests?"),
        ("{{ table1.rice.", "expected name or number"),
        (
            "A\n\n{% require table1.rice.nested < table1.rice.svm_rbf < 92 %}",
            "line 3 requires table1.rice.svm_rbf (92.9) < 92",
        ),
        (
            "{% require [table1.rice.nested, table1.mnist.nested] < 95 %}",
            "line 1 requires table1.mnist.nested (97.9) < 95",
        ),
        (
            '{% require claim["pulford.table1.rice.skem_accuracy"].outcome == "agrees" %}',
            "skem_accuracy.outcome (differs) == 'agrees'",
        ),
        ("{% require table1.rice.nested %}", "require needs a comparison"),
    ],
)
def test_a_name_without_a_value_is_an_error_that_names_the_template(project, text, fault):
    for name in ("README.md.j2", "page.md.j2"):
        (project / templates.FOLDER / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        templates.changed(project)
    assert len(caught.value.faults) == 2
    assert all(found.startswith("docs/templates/") and fault in found for found in caught.value.faults)


def test_a_condition_that_holds_leaves_no_trace(project):
    template = project / templates.FOLDER / "page.md.j2"
    condition = "  {% require largest.table1.nested == table1.mnist.nested %}\n"
    condition += "{% require table1.rice.svm_rbf - table1.rice.nested < 1 %}\n"
    condition += "is MNIST, with {{ claims.differs['pulford.table1.rice.skem_acc*'] }}."
    template.write_text(f"The best\n{condition}\n", encoding="utf-8")
    assert [*templates.changed(project).values()] == [
        templates.NOTE.format("docs/templates/page.md.j2") + "The best\nis MNIST, with 1.\n"
    ]
