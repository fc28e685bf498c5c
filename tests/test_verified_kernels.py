"""The page that says what has been done with each kernel names every kernel."""

from verified_kernels import CPP, PAGE, cuda_kernels, page


def test_the_page_of_verified_kernels_is_as_made():
    assert PAGE.read_text(encoding="utf-8") == page(), "python tests/verified_kernels.py writes it"


def test_every_kernel_in_cuda_cpp_is_found():
    for path in CPP:
        assert len(cuda_kernels(path)) == path.read_text(encoding="utf-8").count("__global__")
