"""How the documentation is built: make -C docs html."""

import logging
import os
import re
import warnings
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the examples are too small for more

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.ext import autosummary
from sphinx_gallery.sorting import ExplicitOrder

import skem

project = "skem"
author = "The skem developers"
copyright = "the skem developers"
version = release = skem.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
default_role = "obj"
exclude_patterns = ["_build", "paper.md", "gallery/*.ipynb", "gallery/*.py", "gallery/*.py.md5"]
suppress_warnings = ["config.cache"]  # functions and orders in the gallery's settings

# Pages

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

# API pages: what scikit-learn gives every estimator is documented there.

autosummary_generate = True
autosummary.WELL_KNOWN_ABBREVIATIONS += ("eq.", "Proc.")  # no ends of a first sentence
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
autodoc_default_options = {
    "exclude-members": "get_metadata_routing, get_params, set_params, set_callbacks, set_fit_request, set_partial_fit_request, set_score_request, "
    "set_output, fit_transform, get_feature_names_out"
}
autodoc_mock_imports = [] if find_spec("torch") else ["torch"]
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

doctest_global_setup = """
import warnings
from importlib.util import find_spec
from pathlib import Path
import matplotlib
matplotlib.use("Agg")
"""

intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
    "matplotlib": ("https://matplotlib.org/stable", None),
    "pandas": ("https://pandas.pydata.org/docs", None),
}
intersphinx_timeout = 5

# The gallery

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("skem",),
    "within_subsection_order": ExplicitOrder(
        [
            "plot_tutorial_table.py",
            "plot_tutorial_pulford.py",
            "plot_tutorial_code.py",
            "plot_regions.py",
            "plot_parameters.py",
            "plot_blocks.py",
            "plot_sharing.py",
            "plot_iterations.py",
            "plot_grid_search.py",
            "plot_calibration.py",
            "plot_discriminative.py",
            "plot_outliers.py",
            "plot_unseen_class.py",
            "plot_missing_values.py",
            "plot_sampling.py",
            "plot_memory_map.py",
            "*",
        ]
    ),
    "copyfile_regex": r".*\.rst",
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "min_reported_time": 1,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
}
warnings.filterwarnings("error", category=FutureWarning, module="skem")
logging.getLogger("skem").setLevel("ERROR")  # compilation and fetching are no output of an example

# The look

WIDE = [f"reproduce/tables/{path.stem}" for path in Path(__file__).parent.glob("reproduce/tables/*.md")]
"""Pages of wide tables, which have the whole width."""
html_theme = "pydata_sphinx_theme"
html_title = "skem"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_js_files = ["tables.js"]
html_show_sourcelink = False
html_copy_source = False
html_use_index = False
html_domain_indices = False
html_theme_options = {
    "logo": {"text": "skem"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": {"**": ["page-toc"]}
    | {page: [] for page in ["index", "gallery/index", *WIDE]},
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "gallery/index": [], "changelog": []}


class _NoNetwork(logging.Filter):
    """Without a network links to other projects are plain text, and that is no fault of the pages."""

    def filter(self, record: logging.LogRecord) -> bool:
        if "failed to reach any of the inventories" in str(record.msg):
            record.levelno, record.levelname = logging.INFO, "INFO"
        return True


def _as_mathml(writer, node):
    """A formula as MathML, which browsers show without a script from elsewhere."""
    block = node.tagname == "math_block"
    formula = tex2mathml(node.astext(), as_block=block)
    writer.body.append(f'<div class="formula">{formula}</div>' if block else formula)
    raise nodes.SkipNode


def _plain(app, what, name, obj, options, lines):
    """Docstrings are written to be read as they are: a bar is a bar, and ``n_iter_`` in a shape is no link."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            head, colon, shape = line.partition(" : ")
            shape = re.sub(r"(?<=\w)_(?=\W)", r"\\_", shape)
            line = re.sub(r"(?<=, )\*(?=\w)", r"\*", head + colon + shape)
            lines[i] = re.sub(r"(?<!`)\|(?!`)", r"\|", line)


def _skip_without_torch(app, what, name, obj, options, lines):
    """The examples of what needs PyTorch run where it is installed."""
    if name.startswith("skem.torch") and not find_spec("torch"):
        lines[:] = [line + "  # doctest: +SKIP" if line.startswith(">>>") else line for line in lines]


def setup(app):
    logging.getLogger("sphinx.sphinx.ext.intersphinx").filters.insert(0, _NoNetwork())
    app.add_html_math_renderer("mathml", (_as_mathml, None), (_as_mathml, None))
    app.connect("autodoc-process-docstring", _plain, priority=100)
    app.connect("autodoc-process-docstring", _skip_without_torch)


html_math_renderer = "mathml"
