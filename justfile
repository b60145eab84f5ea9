# The tools of this checkout's virtual environment where there is one, else those on the PATH.
export PATH := justfile_directory() / ".venv/bin" + ":" + env("PATH")
# Tests start many processes, each of which would compile all modules where no bytecode is kept.
export PYTHONDONTWRITEBYTECODE := ""
typescript := "typescript@5.9.3"

# List the recipes.
default:
    @just --list

# Everything that CI runs, save the applications and what is slow.
check: static test

# All that needs no browser: style, types, layers, dependencies, page scripts, generated documents, manifests, the site.
[parallel]
static: lint types layers scripts docs-check workflows manifests site

# Style and form.
lint:
    ruff check
    ruff format --check

# Types, strictly.
types:
    pyright

# Rooms import downwards only; what is imported is declared.
layers:
    lint-imports
    deptry .

# Types of the page's own scripts; those that pages get minified are the same in that form.
scripts:
    #!/usr/bin/env bash
    set -euo pipefail
    if ! command -v npm >/dev/null; then
        echo "npm is missing: the types and the minified forms of the page scripts are NOT checked"
        exit 0
    fi
    npx --yes --package {{ typescript }} -- tsc --project tsconfig.json
    npx --yes --package {{ typescript }} -- node scripts/compare_minified.js mcp_browser/dom/{,page/}*.js

# The files of GitHub against their schemas, which are shipped with the checker; each job has a limit of time.
workflows:
    check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
    check-jsonschema --builtin-schema custom.github-workflows-require-timeout .github/workflows/*.yml
    check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
    check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/wish.yml
    check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml

# The files of Docker Compose against its schema, which is shipped with the checker.
manifests:
    check-jsonschema --builtin-schema vendor.compose-spec manifests/container/compose*.yaml

# The tests, in four processes, without the applications and what is slow; arguments go to pytest.
test *arguments:
    pytest -n 4 --dist worksteal -m "not apps and not slow" {{ arguments }}

# Write the golden files anew: what users see of tools, results, settings, addresses; look at their difference.
golden:
    -pytest -q tests/golden --inline-snapshot=create,fix
    pytest -q tests/golden

# The tests that drive real applications from packages.
apps *arguments: (_long "apps and not slow" arguments)

# What takes long: end to end, browsers of their own, hostile pages, load, conformance.
slow *arguments: (_long "slow and not nightly" arguments)

# Both in one run, as CI does.
apps-and-slow *arguments: (_long "(apps or slow) and not nightly" arguments)

# In five processes, since these tests also wait; files in their order, so that no long one comes last.
_long tests arguments:
    pytest -n 5 --dist loadfile --no-loadscope-reorder --durations=40 -m "{{ tests }}" {{ arguments }}

# All that takes long, also what CI leaves to the night, with as many clients and examples as there are.
nightly *arguments:
    TEST_LOAD=full pytest -n 3 --dist loadfile --durations=25 -m "slow or nightly" {{ arguments }}

# `test` and `nightly` with branch coverage, which must be high enough.
coverage:
    coverage erase
    PYTEST_ADDOPTS="--cov --cov-append --cov-report= --cov-fail-under=0" just test
    PYTEST_ADDOPTS="--cov --cov-append --cov-report= --cov-fail-under=0 --cov-config=.ci/slow.coveragerc" just nightly
    coverage report

# Write the generated parts of README.md and docs/.
docs:
    python scripts/generate_docs.py

# Whether the generated parts are up to date.
docs-check:
    python scripts/generate_docs.py --check

# Build the documentation's site in site/, strictly: links and their anchors are checked.
site:
    zensical build --clean --strict

# Draw the pictures of README.md and docs/ anew.
pictures:
    python scripts/draw_snapshot.py
    python scripts/draw_report.py
    python scripts/draw_view.py

# A fresh Debian in a chroot, in which a user without rights installs the wheel, configures a client and reads a page.
fresh-machine *folder:
    scripts/fresh_machine.sh {{ folder }}

# Measure, side by side with other servers; see benchmarks/README.md.
bench *arguments:
    python -m benchmarks {{ arguments }}

# Do whole tasks on real applications with this server and another, and count what the tools return.
tasks *arguments:
    python -m benchmarks.tasks {{ arguments }}

# Do ten tasks from a shell with this project's commands and with three others'; into docs/terminal.md.
terminal *arguments:
    python -m benchmarks.terminal {{ arguments }}

# Open and click pages that carry what real sites do; into docs/performance.md.
carried *arguments:
    python -m benchmarks.carried {{ arguments }}

# Time pages with and without the egress proxy; writes its section of docs/performance.md.
egress *arguments:
    python -m benchmarks.egress {{ arguments }}

# Frames, processor time and delay of the live view; writes its section of docs/view.md.
view *arguments:
    python -m benchmarks.view {{ arguments }}

# Measure what is listed and found of what a person could operate, on pages of packages; writes docs/wholeness.md.
wholeness *arguments:
    python -m benchmarks.wholeness {{ arguments }}

# Carry out operations on widgets of many libraries, with playwright-mcp beside it; writes its section of docs/comparison.md.
operations *arguments:
    python -m benchmarks.operations {{ arguments }}

# Many clients over HTTP: `load`, `soak`, `chaos`, `replicas`; each writes its section of docs/reliability.md.
remote *arguments:
    python -m benchmarks.remote {{ arguments }}

# A small language model does tasks by run_task and by browser-use's agent; see benchmarks/README.md.
small-model *arguments:
    python -m benchmarks.agent {{ arguments }}

# Whether a model picks the right tool from this server's list, and from playwright-mcp's; see benchmarks/README.md.
tool-choice *arguments:
    python -m benchmarks.tool_choice {{ arguments }}

# Write requirements.lock anew, by uv: each package that is declared, with hashes, for every platform.
lock:
    uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes \
        --no-strip-extras --no-emit-index-url --no-emit-find-links --no-header --no-annotate --upgrade --output-file requirements.lock

# Compare the locked packages with the known advisories; says so where these cannot be reached.
audit:
    python scripts/audit_packages.py

# Put style and form right where a tool can.
fix:
    ruff check --fix
    ruff format
