"""Package definition. fairseq itself is installed by scripts/setup.sh (see its comments)."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).resolve().parent
VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)  # its only place
# Relative links and pictures of README.md, which lead nowhere on the page of an index
PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?:)[^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")
ONNX = ["onnx>=1.19", "onnxscript>=0.6.2", "onnxruntime>=1.23"]
SERVE = ["ctranslate2>=4.8,<4.9"]
DOCS = ["mkdocs-material>=9.6.12", "mkdocstrings-python>=2.0"]
RELEASE = ["build>=1.2", "twine>=6.1"]
WEB = [*SERVE, "gradio>=6.31,<7", "fastapi>=0.115", "uvicorn>=0.32"]


def read(name):
    """Return the text of a file beside this one."""
    return (HERE / name).read_text(encoding="utf-8")


setup(
    name="fairseq-plugins",
    version=VERSION.search(read("fairseq_plugins/__init__.py"))[1],
    description="Plug-ins for fairseq: translation and understanding with linguistic structure",
    long_description=LINK.sub(r"\1", PICTURE.sub("", read("README.md"))),
    long_description_content_type="text/markdown",
    author="The fairseq_plugins authors",
    license="MIT AND CC-BY-SA-4.0",
    license_files=["LICENSE", "fairseq_plugins/**/LICENSE"],
    keywords="fairseq translation syntax part-of-speech parsing BERT tagging question-answering",
    # The repository has no public address yet: "Source" and "Issues" are added with it.
    project_urls={
        "fairseq": "https://github.com/facebookresearch/fairseq",
        "Syntax-infused Transformer": "https://arxiv.org/abs/1911.06156",
        "SLA": "https://arxiv.org/abs/2012.15150",
        "DABERT": "https://arxiv.org/abs/2210.03454",
        "BERTQA": "https://arxiv.org/abs/1912.10435",
    },
    classifiers=[
        "Development Status :: 5 - Production/Stable",
        "Environment :: Console",
        "Intended Audience :: Science/Research",
        "Intended Audience :: Developers",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        *(f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 14)),
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
    python_requires=">=3.10,<3.14",
    packages=find_packages(include=["fairseq_plugins", "fairseq_plugins.*"]),
    package_data={
        "fairseq_plugins": ["py.typed"],
        "fairseq_plugins.demo": ["page/*"],
        "fairseq_plugins.evaluation": ["pages/*"],
        "fairseq_plugins.lab.report": ["page/*"],
        "fairseq_plugins.lab.results": ["layouts/*.yaml", "layouts/special/*.yaml"],
        "fairseq_plugins.resources": ["en_ewt_*/**/*", "en_ewt_*/*"],
        "fairseq_plugins.text.pipeline": ["card/*", "config.cfg"],
    },
    entry_points={"console_scripts": ["fairseq-plugins = fairseq_plugins.cli.main:main"]},
    install_requires=[
        # Every floor was installed and passed the fast tests (CONTRIBUTING.md says how): raise one
        # when newer behaviour is used.
        "torch>=2.10",  # earlier: files loaded with weights_only can run code (CVE-2026-24747)
        "numpy>=2.0",
        # what fairseq needs at run time (it is installed without its own dependencies)
        "hydra-core>=1.3.2,<1.4",
        "omegaconf>=2.3.0,<2.4",
        "cffi>=1.16",
        "cython>=3.0",
        "regex>=2023.12.25",
        "bitarray>=2.9",
        "scikit-learn>=1.5",
        "threadpoolctl>=3.1",
        "packaging>=23.2",
        # what this package needs
        "sacrebleu>=2.4",
        "sacremoses>=0.1.1",
        "subword-nmt>=0.3.8",
        "sentencepiece>=0.2.2",
        "spacy>=3.8,<3.9",
        "tokenizers>=0.22",
        "safetensors>=0.4.3",
        "scipy>=1.13",
        "PyYAML>=6.0.1",
        "matplotlib>=3.10",
        "pillow>=9.1",
        "nltk>=3.9.1",
        "submitit>=1.5.4",
        "jinja2>=3.1",
        "pandas>=2.2",
        "pydantic>=2.9",
        "argcomplete>=3.5",
        "tqdm>=4.66",
    ],
    extras_require={
        "udpipe": ["ufal.udpipe>=1.3"],  # models named udpipe:PATH
        "onnx": ONNX,  # export --format onnx; onnxruntime computes what it writes
        "serve": SERVE,  # bundles of translation models
        "ja": ["sacrebleu[ja]"],  # BLEU of Japanese, and of Korean: MeCab and its dictionaries
        "ko": ["sacrebleu[ko]"],
        "web": WEB,  # the page (demo) and the service (serve)
        "docs": DOCS,  # the site: mkdocs build --strict
        "release": RELEASE,  # scripts/release.sh
        # transformers and nervaluate are what tests and benchmarks compare with; playwright drives
        # the browser that looks at reports (an installed Chromium or Chrome); each minor release of
        # ruff may lay code out anew, and of pyrefly find other errors
        "test": [
            "pytest>=8.2",
            "pytest-xdist>=3.6",
            "hypothesis>=6.112",
            "ruff>=0.17,<0.18",
            "coverage>=7.10",
            "pyrefly>=1.4,<1.5",
            "transformers>=5",
            "protobuf>=5.29",  # with which transformers reads sentencepiece models
            'nervaluate>=1.1; python_version >= "3.11"',  # there is none for 3.10
            "playwright>=1.48",
            "ufal.udpipe>=1.3",
            *DOCS,
            *ONNX,
            *RELEASE,
            *WEB,
        ],
    },
)
