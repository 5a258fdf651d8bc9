"""Environment variables that can change a result, without the secrets that environments also hold."""

import re
from collections.abc import Mapping

# Prefixes and names read by TensorFlow, Keras, XLA, the CUDA libraries, thread pools, the loader and the allocator.
_ALLOWED_PREFIXES = (
    "AUTOGRAPH_",
    "BLIS_",
    "CUBLAS_",
    "CUDA_",
    "CUDNN_",
    "DNNL_",
    "GOMP_",
    "KERAS_",
    "KMP_",
    "MALLOC_",
    "MKL_",
    "NCCL_",
    "NVIDIA_",
    "OMP_",
    "ONEDNN_",
    "OPENBLAS_",
    "TCMALLOC_",
    "TF2_",
    "TF_",
    "XLA_",
)
# Terraform's variables begin with TF_ as well, and TF_VAR_ holds whatever its user likes.
_FOREIGN_PREFIXES = ("TF_VAR_", "TF_CLI_", "TF_HTTP_", "TF_CLOUD_", "TF_REGISTRY_")

_ALLOWED_NAMES = frozenset(
    {
        "ITEX_ENABLE_NEXTPLUGGABLE_DEVICE",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "PYTHONHASHSEED",
        "PYTHONMALLOC",
        "PYTHONOPTIMIZE",
    }
)

_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|SIGNATURE|BEARER|PASS$|PWD$", re.IGNORECASE
)

# Greedy on purpose, up to the last @ of the word: an unescaped password may hold any of :, / and @.
_URL_USERINFO = re.compile(r"://\S*@")
# What begins with a slash is a path, as in models:/name@alias.
_BARE_USERINFO = re.compile(r"(?<![^\s:/=,])[^\s:/=,]+:(?!/)\S+@")
# `token=…`, `"password": "…"`, `--api-key …`: the secret ends where its quotes or its word ends. A lone "key" is not
# enough, since ordinary messages speak of keys.
_SECRET_SETTING = re.compile(
    r"""(?<![\w.-])((?:--)?[\w.-]*(?:token|secret|passw(?:or)?d|passphrase|credentials?|authorization|cookie|signature"""
    r"""|[_.-](?:auth|key|pass|pwd)|apikey|accesskey|secretkey)["']?\s*[=:]\s*|--[\w-]*(?:token|secret|password|key)\s+)"""
    r"""(?:(?:Basic|Bearer)\s+)?(?:"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|\S+)""",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(Bearer\s+)[\w.~+/=-]+", re.IGNORECASE)
# Tokens that are known by their shape: AWS, GitHub, Hugging Face, Databricks, JSON web tokens.
_TOKEN = re.compile(
    r"\b(?:A[KS]IA[A-Z0-9]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}|hf_[A-Za-z0-9]{20,}|dapi[0-9a-f]{32}"
    r"|eyJ[\w-]{8,}\.[\w-]+\.[\w-]*)"
)

MASK = "***"


def result_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Pick the variables that can change a result, sorted by name, with their values masked.

    A variable whose name speaks of a secret is left out whole.
    """
    return {name: mask(value) for name, value in sorted(environ.items()) if _is_allowed(name)}


def mask(text: str) -> str:
    """Replace by `***` every credential in *text* that its surroundings or its shape give away.

    Those are the user information of URLs, settings such as `token=…`, bearer tokens, and tokens of well-known makers.
    The result is valid Unicode, so that it can be written anywhere.
    """
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    text = _URL_USERINFO.sub(f"://{MASK}@", text)
    text = _BARE_USERINFO.sub(f"{MASK}@", text)
    text = _SECRET_SETTING.sub(rf"\g<1>{MASK}", text)
    text = _BEARER.sub(rf"\g<1>{MASK}", text)
    return _TOKEN.sub(MASK, text)


def _is_allowed(name: str) -> bool:
    if _SECRET_NAME.search(name) or name.startswith(_FOREIGN_PREFIXES):
        return False
    return name in _ALLOWED_NAMES or name.startswith(_ALLOWED_PREFIXES)
