"""Holds packaging/kubernetes against what Kubernetes knows, against the settings, and against itself.

The fields that the manifests use are named here with their types, as in Kubernetes' API reference: a field that is misspelled, or stands
where it does not belong, would be passed over by a cluster without a word.
"""

import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).parent.parent.parent
FOLDER = ROOT / "packaging/kubernetes"

LABELS = {str: str}
SELECTOR = {"matchLabels": LABELS}
PORT_NAME = str
PROBE = {
    "httpGet": {"path": str, "port": PORT_NAME}, "periodSeconds": int, "timeoutSeconds": int, "failureThreshold": int,
}
AMOUNTS = {"cpu": str, "memory": str}
CONTAINER = {
    "name": str, "image": str, "args": [str],
    "env": [{"name": str, "value": str, "valueFrom": {"secretKeyRef": {"name": str, "key": str}}}],
    "ports": [{"name": str, "containerPort": int}],
    "startupProbe": PROBE, "livenessProbe": PROBE, "readinessProbe": PROBE,
    "lifecycle": {"preStop": {"sleep": {"seconds": int}}},
    "resources": {"requests": AMOUNTS, "limits": AMOUNTS},
    "securityContext": {"allowPrivilegeEscalation": bool, "readOnlyRootFilesystem": bool, "capabilities": {"drop": [str]}},
    "volumeMounts": [{"name": str, "mountPath": str}],
}
POD = {
    "metadata": {"labels": LABELS},
    "spec": {
        "restartPolicy": str, "terminationGracePeriodSeconds": int, "automountServiceAccountToken": bool, "enableServiceLinks": bool,
        "securityContext": {
            "runAsNonRoot": bool, "runAsUser": int, "runAsGroup": int, "fsGroup": int, "seccompProfile": {"type": str},
        },
        "topologySpreadConstraints": [
            {"maxSkew": int, "topologyKey": str, "whenUnsatisfiable": str, "labelSelector": SELECTOR},
        ],
        "containers": [CONTAINER],
        "volumes": [{"name": str, "emptyDir": {"sizeLimit": str}}],
    },
}
SPECS = {
    ("batch/v1", "Job"): {"backoffLimit": int, "ttlSecondsAfterFinished": int, "template": POD},
    ("apps/v1", "Deployment"): {
        "replicas": int, "revisionHistoryLimit": int, "selector": SELECTOR, "template": POD,
        "strategy": {"type": str, "rollingUpdate": {"maxUnavailable": int, "maxSurge": int}},
    },
    ("v1", "Service"): {
        "clusterIP": str, "publishNotReadyAddresses": bool, "selector": LABELS,
        "ports": [{"name": str, "port": int, "targetPort": PORT_NAME}],
    },
    ("policy/v1", "PodDisruptionBudget"): {"maxUnavailable": int, "selector": SELECTOR},
    ("monitoring.coreos.com/v1", "ServiceMonitor"): {
        "jobLabel": str, "selector": SELECTOR, "endpoints": [{"port": str, "path": str, "interval": str}],
    },
}


def misplaced(value, shape, path):
    """What of a value is not of a shape."""
    if isinstance(shape, type):
        # A bool is an int to Python.
        return [] if type(value) is shape else [f"{path}: {value!r} is no {shape.__name__}"]
    if isinstance(shape, list):
        if not isinstance(value, list) or not value:
            return [f"{path}: a list is wanted"]
        return [line for number, item in enumerate(value) for line in misplaced(item, shape[0], f"{path}[{number}]")]
    if not isinstance(value, dict):
        return [f"{path}: an object is wanted"]
    found = []
    for name, item in value.items():
        inner = shape.get(name, shape.get(str))
        found += [f"{path}.{name}: there is no such field"] if inner is None else misplaced(item, inner, f"{path}.{name}")
    return found


def problems(settings):
    """What is wrong with the manifests; `settings` are the names of the variables that the program knows."""
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    files = {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml"}
    found = []
    if files != set(kustomization["resources"]):
        found.append(f"kustomization.yaml names {kustomization['resources']}, and there are {sorted(files)}")
    objects = {}
    for name in sorted(files):
        for manifest in yaml.safe_load_all((FOLDER / name).read_text()):
            kind, title = (manifest.get("apiVersion"), manifest.get("kind")), manifest["metadata"]["name"]
            objects[kind[1], title] = manifest
            shape = {"apiVersion": str, "kind": str, "metadata": {"name": str, "labels": LABELS}, "spec": SPECS.get(kind, {})}
            found += misplaced(manifest, shape, f"{name}: {title}")
    if found:
        return found
    return pods(objects, kustomization, settings) + references(objects)


def pods(objects, kustomization, settings):
    """Whether pods are what the image and the program expect."""
    dockerfile = (ROOT / ".docker/Dockerfile").read_text()
    user, data = re.search(r"^USER (\d+)", dockerfile, re.M)[1], re.search(r"CARILLON_DATA_DIR=(\S+)", dockerfile)[1]
    version = re.search(r'static let version = "(.*)"', (ROOT / "Sources/carillon/Process/Release.swift").read_text())[1]
    keys = set(re.findall(r"--from-literal=(\w+)=", (FOLDER / "README.md").read_text()))
    images = {image["name"]: image["newTag"] for image in kustomization["images"]}
    found, used = [], set()
    for (kind, name), manifest in objects.items():
        if kind not in ("Deployment", "Job"):
            continue
        pod = manifest["spec"]["template"]["spec"]
        security, [container] = pod["securityContext"], pod["containers"]
        if (security["runAsUser"], security["runAsGroup"]) != (int(user), int(user)):
            found.append(f"{name}: the image's user is {user}")
        if images.get(container["image"]) != version:
            found.append(f"{name}: the image {container['image']} is not {version} in kustomization.yaml")
        for variable in container["env"]:
            used |= {variable["valueFrom"]["secretKeyRef"]["key"]} if "valueFrom" in variable else set()
            if variable["name"] not in settings:
                found.append(f"{name} is given {variable['name']}, which is no setting")
        ports = {port["name"] for port in container.get("ports", [])}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if probe in container and container[probe]["httpGet"]["port"] not in ports:
                found.append(f"{name}: {probe} asks a port that is not named")
        mounted = {mount["name"]: mount["mountPath"] for mount in container.get("volumeMounts", [])}
        if set(mounted) != {volume["name"] for volume in pod.get("volumes", [])}:
            found.append(f"{name}: volumes and mounts differ")
        if kind == "Deployment" and data not in mounted.values():
            found.append(f"{name}: nothing is mounted at {data}, and the rest cannot be written to")
        pause = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        if kind == "Deployment" and (pause < 1 or pod["terminationGracePeriodSeconds"] <= 20 + pause):
            found.append(f"{name}: it needs a pause for balancers, and 20 seconds more to end")
    if used != keys:
        found.append(f"README.md makes the secret with {sorted(keys)}, and pods want {sorted(used)}")
    return found


def references(objects):
    """Whether those that name others find them."""
    replicas = objects["Deployment", "carillon"]["spec"]
    labels = replicas["template"]["metadata"]["labels"]
    ports = {port["name"] for port in replicas["template"]["spec"]["containers"][0]["ports"]}
    other = objects["Job", "carillon-migrate"]["spec"]["template"]["metadata"]["labels"]
    found = []
    for (kind, name), manifest in objects.items():
        spec = manifest["spec"]
        if kind in ("Deployment", "PodDisruptionBudget", "Service"):
            wanted = spec["selector"] if kind == "Service" else spec["selector"]["matchLabels"]
            if not wanted.items() <= labels.items() or wanted.items() <= other.items():
                found.append(f"{kind} {name} selects something else than the replicas")
        if kind == "Service":
            found += [f"Service {name}: no port {port}" for port in {port["targetPort"] for port in spec["ports"]} - ports]
        if kind == "ServiceMonitor":
            wanted = spec["selector"]["matchLabels"].items()
            services = [one for (of, _), one in objects.items() if of == "Service" and wanted <= one["metadata"]["labels"].items()]
            known = {port["name"] for service in services for port in service["spec"]["ports"]}
            if len(services) != 1 or not {end["port"] for end in spec["endpoints"]} <= known:
                found.append(f"ServiceMonitor {name} does not find the metrics")
    return found
