"""The manifests for operators: valid, of one piece, and true to the server's settings and figures."""

import asyncio
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML
from starlette.requests import Request

from mcp_browser.cli.arguments import parse_arguments
from mcp_browser.cli.sources import load_settings
from mcp_browser.server.calls import CallOutcome
from mcp_browser.server.http.limits import Reason
from mcp_browser.server.http.metrics import Metrics
from mcp_browser.server.startup import CLOSING_SECONDS
from mcp_browser.settings import Settings
from tests.support.kubernetes import FOLDERS, chart, problems, render, rendered
from tests.support.packages import debian_package
from tests.support.process import succeeds
from tests.test_manifests import version

ROOT = Path(__file__).parent.parent
MANIFESTS = ROOT / "manifests"
DOCKERFILE = (MANIFESTS / "container" / "Dockerfile").read_text("utf-8")


def parsed(path: str) -> Any:
    return cast("Any", YAML(typ="safe")).load(MANIFESTS / path)


def settings_of(variables: dict[str, str]) -> Settings:
    """The settings that a server has with these variables."""
    given = {name: value for name, value in variables.items() if name.startswith("MCP_BROWSER_")}
    return load_settings({}, environment=given).settings


def of_the_image(target: str = "") -> dict[str, str]:
    """What the Dockerfile sets, up to the end of a stage."""
    text = DOCKERFILE.rpartition("FROM server\n")[0] if target == "server" else DOCKERFILE
    return dict(re.findall(r"(MCP_BROWSER_\w+)=(\S+)", text))


def composed(*files: str) -> dict[str, Any]:
    """The service of the server, with what later files change of it."""
    service: dict[str, Any] = {}
    for file in files:
        own = parsed(f"container/{file}")["services"]["mcp-browser"]
        environment = {**service.get("environment", {}), **own.get("environment", {})}
        service = {**service, **own, "environment": environment}
    return service


@pytest.mark.parametrize("variant", [[], ["compose.browserless.yaml"], ["compose.selenium.yaml"]])
def test_the_services_settings_are_the_servers(variant: list[str]) -> None:
    service = composed("compose.yaml", *variant)
    image = of_the_image(service["build"].get("target", ""))
    said = {name: re.sub(r"\$\{.*?\}", "x", value) for name, value in service["environment"].items()}

    settings = settings_of(image | said)

    assert settings.server.http
    assert settings.access.tokens == Path("/run/secrets/tokens")
    assert settings.browser.starts_browser == (not variant)
    ends_within = settings.server.shutdown_timeout + CLOSING_SECONDS
    assert int(service["stop_grace_period"].removesuffix("s")) > ends_within


CLOSED = """acct add_key bpf clone3 create_module delete_module fanotify_init finit_module fsopen init_module
io_uring_setup ioperm iopl kexec_file_load kexec_load keyctl mount mount_setattr move_mount nfsservctl
open_by_handle_at open_tree perf_event_open pivot_root process_vm_readv process_vm_writev ptrace quotactl
reboot request_key setns settimeofday swapoff swapon sysfs umount2 userfaultfd uselib vhangup"""
"""What no browser needs and an intruder would use."""


def test_the_seccomp_profile_allows_what_the_sandbox_needs_and_little_else() -> None:
    profile = json.loads((MANIFESTS / "seccomp" / "profile.json").read_text("utf-8"))
    allowed: dict[str, list[Any]] = {}
    for rule in profile["syscalls"]:
        if rule["action"] == "SCMP_ACT_ALLOW":
            for name in rule["names"]:
                allowed.setdefault(name, []).append(rule.get("args"))

    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    assert allowed["chroot"] == [None]
    for name in ("clone", "unshare"):
        ((argument,),) = allowed[name]
        namespaces = {"mnt": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000}
        assert argument["value"] == sum(namespaces.values())
        assert (argument["op"], argument["valueTwo"]) == ("SCMP_CMP_MASKED_EQ", 0)
    assert not allowed.keys() & set(CLOSED.split())


def of_kind(folder: str, kind: str) -> dict[str, dict[str, Any]]:
    """The specifications of a kind in what a folder renders to, by name."""
    return {one["metadata"]["name"]: one["spec"] for one in rendered(folder) if one["kind"] == kind}


def templates(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The templates of pods, each with the name of what makes them."""
    for one in rendered(folder):
        spec = one.get("spec", {})
        if template := spec.get("template") or spec.get("jobTargetRef", {}).get("template"):
            yield one["metadata"]["name"], template


@pytest.mark.apps
def test_no_pod_has_more_rights_than_it_needs() -> None:
    for where, (name, template) in ((folder, one) for folder in FOLDERS for one in templates(folder)):
        pod = template["spec"]
        assert pod["enableServiceLinks"] is False, name
        assert pod["automountServiceAccountToken"] is False, name
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            own = {**pod.get("securityContext", {}), **container["securityContext"]}
            assert own["allowPrivilegeEscalation"] is False, name
            assert own["capabilities"] == {"drop": ["ALL"]}, name
            assert own["seccompProfile"]["type"] in {"RuntimeDefault", "Localhost"}, name
            assert own.get("runAsNonRoot") is True or where == "seccomp", name
            assert "memory" in container["resources"]["limits"], name


OVERLAYS = [folder for folder in FOLDERS if folder != "seccomp"]


def server_of(folder: str) -> tuple[dict[str, Any], Settings]:
    """The pod of the server in an overlay, and the settings that it has."""
    pod = dict(templates(folder))["mcp-browser"]["spec"]
    (container,) = pod["containers"]
    (source,) = container["envFrom"]
    (config,) = (
        one["data"] for one in rendered(folder) if one["metadata"]["name"] == source["configMapRef"]["name"]
    )
    image = of_the_image("server" if container["image"].endswith("-server") else "")
    env = {one["name"]: one.get("value", "mcp-browser-0") for one in container.get("env", [])}
    return pod, settings_of(image | config | env)


@pytest.mark.apps
@pytest.mark.parametrize("folder", OVERLAYS)
def test_a_pods_settings_are_the_servers_and_it_has_time_to_end(folder: str) -> None:
    pod, settings = server_of(folder)
    (container,) = pod["containers"]

    assert container["image"].partition(":")[2].removesuffix("-server") == version()
    waits = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod["terminationGracePeriodSeconds"] > waits + settings.server.shutdown_timeout + CLOSING_SECONDS
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsUser"] == 10001
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert settings.access.tokens is not None
    assert {"/data", "/tmp", "/home/browser", str(settings.access.tokens.parent)} <= mounts
    (secret,) = (volume["secret"] for volume in pod["volumes"] if "secret" in volume)
    # The group may read it, as the server lets it where a file holds hashes.
    assert secret["defaultMode"] == 0o440
    assert bool(settings.server.replica) == (folder != "one-replica")
    assert bool(settings.sessions.profiles) == (folder == "one-replica")
    profile = pod["securityContext"]["seccompProfile"]
    assert (profile["type"] == "Localhost") == settings.browser.starts_browser
    assert settings.browser.starts_browser == (folder != "selenium-grid")


@pytest.mark.apps
def test_the_autoscaler_leaves_room_in_each_server() -> None:
    (scaler,) = (one for one in rendered("many-replicas") if one["kind"] == "HorizontalPodAutoscaler")
    (metric,) = scaler["spec"]["metrics"]
    _, settings = server_of("many-replicas")

    assert metric["pods"]["metric"]["name"] in figures()
    assert int(metric["pods"]["target"]["averageValue"]) < settings.sessions.max_sessions
    (servers,) = of_kind("many-replicas", "StatefulSet").values()
    assert "replicas" not in servers, "two would say how many"


@pytest.mark.apps
@pytest.mark.parametrize("folder", OVERLAYS)
def test_what_is_named_is_there(folder: str) -> None:
    parts = rendered(folder)
    names = {(one["kind"], one["metadata"]["name"]) for one in parts}
    labels: list[Any] = [template["metadata"]["labels"] for _, template in templates(folder)]
    for one in parts:
        kind: str = one["kind"]
        spec: Any = one.get("spec", {})
        rules: list[Any] = spec["rules"] if kind == "HTTPRoute" else []
        for rule in rules:
            assert all(("Service", backend["name"]) in names for backend in rule["backendRefs"])
        if kind in {"Service", "PodMonitor", "PodDisruptionBudget"}:
            wanted = spec["selector"].get("matchLabels", spec["selector"])
            assert any(wanted.items() <= label.items() for label in labels), one["metadata"]["name"]
        if target := spec.get("scaleTargetRef"):
            assert (target["kind"], target["name"]) in names
        assert kind == "Namespace" or one["metadata"]["namespace"] == "mcp-browser"
    # Nothing is reached but by a rule.
    assert ("NetworkPolicy", "nothing-else") in names


@pytest.mark.apps
def test_the_router_knows_the_overlays_names() -> None:
    rules = (MANIFESTS / "kubernetes/overlays/many-replicas/router.conf").read_text("utf-8")
    ((name, servers),) = of_kind("many-replicas", "StatefulSet").items()
    services = of_kind("many-replicas", "Service")

    assert services[servers["serviceName"]]["clusterIP"] == "None"
    assert f"$named_server.{servers['serviceName']}.mcp-browser.svc.cluster.local:8585;" in rules
    assert f"set $any {name}.mcp-browser.svc.cluster.local:8585;" in rules
    assert services[name]["ports"][0]["port"] == 8585
    patterns = re.findall(r"\(\?<\w+>(.*?)\)", rules)
    assert len(patterns) == 5
    assert all(re.fullmatch(one, f"{name}-12") for one in patterns)


def parts_of(text: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Parts by kind and name, without what Helm and kustomize do each in their way.

    kustomize adds a digest to the names of what pods read, Helm an annotation to the pods.
    """
    text = re.sub(r"\b(mcp-browser|router)-[a-z0-9]{10}\b", r"\1", text)
    parts: list[dict[str, Any]] = list(cast("Any", YAML(typ="safe")).load_all(text))
    for part in parts:
        part["metadata"].pop("labels", None)
        part.get("spec", {}).get("template", {}).get("metadata", {}).pop("annotations", None)
    return {(one["kind"], one["metadata"]["name"]): one for one in parts if one["kind"] != "Namespace"}


@pytest.mark.apps
@pytest.mark.parametrize(("folder", "many"), [("one-replica", "false"), ("many-replicas", "true")])
def test_the_chart_is_what_kustomize_makes(folder: str, many: str) -> None:
    made = chart("--set", f"many={many}")
    assert made.returncode == 0, made.stderr
    assert parts_of(made.stdout) == parts_of(render(folder))


@pytest.mark.apps
def test_the_charts_values_reach_its_parts_and_others_are_refused() -> None:
    values = "many=true,host=web.example.org,tokens=who,gateway.namespace=edge,networkPolicies=false,"
    values += "podMonitor=false,autoscaling.max=30,storage=1Gi"
    texts = "image.repository=images.example.org/browser,image.tag=7,settings.MCP_BROWSER_MAX_SESSIONS=64"
    parts = parts_of(chart("--namespace", "elsewhere", "--set", values, "--set-string", texts).stdout)
    assert not {"NetworkPolicy", "PodMonitor"} & {kind for kind, _ in parts}
    assert {part["metadata"]["namespace"] for part in parts.values()} == {"elsewhere"}
    settings = parts["ConfigMap", "mcp-browser"]["data"]
    assert settings["MCP_BROWSER_MAX_SESSIONS"] == "64"
    assert settings["MCP_BROWSER_PUBLIC_URL"] == "https://web.example.org"
    servers = parts["StatefulSet", "mcp-browser"]["spec"]
    pod = servers["template"]["spec"]
    assert pod["containers"][0]["image"] == "images.example.org/browser:7"
    assert [one["secret"]["secretName"] for one in pod["volumes"] if "secret" in one] == ["who"]
    assert servers["volumeClaimTemplates"][0]["spec"]["resources"]["requests"] == {"storage": "1Gi"}
    assert parts["HorizontalPodAutoscaler", "mcp-browser"]["spec"]["maxReplicas"] == 30
    route = parts["HTTPRoute", "mcp-browser"]["spec"]
    assert (route["hostnames"], route["parentRefs"][0]["namespace"]) == (["web.example.org"], "edge")
    assert "mcp-browser.elsewhere.svc.cluster.local" in parts["ConfigMap", "router"]["data"]["router.conf"]
    assert ("HTTPRoute", "mcp-browser") not in parts_of(chart("--set", "gateway.enabled=false").stdout)

    for value, words in (
        ("nonsense=1", "nonsense is not allowed"),
        ("settings.MAX_SESSIONS=a", "MAX_SESSIONS"),
        ("host=", "host"),
    ):
        refused = chart("--set", value)
        assert (refused.returncode != 0, words in refused.stderr) == (True, True), value


@pytest.mark.apps
@pytest.mark.slow
def test_what_is_rendered_follows_the_schemas() -> None:
    assert problems() == ""


def figures() -> dict[str, set[str]]:
    """The samples that /metrics shows once each has happened, with the names of their labels."""
    metrics = Metrics(sessions=lambda: 1, connections=lambda: 1, restarts=lambda: 1)
    metrics.called("click_element", "ok", 1)
    metrics.refused("rate")
    answer = asyncio.run(metrics.show(Request({"type": "http", "method": "GET", "headers": []})))
    families = text_string_to_metric_families(bytes(answer.body).decode())
    return {sample.name: set(sample.labels) for family in families for sample in family.samples}


def queries() -> Iterator[str]:
    """Each query of the alerts and of the dashboard."""
    for group in parsed("prometheus/alerts.yaml")["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    dashboard = json.loads((MANIFESTS / "grafana" / "dashboard.json").read_text("utf-8"))
    for panel in dashboard["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]["query"]


def test_alerts_and_dashboard_ask_for_figures_that_there_are() -> None:
    known = figures()
    values = {
        "outcome": set(get_args(CallOutcome)),
        "reason": set(get_args(Reason)),
        "process": {"server", "children"},
    }
    added = {"job", "instance"}  # By Prometheus
    asked: set[str] = set()
    for query in queries():
        names = re.findall(r"\b(?:mcp_browser|process)_\w+", query)
        asked.update(names)
        for name in names or ["up"]:
            assert name == "up" or name in known, query
        labels = {label for name in names for label in known.get(name, added)} | added
        for label, _, value in re.findall(r'(\w+)(=~|!=|=)"([^"]*)"', query):
            assert label in labels, query
            assert label not in values or set(value.split("|")) <= values[label], query
        for by in re.findall(r"by \((.*?)\)", query):
            assert set(by.split(", ")) <= labels, query

    own = {name for name in known if name.startswith("mcp_browser_") and not name.endswith("_created")}
    assert asked >= own, "each figure of the server's is shown somewhere"


@pytest.mark.apps
def test_the_alerts_fire_when_they_should_and_each_query_is_one(tmp_path: Path) -> None:
    promtool = shutil.which("promtool") or str(debian_package("prometheus") / "usr/bin/promtool")
    succeeds(promtool, "check", "rules", "alerts.yaml", cwd=MANIFESTS / "prometheus")
    succeeds(promtool, "test", "rules", "alerts.test.yaml", cwd=MANIFESTS / "prometheus")
    shutil.copy(MANIFESTS / "prometheus" / "alerts.yaml", tmp_path)
    shutil.copy(MANIFESTS / "container" / "prometheus.yaml", tmp_path)
    succeeds(promtool, "check", "config", "prometheus.yaml", cwd=tmp_path)
    rules = [
        {"record": f"query:{number}", "expr": query.replace("$__rate_interval", "1m")}
        for number, query in enumerate(queries())
        if not query.startswith("label_values")
    ]
    (tmp_path / "queries.yaml").write_text(json.dumps({"groups": [{"name": "queries", "rules": rules}]}))
    succeeds(promtool, "check", "rules", "queries.yaml", cwd=tmp_path)


UNIT = MANIFESTS / "systemd" / "mcp-browser.service"


def test_the_service_ends_and_starts_again_as_the_servers_exit_codes_say() -> None:
    lines = re.sub(r"\\\n\s*", "", UNIT.read_text("utf-8")).splitlines()
    unit = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    arguments = parse_arguments(unit["ExecStart"].split()[1:])
    settings = load_settings(arguments.flags, environment={}).settings
    assert arguments.command == "serve"
    assert int(unit["TimeoutStopSec"]) > settings.server.shutdown_timeout + CLOSING_SECONDS
    assert (unit["Restart"], unit["RestartPreventExitStatus"]) == ("on-failure", "2")
    assert (unit["SuccessExitStatus"], unit["KillMode"]) == ("143", "mixed")
    assert str(settings.files.output_dir).startswith(f"/var/lib/{unit['StateDirectory']}")


@pytest.mark.apps
def test_the_proxy_of_compose_takes_its_configuration(tmp_path: Path) -> None:
    caddy = shutil.which("caddy") or str(debian_package("caddy") / "usr/bin/caddy")
    words = ("adapt", "--validate", "--config", MANIFESTS / "container" / "Caddyfile")
    assert "mcp-browser:8585" in succeeds(caddy, *words, env={**os.environ, "HOME": str(tmp_path)})
