"""A PostgreSQL server of one's own on loopback, for as long as it is needed.

PostgreSQL refuses to run as root, as which containers often work; there, the server runs as another account.
"""

import os
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_USER = "mlflow"
# Nothing here outlives the server, so nothing has to reach the disk.
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "50",
}


@dataclass(frozen=True)
class PostgreSQLServer:
    """A running server; whoever holds this may do anything with it."""

    port: int
    password: str

    def uri(self, database: str) -> str:
        """Give the URI of a database as SQLAlchemy and MLflow take it, password included."""
        # The driver is named, because which one is meant without a name depends on SQLAlchemy's release.
        return f"postgresql+psycopg2://{_USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    def create(self, database: str, *, template: str = "template0") -> str:
        """Make a database, as a copy of *template*, to which nobody may be connected; return its URI."""
        self._execute(f'CREATE DATABASE "{database}" TEMPLATE "{template}"')
        return self.uri(database)

    def disconnect(self, database: str) -> None:
        """Close all connections to a database, those that a library keeps for later included."""
        self._execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")

    def drop(self, database: str) -> None:
        """Remove a database, whoever is connected to it."""
        self.disconnect(database)
        self._execute(f'DROP DATABASE "{database}"')

    def _execute(self, statement: str) -> None:
        import psycopg2

        connection = psycopg2.connect(
            host="127.0.0.1", port=self.port, user=_USER, password=self.password, dbname="postgres"
        )
        try:
            connection.autocommit = True  # these statements take no transaction
            with connection.cursor() as cursor:
                cursor.execute(statement)
        finally:
            connection.close()


def missing() -> str | None:
    """Say what a server cannot be started without. None: nothing is missing."""
    if find_programs() is None:
        return "PostgreSQL is not installed (no initdb in PATH or /usr/lib/postgresql)"
    try:
        import psycopg2  # noqa: F401 - whether it is there is the question
    except ImportError:
        return "psycopg2 is not installed"
    return None


def find_programs() -> Path | None:
    """Find the directory of `initdb` and `postgres`: that of the PATH, or the newest that Debian keeps out of it."""
    found = shutil.which("initdb")
    if found is not None and shutil.which("postgres", path=str(Path(found).parent)):
        return Path(found).parent
    kept = [initdb.parent for initdb in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(kept, key=lambda path: [int(digits) for digits in re.findall(r"\d+", str(path))], default=None)


@contextmanager
def running() -> Iterator[PostgreSQLServer]:
    """Start a server with a new, empty cluster; stop it and remove the cluster whatever happens inside.

    Raises RuntimeError if the server does not start.
    """
    programs = find_programs()
    if programs is None:
        raise RuntimeError(missing())
    account = _account()
    directory = Path(tempfile.mkdtemp(prefix="postgresql-"))
    try:
        if account:
            shutil.chown(directory, account["user"], account["group"])
        server = PostgreSQLServer(_free_port(), secrets.token_hex(16))
        _run([programs / "initdb", *_cluster(directory, server.password, account)], account)
        settings = {**_SETTINGS, "port": server.port}
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        place = ["-D", directory / "data", "-w", "-t", "60"]
        try:
            _run([programs / "pg_ctl", "start", *place, "-l", directory / "log", "-o", options], account)
            yield server
        finally:
            # Also after a start that was interrupted half-way. Without a server there is nothing to stop.
            if (directory / "data" / "postmaster.pid").exists():
                _run([programs / "pg_ctl", "stop", *place, "-m", "immediate"], account)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _cluster(directory: Path, password: str, account: Mapping[str, Any]) -> list[str | Path]:
    """Give the arguments of initdb. Any account of the machine reaches loopback, so a password is asked for."""
    file = directory / "password"
    file.touch(mode=0o600)
    file.write_text(password, encoding="ascii")
    if account:
        shutil.chown(file, account["user"], account["group"])
    who = ["-U", _USER, "--auth=scram-sha-256", f"--pwfile={file}"]
    return ["-D", directory / "data", *who, "--encoding=UTF8", "--locale=C", "--no-sync"]


def _run(command: list[Any], account: Mapping[str, Any]) -> None:
    """Run a program away from the terminal: an interruption is for us, and we stop the server."""
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            [str(word) for word in command],
            cwd="/",
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            # No pipe: a server that inherits it would keep it open.
            stdout=output,
            stderr=output,
            start_new_session=True,
            check=False,
            **account,
        )
        output.seek(0)
        if done.returncode:
            said = output.read().decode(errors="replace").strip()[-500:]
            raise RuntimeError(f"{Path(command[0]).name} {command[1]} failed with {done.returncode}: {said}")


def _account() -> dict[str, Any]:
    """Name the account to run as, as subprocess takes it. Empty: our own."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return {}
    import grp
    import pwd

    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": name, "group": grp.getgrgid(entry.pw_gid).gr_name, "extra_groups": []}
    raise RuntimeError("PostgreSQL does not run as root, and there is no account postgres or nobody")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
