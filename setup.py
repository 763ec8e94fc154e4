"""Package definition. fairseq itself is installed by scripts/setup.sh (see its comments)."""

from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).resolve().parent

setup(
    name="fairseq-plugins",
    version="0.1.0",
    description="Plug-ins for fairseq: translation and understanding with linguistic structure",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="MIT AND CC-BY-SA-4.0",
    python_requires=">=3.10,<3.13",
    packages=find_packages(include=["fairseq_plugins", "fairseq_plugins.*"]),
    package_data={
        "fairseq_plugins.experiments.report": ["page/*"],
        "fairseq_plugins.resources": ["en_ewt_small/**/*", "en_ewt_small/*"],
    },
    install_requires=[
        "torch>=2.6",
        "numpy",
        # what fairseq needs at run time (it is installed without its own dependencies)
        "hydra-core==1.3.2",
        "omegaconf==2.3.0",
        "cffi",
        "cython",
        "regex",
        "bitarray",
        "scikit-learn",
        "threadpoolctl",
        "packaging",
        # what this package needs
        "sacrebleu>=2.3",
        "sacremoses",
        "subword-nmt",
        "sentencepiece",
        "spacy>=3.8,<3.9",
        "tokenizers>=0.20",
        "safetensors>=0.4",
        "scipy",
        "PyYAML",
        "matplotlib",
        "nltk",
        "submitit>=1.5",
        "jinja2",
        "markdown-it-py",
        "tqdm",
    ],
    extras_require={
        # transformers and nervaluate are what tests and benchmarks compare with; playwright drives
        # the browser that looks at reports (an installed Chromium or Chrome)
        "test": [
            "pytest",
            "pytest-xdist",
            "hypothesis",
            "ruff",
            "transformers>=5",
            "nervaluate",
            "playwright",
        ],
    },
)
