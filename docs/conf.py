"""Configure Sphinx; build the documentation with ``sphinx-build -W docs docs/_build``."""

from __future__ import annotations

import sys
from pathlib import Path

from coreclust import __version__

sys.path.insert(0, str(Path(__file__).parent))  # for our own extensions in this folder

project = "coreclust"
author = "The coreclust developers"
version = release = __version__

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "render_examples",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc shows the types from the docstrings
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "coreclust"
html_theme_options = {
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "start": [], "idea": [], "coming-from": [], "contributing": []}
html_static_path = ["_static"]
html_css_files = ["coreclust.css"]
html_show_sourcelink = False
html_copy_source = False
