"""`pytest --pocketgpu`: every kernel launch of a test suite is simulated; a finding fails its test."""

from argparse import Namespace

import pytest

from pocketgpu.quantities import quantity

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
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Put the simulator in numba.cuda's place before a conftest.py imports that."""
    _stand_in(early_config, early_config.known_args_namespace)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """The same, where conftest.py or a plugin has brought this one."""
    if COLLECTOR not in config.stash:
        _stand_in(config, config.option)


def _stand_in(config: pytest.Config, options: Namespace) -> None:
    """Let the session's launches report to a collector, if the options say so."""
    if not options.pocketgpu:
        return
    from pocketgpu.checking import TOOLS, Collector, stand_in

    names = (options.pocketgpu_tool or ",".join(TOOLS)).split(",")
    if unknown := [name for name in names if name not in TOOLS]:
        raise pytest.UsageError(f"--pocketgpu-tool: {unknown[0]!r} is not a tool: {', '.join(TOOLS)}")
    config.stash[COLLECTOR] = collector = Collector(names)
    try:
        stand_in(collector, device=options.pocketgpu_device)
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
    """How much was simulated by this process, also if that is nothing."""
    collector = config.stash.get(COLLECTOR, None)
    if collector is None or hasattr(config, "workerinput"):
        return
    if collector.launches:
        terminalreporter.write_line(f"pocketgpu: {collector.launched()} simulated")
        return
    skipped = len(terminalreporter.stats.get("skipped", []))
    beside = f"; {quantity(skipped, 'skipped test')}, see pytest -rs" if skipped else ""
    spread = "; pytest-xdist counts launches in its workers" if config.getoption("dist", "no") != "no" else ""
    terminalreporter.write_line(f"pocketgpu: no kernel was launched{beside}{spread}")
