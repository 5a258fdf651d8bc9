import json

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from mlflow_tfexec.measurement.variables import mask, result_variables


def test_variables_that_change_results_are_kept():
    environ = {
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "XLA_FLAGS": "--xla_gpu_autotune_level=0 --xla_gpu_deterministic_ops=true",
        "CUDA_VISIBLE_DEVICES": "0,1",
        "OMP_NUM_THREADS": "4",
        "KMP_AFFINITY": "granularity=fine,compact,1,0",
        "LD_PRELOAD": "/usr/lib/libtcmalloc.so.4:/opt/libfoo.so",
        "PYTHONHASHSEED": "0",
        "KERAS_BACKEND": "tensorflow",
        "MALLOC_ARENA_MAX": "2",
        "NVIDIA_TF32_OVERRIDE": "0",
    }

    assert result_variables(environ) == environ


def test_other_variables_are_left_out():
    environ = {"HOME": "/home/someone", "MLFLOW_TRACKING_URI": "https://x", "PATH": "/bin", "AWS_REGION": "eu"}

    assert result_variables(environ) == {}


def test_variables_are_sorted_by_name():
    assert list(result_variables({"XLA_FLAGS": "", "CUDA_CACHE_DISABLE": "1"})) == ["CUDA_CACHE_DISABLE", "XLA_FLAGS"]


@pytest.mark.parametrize(
    "name",
    [
        "TF_API_KEY",
        "NVIDIA_API_KEY",
        "KERAS_TOKEN",
        "TF_SECRET_SAUCE",
        "CUDA_PASSWORD",
        "NCCL_CREDENTIALS",
        "TF_HTTP_AUTH",
        "tf_password",
        "TF_DB_PASS",
        "TF_VAR_anything",
        "TF_CLI_ARGS",
    ],
)
def test_name_that_speaks_of_a_secret_or_of_terraform_is_left_out(name):
    assert result_variables({name: "x"}) == {}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://user:word@host/path", "https://***@host/path"),
        ("https://word@host", "https://***@host"),
        ("https://user:p@ss/w:rd@host", "https://***@host"),
        ("grpc://a:b@host1:1 grpc://c:d@host2:2", "grpc://***@host1:1 grpc://***@host2:2"),
        ("user:word@host:8470", "***@host:8470"),
        ("--flag=user:word@host", "--flag=***@host"),
        ("token=abc", "token=***"),
        ("a=1 access_token=abc b=2", "a=1 access_token=*** b=2"),
        ('{"password": "a b\\"c", "x": 1}', '{"password": ***, "x": 1}'),
        ("--api-key abc --x=1", "--api-key *** --x=1"),
        ("Authorization: Bearer abc.def", "Authorization: ***"),
        ("sent Bearer abc.def to it", "sent Bearer *** to it"),
        ("https://host/?sig=1&access_token=abc", "https://host/?sig=1&access_token=***"),
        ("with hf_abcdefghijklmnopqrstuvwxyz here", "with *** here"),
        ("AKIAABCDEFGHIJKLMNOP", "***"),
    ],
)
def test_credential_in_a_text_is_masked(text, masked):
    assert mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "KeyError: 'dense_1'",
        "Cannot find key: dense_1",
        "ValueError: input_tokens: expected shape (1, 384), found (1, 224)",
        "https://www.tensorflow.org/guide/function",
        "--xla_gpu_autotune_level=4 --xla_dump_to=/tmp/x",
        "Detected at node 'x' (most recent call last):\n  File \"a.py\", line 3, in <module>",
        "/usr/lib/libfoo.so:/usr/lib/libbar.so",
        "",
    ],
)
def test_ordinary_text_is_left_alone(text):
    assert mask(text) == text


# What a password may look like where nobody escaped it; a blank or a quote would end it in any of these places.
secrets = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"], exclude_characters="\"'\\"), min_size=6)
places = st.sampled_from(
    [
        "https://user:{}@host/path",
        "https://{}@host",
        "before http://user:{}@host after",
        "user:{}@host:80",
        "--flag=x password={} --other=y",
        "api_key: {}",
        '{{"client_secret": "{}", "x": 1}}',
        "--token {}",
        "Authorization: Basic {}",
    ]
)
names = st.sampled_from(["TF_CONFIG", "XLA_FLAGS", "NVIDIA_X", "LD_PRELOAD", "OMP_Y"])


@given(name=names, place=places, secret=secrets)
@example(name="TF_CONFIG", place="https://user:{}@host/path", secret="p@ss://w:rd@@")
@example(name="XLA_FLAGS", place="user:{}@host:80", secret="//////")
def test_no_planted_credential_gets_through(name, place, secret):
    # A secret that is part of the text around it cannot be told from it.
    assume(secret not in place)
    value = result_variables({name: place.format(secret)})[name]

    assert secret not in value


@given(st.text(st.characters()))
def test_masking_gives_text_that_can_be_written(text):
    json.dumps(mask(text)).encode("utf-8")
    mask(text).encode("utf-8")


def test_bytes_that_are_not_text_are_shown_as_escapes():
    assert mask("a\udcffb") == "a\\udcffb"
