"""`SqliteFile`: the messages of a .db3 file, which rosbag2 wrote by default until ROS 2 Humble."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from robomarl.ros.recording.stored import StoredMessage, is_zstd, opened, plain

TOPICS = "SELECT name, type FROM topics"
EXTENT = "SELECT COALESCE(MIN(timestamp), 0), COALESCE(SUM(LENGTH(data)), 0) FROM messages"
MESSAGES = (
    "SELECT timestamp, name, messages.id, data, type FROM messages JOIN topics ON topic_id = topics.id "
    "ORDER BY timestamp, name, messages.id"
)


class SqliteFile:
    """The interface is that of `McapFile`. Such files have one time of each message, and nothing of the recorder:
    that is in metadata.yaml alone."""

    def __init__(self, path: Path) -> None:
        """Read which topics it has, and how long it is."""
        self.path = path
        self.about: dict[str, str] = {}
        self.topics: dict[str, str] = {}
        self.problems: list[str] = []
        self.first_ns = self.data_bytes = 0
        try:
            with _database(path) as database:
                self.topics = dict(database.execute(TOPICS))
                self.first_ns, self.data_bytes = database.execute(EXTENT).fetchone()
        except sqlite3.Error as error:
            self._missing(error)

    def messages(self) -> Iterator[StoredMessage]:
        """Yield all messages in order; note errors of reading in `problems`."""
        try:
            with _database(self.path) as database:
                for at_ns, topic, number, data, kind in database.execute(MESSAGES):
                    yield StoredMessage(at_ns, topic, number, at_ns, plain(data, self.path), kind)
        except sqlite3.Error as error:
            self._missing(error)

    def _missing(self, error: sqlite3.Error) -> None:
        said = f"{self.path}: can't be read to its end ({error}); the rest of it is missing here."
        if said not in self.problems:
            self.problems.append(said)


@contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    """The database, read only; SQLite needs a real file, so one that is compressed as a whole is unpacked."""
    with tempfile.TemporaryDirectory() as folder:
        file = path.resolve()
        if is_zstd(path):
            file = Path(folder, "bag.db3")
            with opened(path) as unpacked, file.open("wb") as to:
                shutil.copyfileobj(unpacked, to)
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as database:
            yield database
