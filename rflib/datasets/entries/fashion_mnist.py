"""Fashion-MNIST: 70,000 images of clothes, in the format of MNIST."""

from rflib.datasets.entry import Entry, File
from rflib.datasets.formats.idx import read_images

_URL = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"


def _file(name: str, md5: str, size: int, plain_sha256: str, plain_size: int) -> File:
    plain = File(f"fashion_mnist/{name}", sha256=plain_sha256, size=plain_size)
    return File(f"{plain.name}.gz", (f"{_URL}/{name}.gz",), md5=md5, size=size, plain=plain)


ENTRIES = {
    "fashion_mnist": Entry(
        rows=70_000,
        columns=784,
        classes=10,
        split="given",
        train_rows=60_000,
        read=read_images,
        files=(
            _file(
                "train-images-idx3-ubyte",
                md5="8d4fb7e6c68d591d4c3dfef9ec88bf0d",
                size=26_421_880,
                plain_sha256="c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
                plain_size=47_040_016,
            ),
            _file(
                "train-labels-idx1-ubyte",
                md5="25c81989df183df01b3e8a0aad5dffbe",
                size=29_515,
                plain_sha256="bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
                plain_size=60_008,
            ),
            _file(
                "t10k-images-idx3-ubyte",
                md5="bef4ecab320f06d8554ea6380940ec79",
                size=4_422_102,
                plain_sha256="5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
                plain_size=7_840_016,
            ),
            _file(
                "t10k-labels-idx1-ubyte",
                md5="bb300cfdad3c16e7a12a480ee83cd310",
                size=5_148,
                plain_sha256="0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
                plain_size=10_008,
            ),
        ),
        scaling="The values are grey levels, integers from 0 to 255, stored in single precision.",
        citation="Xiao, Rasul & Vollgraf 2017 (arXiv 1708.07747), Zalando Research",
        licence="MIT",
        traps="The labels are T-shirt or top (0), trousers, pullover, dress, coat, sandal, shirt, sneaker, "
        "bag and ankle boot (9), 7,000 images each. Size, format and split are those of mnist, but the "
        "classes are harder to tell apart. No column is constant.",
    ),
}
