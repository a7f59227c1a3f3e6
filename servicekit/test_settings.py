"""Where settings come from."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError
from pydantic_settings import SettingsError

from servicekit.settings import Credentials, Settings
from servicekit.tokens import TokenSettings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("NATS_USER", "NATS_PASSWORD", "SNATCH_SECRET"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("SNATCH_SECRETS_DIR", str(tmp_path))
    return tmp_path


def test_a_secret_is_read_from_the_file_named_like_its_variable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "NATS_PASSWORD").write_text("hidden\n")
    (folder / "SNATCH_SECRET").write_text("0123456789abcdef\n")
    (folder / "somebody else's").write_text("never read")
    monkeypatch.setenv("NATS_USER", "rooms")
    settings = TokenSettings()
    assert settings.nats_credentials == Credentials("rooms", "hidden")
    assert settings.secret == "0123456789abcdef"
    assert "hidden" not in repr(settings)


def test_the_environment_counts_more_than_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "SNATCH_SECRET").write_text("0123456789abcdef")
    monkeypatch.setenv("SNATCH_SECRET", "fedcba9876543210")
    assert TokenSettings().secret == "fedcba9876543210"


def test_a_folder_of_secrets_that_is_not_there_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNATCH_SECRETS_DIR", str(folder / "nowhere"))
    with pytest.raises(SettingsError, match="nowhere, which is no folder"):
        Settings()


def test_a_user_without_a_password_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NATS_USER", "rooms")
    with pytest.raises(ValidationError, match="one of them is missing"):
        Settings()


def test_what_is_said_of_wrong_settings_holds_no_secret(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NATS_PASSWORD", "hidden")
    monkeypatch.setenv("SNATCH_SECRET", "too short")
    for wrong in (Settings, TokenSettings):
        with pytest.raises(ValidationError) as error:
            wrong()
        assert "hidden" not in str(error.value)
        assert "too short" not in str(error.value)


def test_without_a_user_nats_is_told_none(folder: Path) -> None:
    assert Settings().nats_credentials is None
