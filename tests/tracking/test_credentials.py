import pytest

from mlflow_tfexec.tracking.credentials import redact, secrets_of, strip_userinfo, without_credentials


@pytest.mark.parametrize(
    ("given", "stripped"),
    [
        ("http://host:5000", "http://host:5000"),
        ("https://me:hunter22@host:5000/team", "https://host:5000/team"),
        ("https://token1234@host", "https://host"),
        ("https://me:p%40ss%2Fword@host/", "https://host/"),
        ("https://me:p@ss@host/", "https://host/"),
        ("postgresql+psycopg2://me:pw@db:5432/mlflow?sslmode=require", "postgresql+psycopg2://db:5432/mlflow?sslmode=require"),
        ("mssql://db/x?driver=ODBC&odbc_connect=PWD%3Dsecret", "mssql://db/x?driver=ODBC"),
        ("mysql://db/x?password=hidden", "mysql://db/x"),
        ("sqlite:////home/me@work/mlflow.db", "sqlite:////home/me@work/mlflow.db"),
        ("file:///home/me@work/mlruns", "file:///home/me@work/mlruns"),
        ("databricks://profile", "databricks://profile"),
        ("./mlruns", "./mlruns"),
    ],
)  # fmt: skip
def test_only_credentials_are_taken_out_of_a_uri(given, stripped):
    assert without_credentials(given) == stripped


def test_secrets_are_blanked_as_written_and_as_decoded():
    secrets = secrets_of("https://me:p%40ss%2Fword@host", {"MLFLOW_TRACKING_TOKEN": "tok-123"})
    text = "tried p%40ss%2Fword, p@ss/word and tok-123 at https://me:p%40ss%2Fword@host/api"
    assert redact(text, secrets) == "tried ***, *** and *** at https://host/api"


def test_a_token_in_the_place_of_the_user_is_a_secret_and_a_user_with_a_password_is_not():
    assert redact("abcdef", secrets_of("https://abcdef@host", {})) == "***"
    assert redact("the user admin", secrets_of("https://admin:hunter22@host", {})) == "the user admin"


def test_text_without_a_url_keeps_its_at_signs():
    assert strip_userinfo("me@example.org ran git+https://tok@github.com/a/b") == (
        "me@example.org ran git+https://github.com/a/b"
    )
