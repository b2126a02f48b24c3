"""MNIST: 70,000 images of handwritten digits."""

from rflib.datasets.entry import Entry, File
from rflib.datasets.formats.idx import read_images

_URL = "https://ossci-datasets.s3.amazonaws.com/mnist"


def _file(name: str, md5: str, plain_sha256: str, plain_size: int) -> File:
    plain = File(name, sha256=plain_sha256, size=plain_size)
    return File(f"{name}.gz", (f"{_URL}/{name}.gz",), md5=md5, plain=plain)


ENTRIES = {
    "mnist": Entry(
        rows=70_000,
        columns=784,
        classes=10,
        split="given",
        train_rows=60_000,
        read=read_images,
        files=(
            _file(
                "train-images-idx3-ubyte",
                md5="f68b3c2dcbeaaa9fbdd348bbdeb94873",
                plain_sha256="ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                plain_size=47_040_016,
            ),
            _file(
                "train-labels-idx1-ubyte",
                md5="d53e105ee54ea40749a09fcbcd1e9432",
                plain_sha256="65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                plain_size=60_008,
            ),
            _file(
                "t10k-images-idx3-ubyte",
                md5="9fb629c4189551a2d022fa330f9573f3",
                plain_sha256="0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                plain_size=7_840_016,
            ),
            _file(
                "t10k-labels-idx1-ubyte",
                md5="ec29112dd5afa0611ce80d1b7f02629c",
                plain_sha256="ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
                plain_size=10_008,
            ),
        ),
        papers=("wacker2022",),
        scaling="The values are grey levels, integers from 0 to 255, stored in single precision.",
        citation="LeCun, Bottou, Bengio & Haffner 1998; LeCun, Cortes & Burges",
        licence="CC BY-SA 3.0",
        traps="The labels are the ten digits. 67 of the 784 columns are 0 in all training images.",
    ),
}
