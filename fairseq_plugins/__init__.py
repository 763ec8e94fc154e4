"""Translation and understanding with linguistic structure, as plug-ins for fairseq.

Importing the package loads neither torch nor fairseq; `registration` registers tasks and models.
"""

__version__ = "0.1.0"
