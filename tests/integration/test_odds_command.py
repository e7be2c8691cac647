"""scripts/odds: what a house returns, for a person or a program, and one sentence for what goes wrong."""

from __future__ import annotations

import json
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from api.cli import odds
from api.cli.odds_text import Money, percent
from domain.odds.basis import Basis
from domain.rulesets.schema import load
from infrastructure.odds.computing import keep_basis
from infrastructure.odds.shelf import Shelf
from tests.unit.domain.odds.counted import shipped

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(basis: Basis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a shelf's folder where the basis is kept."""
    path = tmp_path_factory.mktemp("odds")
    keep_basis(Shelf(path), basis)
    return path


class Answer:
    """What a run of the command answers: its status, and its lines on both outputs."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str], *arguments: str) -> None:
        self.status = odds.main([*arguments, "--cache", str(folder)])
        self.text, self.errors = capture.readouterr()

    def line(self, label: str) -> str:
        """Return the first line that has a label, its spaces as one."""
        return next(" ".join(line.split()) for line in self.text.splitlines() if label in line)


def test_a_house_is_told_with_percentages_and_fractions(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every return with the name of its denominator, and nothing on the other output."""
    answer = Answer(folder, capsys, "evolution-live")
    assert (answer.status, answer.errors) == (0, "")
    assert answer.line("(evolution-live)") == "Live Caribbean Stud Poker (evolution-live)"
    assert answer.line("Ante EUR") == "Ante EUR 10.00, Call EUR 20.00"
    assert answer.line("returned of the ante") == "returned of the ante 96.2963 % 4798741951957/4983307629300"
    assert answer.line("returned of the total") == (
        "returned of the total amount wagered 98.1885 % 10003854223327/10188419900670"
    )
    assert answer.line("element of risk").endswith(
        "of the total amount wagered 1.8115 % 184565677343/10188419900670"
    )
    assert answer.line("returned of the side bet") == "returned of the side bet 91.4386 % 136879/149695"
    assert answer.line("royal flush ").split()[2:5] == ["0.000154", "0.000000", "0.000070"]
    assert "- A hand is decided on its own five cards" in answer.text


def test_a_cap_is_told_with_what_it_does_at_the_ante(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """004: in the United States it cuts nothing up to an ante of 25 dollars."""
    free = Answer(folder, capsys, "us-casino")
    assert (
        free.line("at most")
        == "A raise wins at most USD 5,000.00: at this ante that cuts nothing, nor at any up to USD 25.00"
    )
    cut = Answer(folder, capsys, "us-casino", "--ante", "10000")
    assert (
        cut.line("at most")
        == "A raise wins at most USD 5,000.00: at this ante that cuts wins; up to USD 25.00 it cuts none"
    )
    assert cut.line("royal flush ").endswith("USD 5,000.00 (100 to 1, cut)")
    assert cut.line("four of a kind ").endswith("USD 4,000.00 (20 to 1)")


def test_a_jackpot_is_told_as_it_stands_and_as_it_is_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its break-even meter always; a meter and the long run when asked for."""
    arguments = ("--meter", "25000000", "--contribution", "0.70", "--reset", "1000000")
    answer = Answer(folder, capsys, "us-casino", *arguments)
    assert (
        answer.line("returned of the side bet")
        == "returned of the side bet 36.2376 % 1385/3822 by fixed awards"
    )
    assert answer.line("for each USD") == "for each USD 10,000.00 of the meter 2.9242 % 950/32487"
    assert answer.line("everything") == "returns everything at a meter of USD 218,047.37 4142900/19"
    after = answer.text[answer.text.index("At a meter of USD 250,000.00") :]
    assert "109.3437 %" in after.splitlines()[1]
    assert "In the long run, 70.00 % contributed and a reset of USD 10,000.00" in after
    assert "71.5391 %   232409/324870" in after
    assert answer.line("short meter").endswith("at most 0.0001 %")
    assert answer.line("mean meter").endswith("USD 120,720.00")


def test_a_program_gets_everything_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The document, and what was asked about the jackpot."""
    answer = Answer(folder, capsys, "us-casino", "--json", "--contribution", "0.7", "--currency", "USD")
    value = json.loads(answer.text)
    assert value["returns"]["ante"]["expected"]["num"] == "-142031221"
    assert value["ante"] == 1_000
    assert value["jackpot"]["at_meter"] is None
    assert value["jackpot"]["long_run"]["returns"]["side_bet"]["returned"]["dec"] == "0.7"
    assert "jackpot" not in json.loads(Answer(folder, capsys, "evolution-live", "--json").text)


@pytest.mark.parametrize("form", ["toml", "json"])
def test_a_rule_set_that_a_user_wrote_is_taken_from_its_file(
    form: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pay table that is too good is said to favour the player."""
    text = (ROOT / "domain" / "rulesets" / "casino-poker-1982.toml").read_text(encoding="utf-8")
    text = text.replace('id = "casino-poker-1982"', 'id = "mine"').replace("[0, 1]", "[0]")
    text = text.replace("pair = 1", "pair = 2").replace("two_pair = 2\n", "two_pair = 3\n")
    path = tmp_path / f"mine.{form}"
    path.write_text(json.dumps(load(text).document()) if form == "json" else text, encoding="utf-8")
    answer = Answer(folder, capsys, str(path))
    assert (answer.status, answer.errors) == (0, "")
    assert answer.line("(mine)")
    assert "! The main bet favours the player." in answer.text
    assert answer.line("house edge").split()[5].startswith("-")


def test_what_a_house_leaves_to_its_tables_can_be_given(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """003 without its exchange: a cap, and what the bonus costs; where there is none it is said so."""
    text = (ROOT / "domain" / "rulesets" / "czech.toml").read_text(encoding="utf-8")
    start, end = text.index("[exchange]"), text.index("[names]")
    text = (text[:start] + text[end:]).replace('exchange = "Card purchase"\n', "")
    path = tmp_path / "kept.toml"
    path.write_text(text, encoding="utf-8")
    answer = Answer(folder, capsys, str(path), "--raise-win-cap", "50000", "--bonus-stake", "5000")
    assert (
        answer.line("at most")
        == "A raise wins at most CZK 500.00: at this ante that cuts wins; up to CZK 2.50 it cuts none"
    )
    assert answer.line("Special bonus,") == "Special bonus, CZK 50.00 each"
    assert answer.line("returned of the side bet").split()[5] == "13.0052"
    left = Answer(folder, capsys, str(path))
    assert "none is given, and none is counted" in left.text
    assert "pays on average" in left.text
    assert "returned of the side bet" not in left.text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["nowhere"],
            "no file nowhere can be read (No such file or directory), and the houses are: nordic, ",
        ),
        (["nordic", "--ante", "0"], "an ante is at least 1 minor unit, not 0"),
        (["uk-casino", "--ante", "10001"], "uk-casino takes an ante of at most 10000, not 10001"),
        (["uk-casino", "--currency", "EUR"], "uk-casino is played in GBP, not in EUR"),
        (["evolution-live", "--meter", "5"], "evolution-live has no jackpot"),
        (["evolution-live", "--contribution", "0.5"], "evolution-live has no jackpot"),
        (["nordic", "--meter", "-1"], "a meter is 0 minor units or more"),
        (["nordic", "--contribution", "0.5", "--reset", "-1"], "a reset is 0 minor units or more"),
        (["nordic", "--raise-win-cap", "5"], "nordic does not let a table set the most a raise wins"),
        (["czech", "--bonus-stake", "0"], "bonus_stake must be 1 to 1000000000000 minor units, not 0"),
    ],
)
def test_what_cannot_be_computed_is_one_sentence(
    arguments: list[str], sentence: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With exit status 1 and nothing on standard output."""
    answer = Answer(folder, capsys, *arguments)
    assert (answer.status, answer.text) == (1, "")
    assert answer.errors.startswith(f"stud-ledger: {sentence}")
    assert answer.errors.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.toml", b"\xff", "is not text in UTF-8"),
        ("x.toml", b"# " + b"x" * odds.FILE_BYTES_MAX, "is too large for a rule set"),
        ("x.toml", b"a = ", "not a valid rule set: not a TOML file"),
        ("x.toml", b"id = 'x'", "not a valid rule set: title: Field required"),
        ("x.json", b"{", "is not JSON"),
        ("x.json", b"[1]", "holds no JSON object"),
        ("x.json", b'{"id": 3}', "not a valid rule set: id: Input should be a valid string"),
    ],
)
def test_a_file_that_is_no_rule_set_is_one_sentence(
    name: str, content: bytes, sentence: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With exit status 1, whatever is in it."""
    (tmp_path / name).write_bytes(content)
    answer = Answer(folder, capsys, str(tmp_path / name))
    assert (answer.status, answer.text) == (1, "")
    assert sentence in answer.errors
    assert answer.errors.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [[], ["nordic", "--ante", "x"], ["nordic", "--reset", "5"], ["nordic", "--contribution", "1.5"]],
)
def test_arguments_that_are_not_understood_end_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Said by the parser."""
    with pytest.raises(SystemExit) as ended:
        odds.main(arguments)
    assert ended.value.code == 2
    assert "scripts/odds: error:" in capsys.readouterr().err


def test_a_place_where_nothing_can_be_kept_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The odds are computed all the same."""
    (tmp_path / "file").write_text("in the way")
    assert odds.shelf(tmp_path / "file" / "odds") is None
    assert capsys.readouterr().err.startswith("stud-ledger: nothing is kept for the next time: ")
    assert odds.shelf(tmp_path / "new" / "odds") is not None
    assert (tmp_path / "new" / "odds").is_dir()


def test_the_command_works_from_any_folder_and_without_a_service(folder: Path, tmp_path: Path) -> None:
    """A relative path is the caller's; reading the first line alone is no error."""
    (tmp_path / "own.json").write_text(json.dumps(shipped("nordic").document()), encoding="utf-8")
    command = [str(ROOT / "scripts" / "odds"), "own.json", "--cache", str(folder)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"Nordic Caribbean Stud Poker (nordic)\n"
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 0


def test_amounts_and_percentages_are_rounded_to_nearest() -> None:
    """Without a float in between."""
    assert Money("USD", 2).whole(123_450) == "USD 1,234.50"
    assert Money("JPY", 0).whole(1_000) == "JPY 1,000"
    assert Money("BHD", 3).whole(7) == "BHD 0.007"
    assert [percent(Fraction(-1, 3)), percent(Fraction(2, 3), 1)] == ["-33.3333 %", "66.7 %"]


def test_a_chart_is_drawn_into_its_file(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The best decisions as an SVG, the same bytes each time, beside what is printed; or why not."""
    path = tmp_path / "chart.svg"
    answer = Answer(folder, capsys, "uk-casino", "--chart", str(path))
    assert (answer.status, answer.errors) == (0, "")
    assert "(uk-casino)" in answer.text
    drawn = path.read_bytes()
    assert drawn.startswith(b"<svg ")
    assert "uk-casino, at an ante of £10.00" in drawn.decode()
    assert b"A-K-Q-8-2: raise against A, K, Q, 8, 4, 3, 2; fold" in drawn
    assert Answer(folder, capsys, "uk-casino", "--chart", str(path)).status == 0
    assert path.read_bytes() == drawn
    failed = Answer(folder, capsys, "uk-casino", "--chart", str(tmp_path / "none" / "chart.svg"))
    assert (failed.status, failed.text) == (1, "")
    assert "cannot be written: No such file or directory" in failed.errors
