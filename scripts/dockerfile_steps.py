"""The steps of manifests/container/Dockerfile, carried out in a Debian of its own, without Docker."""

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTAINER = ROOT / "manifests" / "container"
MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
STARTED = time.monotonic()
# Instructions that change no file.
_WITHOUT_FILES = {"ENTRYPOINT", "HEALTHCHECK", "VOLUME", "EXPOSE"}
CHROOT = shutil.which("chroot") or "/usr/sbin/chroot"


@dataclass
class Stage:
    """A stage of the Dockerfile: what it starts from, and its instructions as they are written."""

    base: str
    name: str
    steps: list[tuple[str, str]]


@dataclass
class Image:
    """What a stage has come to: its files, and what the instructions say of its processes."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])
    user: str = "root"
    folder: str = "/"
    entry: list[str] = field(default_factory=list[str])
    health: list[str] = field(default_factory=list[str])


def say(text: str) -> None:
    """Show what comes now, and when."""
    sys.stdout.write(f"==> {text} ({time.monotonic() - STARTED:.0f} s)\n")
    sys.stdout.flush()


def stages(text: str, given: dict[str, str]) -> list[Stage]:
    """The stages of a Dockerfile; `given` are arguments that stand for its own."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    instructions = re.sub(r"\\\n", " ", "\n".join(lines)).splitlines()
    arguments: dict[str, str] = {}
    found: list[Stage] = []
    for instruction in instructions:
        word, _, rest = instruction.strip().partition(" ")
        rest = rest.strip()
        if word == "ARG" and not found:
            name, _, value = rest.partition("=")
            arguments[name] = given.get(name, value)
        elif word == "FROM":
            base, _, name = filled_in(rest, arguments).partition(" AS ")
            found.append(Stage(base, name, []))
        else:
            found[-1].steps.append((word, rest))
    return found


def filled_in(text: str, values: dict[str, str]) -> str:
    """A text with the values of `$NAME` and `${NAME}` in it."""
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda found: values.get(found[1] or found[2], ""), text)


def build(folder: Path, arguments: dict[str, str]) -> Image:
    """Carry out all stages, save those whose outcome is there already; the last one's image."""
    images: dict[str, Image] = {}
    image = None
    digest = _digest_of_context()
    for number, stage in enumerate(stages((CONTAINER / "Dockerfile").read_text("utf-8"), arguments)):
        base = images.get(stage.base) or Image(debian(folder, stage.base))
        name = stage.name or f"stage-{number}"
        image = Image(folder / name, dict(base.environment), base.user, base.folder, base.entry, base.health)
        images[name] = image
        steps = [(word, rest) for word, rest in stage.steps if word not in _WITHOUT_FILES]
        digest = hashlib.sha256(f"{digest} {stage.base} {steps}".encode()).hexdigest()
        done = folder / f"{name}.done"
        known = done.exists() and done.read_text() == digest
        say(f"the stage {name}{', which is there' if known else ''}")
        if not known:
            done.unlink(missing_ok=True)
            shutil.rmtree(image.root, ignore_errors=True)
            subprocess.run(["cp", "-a", "--reflink=auto", base.root, image.root], check=True)
        values: dict[str, str] = {}
        for word, rest in stage.steps:
            if not known or word not in {"RUN", "COPY"}:
                carry_out(word, rest, image, images, values)
        done.write_text(digest)
    assert image is not None
    return image


def context() -> Iterator[tuple[Path, str]]:
    """What .dockerignore leaves of the repository: files, with their names in it."""
    for line in (CONTAINER / "Dockerfile.dockerignore").read_text("utf-8").splitlines():
        if line.startswith("!"):
            path = ROOT / line[1:]
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_file() and "__pycache__" not in file.parts:
                    yield file, file.relative_to(ROOT).as_posix()


def _digest_of_context() -> str:
    digest = hashlib.sha256()
    for file, name in context():
        digest.update(f"{name} {file.stat().st_size} ".encode() + file.read_bytes())
    return digest.hexdigest()


def debian(folder: Path, base: str) -> Path:
    """The files of Debian's own image, or what is as good: its smallest system."""
    found = re.fullmatch(r"debian:(\w+)-slim", base)
    assert found, f"not an image of Debian's: {base}"
    root = folder / f"debian-{found[1]}"
    if not (root / "complete").exists():
        say(f"Debian {found[1]}")
        shutil.rmtree(root, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        run(["debootstrap", "--variant=minbase", found[1], str(root), MIRROR])
        (root / "complete").touch()
    return root


def run(command: list[str], environment: dict[str, str] | None = None) -> None:
    """Run a command; what it said is shown where it fails."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{shlex.join(command)} failed:\n{done.stdout.decode(errors='replace')[-4000:]}")


def carry_out(word: str, rest: str, image: Image, images: dict[str, Image], values: dict[str, str]) -> None:
    """One instruction.

    Args:
        word: its first word.
        rest: what follows.
        image: of the stage.
        images: of the stages before, by name.
        values: the stage's arguments, which ARG adds to.
    """
    say(f"    {word} {rest[:70]}")
    match word:
        case "ARG":
            name, _, value = rest.partition("=")
            values[name] = value
        case "ENV":
            for pair in shlex.split(rest):
                name, _, value = pair.partition("=")
                image.environment[name] = filled_in(value, image.environment)
        case "USER":
            image.user = rest
        case "WORKDIR":
            image.folder = rest
            (image.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        case "ENTRYPOINT":
            image.entry = json.loads(rest)
        case "HEALTHCHECK":
            image.health = json.loads(rest.partition("CMD ")[2])
        case "COPY":
            copy(rest.split(), image, images)
        case "RUN":
            with lent(image.root) as own:
                command = [CHROOT, str(image.root), "/bin/sh", "-ec", f"cd {image.folder}\n{rest}"]
                path = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
                apt = {"DEBIAN_FRONTEND": "noninteractive"}
                run(command, {**path, **apt, **own, **values, **image.environment})
        case "VOLUME" | "EXPOSE":
            pass
        case _:
            sys.exit(f"{word} is an instruction that is not known here: say in {__file__} what it does.")


def copy(words: list[str], image: Image, images: dict[str, Image]) -> None:
    """COPY: from another stage, or what .dockerignore leaves of the repository."""
    if words[0].startswith("--from="):
        source, target = images[words[0].removeprefix("--from=")].root / words[1].lstrip("/"), words[2]
        subprocess.run(["cp", "-a", source, image.root / target.lstrip("/")], check=True)
        return
    assert words == [".", "."], words
    for file, name in context():
        target = image.root / image.folder.lstrip("/") / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target)


@contextlib.contextmanager
def lent(root: Path) -> Generator[dict[str, str]]:
    """What a step needs while it runs: devices, names, pip's configuration; the variables that belong to it.

    Nothing of this machine can be written to. Its certificates are a copy at a place of their own, since
    packages change the usual one.
    """
    places: list[Path] = []

    def mount(place: str, *options: str) -> Path:
        inside = root / place.lstrip("/")
        subprocess.run(["mount", *options, inside], check=True)
        places.append(inside)
        return inside

    try:
        (root / "proc").mkdir(exist_ok=True)
        mount("/proc", "-t", "proc", "proc")
        devices = mount("/dev", "-t", "tmpfs", "-o", "mode=755", "tmpfs")
        for name, minor in {"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}.items():
            os.mknod(devices / name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            (devices / name).chmod(0o666)
        own = mount("/run", "-t", "tmpfs", "-o", "mode=755", "tmpfs")
        variables = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        if "PIP_CERT" in variables:
            shutil.copy(variables["PIP_CERT"], own / "certificates.pem")
            variables["PIP_CERT"] = "/run/certificates.pem"
        for source in ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", *_indexes()):
            if not Path(source).exists():
                continue
            place = root / source.lstrip("/")
            if Path(source).is_dir():
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.touch()
            mount(source, "--bind", source)
            subprocess.run(["mount", "-o", "remount,bind,ro", place], check=True)
        yield variables
    finally:
        for place in reversed(places):
            subprocess.run(["umount", place], check=True)


def _indexes() -> Iterator[str]:
    """Folders of this machine that pip's configuration names."""
    said = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    ).stdout
    folders = set(re.findall(r"(?:file://|find-links=')(/[\w./-]+)", said))
    yield from sorted(folder for folder in folders if Path(folder).is_dir())
