"""Odds are computed beside the game: what is missing, once, in a process of its own; again if that fails."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest
from structlog.testing import capture_logs

from api.cli import serve
from api.composition import odds_of
from api.settings import ServiceSettings
from domain.events import RulesetRef, TableParameters
from domain.odds.basis import Basis
from domain.odds.chart import Chart
from domain.rulesets.schema import RuleSet, ruleset_sha256
from domain.work import PublishedRuleset, Table
from infrastructure.audit.pool import Beside, WorkerDied
from infrastructure.bootstrap import AppDsn, prepare, shipped_documents
from infrastructure.ledger import bookkeeping
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.store import Changes, FirstReading
from infrastructure.odds import job, store
from infrastructure.odds.child import Made, Task, compute
from infrastructure.odds.computing import keep_basis
from infrastructure.odds.job import ATTEMPTS_MAX, OddsRunner
from infrastructure.odds.shelf import Shelf
from infrastructure.odds.store import OddsStore, Terms

PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
PATIENCE_SECONDS = 60
HOUSES = {document["id"]: RuleSet.from_document(document) for document in shipped_documents()}


class Fake:
    """A process that has computed at once, or never ends, or dies."""

    def __init__(self, made: Made | None, *, dies: bool = False) -> None:
        self._made = made
        self._dies = dies
        self.closed = False

    @property
    def ended(self) -> bool:
        """Whether there is a result."""
        return self._made is not None or self._dies

    def result(self) -> Made:
        """What was made."""
        if self._dies or self._made is None:
            raise WorkerDied("killed")
        return self._made

    def close(self) -> None:
        """Note that it was ended."""
        self.closed = True


class Begun:
    """Remembers tasks, and answers them as `how` says."""

    def __init__(self, how: Callable[[Task], Fake]) -> None:
        self._how = how
        self.tasks: list[Task] = []
        self.processes: list[Fake] = []

    def __call__(self, task: Task) -> Fake:
        """Begin a task."""
        self.tasks.append(task)
        self.processes.append(self._how(task))
        return self.processes[-1]


def made(task: Task) -> Fake:
    """Answer with figures that favour nobody."""
    return Fake([(terms, {"favours_player": [], "ante": terms.ante}, {"of": "it"}) for terms in task.terms])


@pytest.fixture
def ledger(database: str, request: pytest.FixtureRequest) -> AppDsn:
    """Return an empty ledger."""
    name = f"odds_{abs(hash(request.node.name)) % 10**8}"
    return prepare(database, name, passwords=PASSWORDS)


@pytest.fixture
def app(ledger: AppDsn) -> Iterator[psycopg.Connection]:
    """Yield the application's connection."""
    with psycopg.connect(ledger.app, autocommit=True) as connection:
        yield connection


def published(ruleset: RuleSet, version: int = 1) -> PublishedRuleset:
    """Return a rule set as a version."""
    document = ruleset.document()
    return PublishedRuleset(RulesetRef(ruleset.id, version, ruleset_sha256(document)), ruleset, document)


def table(name: str, version: PublishedRuleset, currency: str, limits: tuple[int, int], **more: Any) -> Table:
    """Return a table."""
    parameters = TableParameters(*limits, zone="UTC", cutoff_hour=0, min_side_bet=1, max_side_bet=10, **more)
    return Table(name, version.ref, currency, "real", "rng", True, parameters, None)  # noqa: FBT003 - as it is stored


def write(ledger: AppDsn, versions: list[PublishedRuleset], tables: list[Table]) -> None:
    """Put rule sets and tables into a ledger."""
    written = PostgresStore(ledger.app, ledger.schema)
    written.begin(FirstReading(0))
    written.commit(
        Changes(
            0,
            int(time.time() * 1e6),
            rulesets=[bookkeeping.ruleset_row(version, 1) for version in versions],
            tables=[bookkeeping.table_row(each, 1) for each in tables],
        )
    )
    written.close()


def runner(ledger: AppDsn, begin: Begun | None) -> OddsRunner:
    """Return what computes the odds of a ledger."""
    return OddsRunner(ledger.app, ledger.schema, Path("/nowhere"), begin)


def test_each_version_is_computed_for_its_tables(ledger: AppDsn, app: psycopg.Connection) -> None:
    """Tables' least and greatest antes with their limits; the usual ante where a currency has no table."""
    czech, nordic = published(HOUSES["czech"]), published(HOUSES["nordic"])
    own = {"raise_win_cap": 70_000, "bonus_stake": 900}
    write(ledger, [nordic, czech], [table("t", czech, "EUR", (100, 5_000), **own)])
    begun = Begun(made)
    odds = runner(ledger, begun)
    assert odds.turn(app)
    assert begun.tasks[0].document["id"] == "czech"  # it is played, and comes first
    assert set(begun.tasks[0].terms) == {
        Terms("czech", 1, "CZK", 1_000),
        Terms("czech", 1, "EUR", 100, 70_000, 900),
        Terms("czech", 1, "EUR", 5_000, 70_000, 900),
    }
    assert odds.turn(app)
    assert set(begun.tasks[1].terms) == {
        Terms("nordic", 1, currency, 1_000) for currency in ("NOK", "DKK", "SEK", "EUR", "USD")
    }
    assert not odds.turn(app)
    assert OddsStore(app, ledger.schema).known() == {*begun.tasks[0].terms, *begun.tasks[1].terms}
    assert all(process.closed for process in begun.processes)


def test_only_what_is_missing_is_computed(ledger: AppDsn, app: psycopg.Connection) -> None:
    """After a restart nothing is done twice; a new version, or a table with other limits, is."""
    first = published(HOUSES["us-casino"])
    write(ledger, [first], [])
    assert runner(ledger, Begun(made)).turn(app)
    begun = Begun(made)
    assert not runner(ledger, begun).turn(app)
    second = published(HOUSES["us-casino"].model_copy(update={"title": "Another"}), 2)
    write(ledger, [second], [table("t", first, "USD", (100, 1_000))])
    again = runner(ledger, begun)
    while again.turn(app):
        pass
    done = [terms for task in begun.tasks for terms in task.terms]
    assert sorted(done) == [Terms("us-casino", 1, "USD", 100), Terms("us-casino", 2, "USD", 1_000)]


def test_what_an_older_method_computed_is_computed_again(
    ledger: AppDsn, app: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures of an older method are replaced, and those of a newer one stay."""
    terms = Terms("us-casino", 1, "USD", 1_000)
    write(ledger, [published(HOUSES["us-casino"])], [])
    odds = OddsStore(app, ledger.schema)
    odds.put(terms, {"favours_player": []}, {"by": "older"})
    with monkeypatch.context() as newer:
        newer.setattr(store, "METHOD", store.METHOD + 1)
        assert odds.known() == set()
        assert runner(ledger, Begun(made)).turn(app)
        assert odds.known() == {terms}
    odds.put(terms, {"favours_player": []}, {"by": "older"})
    assert app.execute(f"SELECT chart FROM {ledger.schema}.odds_figures").fetchone() == (b'{"of":"it"}',)


def test_what_favours_the_player_is_logged(ledger: AppDsn, app: psycopg.Connection) -> None:
    """A rule set at which the player wins in the long run is a warning, with the bets it is about."""
    write(ledger, [published(HOUSES["cyber"])], [])
    giving = {"favours_player": ["main"], "ante": 1_000}
    with capture_logs() as logs:
        assert runner(ledger, Begun(lambda task: Fake([(task.terms[0], giving, {})]))).turn(app)
    (told,) = logs
    assert told["event"] == "ruleset_favours_player"
    assert (told["log_level"], told["ruleset"], told["bets"]) == ("warning", "cyber", ["main"])


def test_a_process_that_dies_is_begun_again_and_in_the_end_given_up(
    ledger: AppDsn, app: psycopg.Connection
) -> None:
    """A version that fails some times is left alone, and the others are still computed."""
    cyber, macau = published(HOUSES["cyber"]), published(HOUSES["macau"])
    write(ledger, [cyber, macau], [table("t", cyber, "USD", (100, 1_000))])
    begun = Begun(lambda task: Fake(None, dies=True) if task.document["id"] == "cyber" else made(task))
    odds = runner(ledger, begun)
    with capture_logs() as logs:
        while odds.turn(app):
            pass
    assert [task.document["id"] for task in begun.tasks] == ["cyber"] * ATTEMPTS_MAX + ["macau"]
    assert [entry["event"] for entry in logs] == ["odds_failed"] * ATTEMPTS_MAX
    assert {terms.ruleset_id for terms in OddsStore(app, ledger.schema).known()} == {"macau"}


def test_a_process_that_takes_too_long_is_ended(
    ledger: AppDsn, app: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time is bounded: a computation that does not come to an end counts as failed."""
    monkeypatch.setattr(job, "COMPUTING_SECONDS_MAX", 0.0)
    write(ledger, [published(HOUSES["cyber"])], [])
    begun = Begun(lambda _: Fake(None))
    with capture_logs() as logs:
        assert runner(ledger, begun).turn(app)
    assert begun.processes[0].closed
    assert logs[0]["why"] == "it takes too long"


def test_one_of_several_services_computes_until_it_ends(
    ledger: AppDsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others wait, and one of them takes over; stopping ends what is under way."""
    monkeypatch.setattr(job, "START_SECONDS", 0.0)
    monkeypatch.setattr(job, "LOOK_SECONDS", 0.05)
    write(ledger, [published(HOUSES["cyber"])], [])
    begun = threading.Event()

    def never(_: Task) -> Fake:
        begun.set()
        return Fake(None)

    first, second = Begun(never), Begun(made)
    one, other = runner(ledger, first), runner(ledger, second)
    one.start()
    assert begun.wait(PATIENCE_SECONDS)
    other.start()
    time.sleep(0.3)
    assert second.tasks == []
    one.stop()
    assert first.processes[0].closed
    end = time.monotonic() + PATIENCE_SECONDS
    while not second.tasks:
        assert time.monotonic() < end
        time.sleep(0.02)
    other.stop()


def test_the_real_process_computes_figures_and_a_chart(
    ledger: AppDsn, app: psycopg.Connection, tmp_path: Path, basis: Basis
) -> None:
    """What is kept are the exact figures and the chart, of the published version."""
    keep_basis(Shelf(tmp_path), basis)
    version = published(HOUSES["uk-casino"])
    write(ledger, [version], [])
    odds = OddsRunner(ledger.app, ledger.schema, tmp_path, lambda task: Beside(compute, task, niceness=0))
    assert odds.turn(app)
    query = f"SELECT figures, chart FROM {ledger.schema}.odds_figures"
    ((figures, chart),) = app.execute(query).fetchall()
    assert orjson.loads(figures)["ruleset"] == {
        "id": "uk-casino",
        "version": 1,
        "sha256": version.ref.sha256,
    }
    assert orjson.loads(figures)["ante"] == 1_000
    assert Chart.from_document(orjson.loads(chart)).states() == (58_357_116, 63_794_004)


def test_a_game_that_cannot_be_counted_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three up-cards there are no figures and no chart, but why: it is not tried again and again."""
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)  # it would bound this process for good
    house = HOUSES["casino-poker-1982"]
    three = house.model_copy(update={"deal": house.deal.model_copy(update={"dealer_up_indices": (0, 1, 2)})})
    terms = Terms(three.id, 1, "USD", 1_000)
    ((of, figures, chart),) = compute(Task(three.document(), [terms], tmp_path), lambda _: None)
    assert of == terms
    assert figures.keys() == {"unsupported"}
    assert "3 up-cards" in figures["unsupported"]
    assert chart == {}


def test_services_compute_odds_unless_they_are_told_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """`serve` has a folder for them in its data directory; a flag or the environment switches them off."""
    monkeypatch.delenv(serve.NO_ODDS)
    assert serve.parse([]).odds
    assert not serve.parse(["--no-odds"]).odds
    monkeypatch.setenv(serve.NO_ODDS, "1")
    assert not serve.parse([]).odds
    for settings in (ServiceSettings("", Path("k")), ServiceSettings("", Path("k"), odds=Path("/folder"))):
        for name, value in settings.to_environment().items():
            monkeypatch.setenv(name, value)
        assert ServiceSettings.from_environment().odds == settings.odds
        assert (odds_of(settings, "ledger") is None) == (settings.odds is None)
