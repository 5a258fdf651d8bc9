import struct

import pytest
from recordings import make_recording

from mlflow_tfexec.reports import latency_png
from mlflow_tfexec.statistics.judge import judge


def draw(recording):
    return latency_png(recording, judge(recording))


def size(content):
    return struct.unpack(">II", content[16:24])


def test_picture_is_a_png_of_a_readable_size():
    content = draw(make_recording())

    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = size(content)
    assert width == 1200
    assert 500 <= height <= 1200


def test_same_recording_gives_the_same_picture():
    assert draw(make_recording()) == draw(make_recording())


def test_other_times_give_another_picture():
    assert draw(make_recording(seed=1)) != draw(make_recording(seed=2))


def test_picture_grows_with_the_number_of_modes():
    two = draw(make_recording({"eager": 2.0, "graph": 1.0}))
    four = draw(make_recording({"eager": 2.0, "graph": 1.0, "xla": 0.5, "graph_nojit": 1.0}))

    assert size(two)[1] < size(four)[1]


def test_nothing_timed_gives_no_picture():
    assert draw(make_recording({"eager": 2.0, "graph": 1.0}, statuses={"eager": "oom", "graph": "oom"})) is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["$\\frac{", "模型 🚀", "a\nb\x1b[2J", "x" * 500, "^_{}%&~#"])
def test_any_model_name_can_be_drawn(name):
    assert draw(make_recording({"eager": 2.0, "graph": 1.0}, model=name, launches=1)) is not None


def test_style_of_the_user_does_not_change_the_picture():
    import matplotlib as mpl

    plain = draw(make_recording())

    with mpl.rc_context({"figure.facecolor": "black", "font.size": 30.0, "savefig.dpi": 30}):
        assert draw(make_recording()) == plain


def test_very_long_series_is_thinned_out_and_still_drawn():
    assert draw(make_recording({"eager": 2.0, "graph": 1.0}, calls=500, launches=1)) is not None
