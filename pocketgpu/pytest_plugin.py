"""`pytest --pocketgpu`: every kernel launch of a test suite is simulated; a finding fails its test."""

import pytest

COLLECTOR = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The plugin's options; without the first it does nothing."""
    group = parser.getgroup("pocketgpu", "kernels of numba.cuda without a GPU")
    group.addoption("--pocketgpu", action="store_true", help="simulate and check every kernel launch")
    group.addoption(
        "--pocketgpu-tool", metavar="TOOLS", help="some of race,init,mem,sync,code; all if not given"
    )
    group.addoption("--pocketgpu-device", metavar="NAME", help="the simulated GPU, such as T4 or H200")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Put the simulator in numba.cuda's place before a test module imports that."""
    if not config.getoption("pocketgpu"):
        return
    from pocketgpu.checking import TOOLS, Collector, stand_in

    names = (config.getoption("pocketgpu_tool") or ",".join(TOOLS)).split(",")
    if unknown := [name for name in names if name not in TOOLS]:
        raise pytest.UsageError(f"--pocketgpu-tool: {unknown[0]!r} is no tool: {', '.join(TOOLS)}")
    config.stash[COLLECTOR] = collector = Collector(names)
    try:
        stand_in(collector, device=config.getoption("pocketgpu_device"))
    except (RuntimeError, ValueError) as error:
        raise pytest.UsageError(str(error)) from error


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    """What earlier code left over belongs to no test."""
    if collector := item.config.stash.get(COLLECTOR, None):
        collector.take()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    """A test that passed fails with what its launches did wrong; so does what a fixture does after it."""
    report = yield
    collector = item.config.stash.get(COLLECTOR, None)
    if collector and call.when != "setup" and (faults := collector.take()):
        text = "\n".join(map(str, faults))
        if report.passed:
            report.outcome = "failed"
            report.longrepr = text
        else:
            report.sections.append(("pocketgpu", text))
    return report


def pytest_terminal_summary(terminalreporter: object, config: pytest.Config) -> None:
    """How much was simulated by this process."""
    if (collector := config.stash.get(COLLECTOR, None)) and collector.launches:
        terminalreporter.write_line(f"pocketgpu: {collector.launched()} simulated")
