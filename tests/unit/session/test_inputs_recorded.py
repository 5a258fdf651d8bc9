"""What a session makes of what its workers say of their inputs."""

import pytest
from sessions import make_spec

from mlflow_tfexec.errors import RequestError


def test_the_recording_says_the_batch_that_the_inputs_really_had(bench):
    bench.behave(eager={"batch_size": 7}, graph={"batch_size": 7})

    assert bench.measure(make_spec(batch_size=1)).spec.batch_size == 7


def test_a_wrong_request_about_the_inputs_is_not_blamed_on_the_model(bench):
    bench.behave(eager={"raises": {"build": ["ValueError", "--inputs: 'x' has shape (2,)."]}})

    with pytest.raises(RequestError) as caught:
        bench.measure(make_spec())

    assert str(caught.value) == "--inputs: 'x' has shape (2,)."
