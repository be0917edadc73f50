"""What is checked on each GPU: every probe of the worker's catalog, and products beside fp64."""
from gpu_check.limits import Unknown, limit_of
from gpu_check.process import Child, Worker

PRODUCTS = "products"  # the check that is not a probe's
LATE = {"status": "timeout", "reason": "not tried: no time was left"}


class NothingToCheck(Exception):
    """Why, in the worker's words."""


class WrongParam(Exception):
    """Of the command line."""


def check_all(programs, params, sizes, deadline):
    """All that is found, as --json writes it. Throws NothingToCheck, WrongParam."""
    worker_program, products_program = programs
    with Worker(worker_program) as worker:
        catalog = asked(worker, deadline, cmd="catalog")
        probes = with_params(of_one_gpu_or_node(catalog["probes"]), params)
        inventory = take_inventory(worker, probes, deadline)
        simulated = worker.is_simulated()
    gpus = inventory.pop("gpus", [])
    if not gpus:
        raise NothingToCheck(inventory.get("reason", "there is no GPU here"))
    found = {
        "worker": f"{catalog['version']} {catalog['build']}",
        "simulated": simulated,
        "inventory": inventory,
        "gpus": [{"index": index, "facts": gpu, "checks": []} for index, gpu in enumerate(gpus)],
    }
    for probe in probes:
        check_probe(worker_program, probe, found["gpus"], deadline)
    for gpu in found["gpus"]:
        gpu["checks"].append(check_products(products_program, gpu["facts"], sizes, deadline))
    return found


def of_one_gpu_or_node(probes):
    """Those of several GPUs with each other, each with a worker of its own, are left to runs of fleetbench."""
    return [probe for probe in probes if not probe.get("joins_workers")]


def asked(worker, deadline, **command):
    answer = worker.ask(deadline.share(), **command)
    if answer["status"] != "ok":
        raise NothingToCheck(answer["reason"])
    return answer


def with_params(probes, given):
    """The probes, each with "params": its defaults, and what was given."""
    by_name = {probe["name"]: probe for probe in probes}
    for probe in probes:
        known = probe["params_schema"].get("properties", {})
        probe["params"] = {key: schema["default"] for key, schema in known.items() if "default" in schema}
    for name, key, value in given:
        if name not in by_name:
            raise WrongParam(f'--param: probe "{name}" is none of {", ".join(by_name)}')
        known = by_name[name]["params_schema"].get("properties", {})
        if key not in known:
            raise WrongParam(f'--param: {name} has no "{key}", but {", ".join(known) or "no parameters"}')
        by_name[name]["params"][key] = value
    return probes


def take_inventory(worker, probes, deadline):
    """What the probe says that measures nothing but tells which GPUs there are."""
    for probe in probes:
        if probe["facts_only"]:
            asked(worker, deadline, cmd="prepare", probe=probe["name"], params=probe["params"], work={})
            detail = asked(worker, deadline, cmd="measure")["detail"]
            if "gpus" in detail:
                return {key: value for key, value in detail.items() if key not in ("resources", "evidence")}
    raise NothingToCheck("the worker has no probe that tells which GPUs there are")


def check_probe(program, probe, gpus, deadline):
    """Adds what the probe says of each GPU."""
    if probe["facts_only"]:
        for gpu in gpus:
            gpu["checks"].append({"what": probe["name"], "status": "ok", "rates": []})
    elif probe.get("all_gpus"):
        check_together(program, probe, gpus, deadline)
    else:
        for gpu in gpus:
            uuid = gpu["facts"]["uuid"]
            gpu["checks"].append(outcome(probe, gpu, *measured(program, probe, uuid, {}, deadline)))


def check_together(program, probe, gpus, deadline):
    """A probe of all GPUs at once answers with an outcome for each, in detail.devices."""
    named = [{"label": f"gpu{gpu['index']}", "uuid": gpu["facts"]["uuid"]} for gpu in gpus]
    metrics, answer = measured(program, probe, "", {"gpus": named}, deadline)
    devices = {device["uuid"]: device for device in answer.get("detail", {}).get("devices", [])}
    absent = {"status": "failed", "reason": f"{probe['name']} says nothing of this GPU"}
    for gpu in gpus:
        of_gpu = devices.get(gpu["facts"]["uuid"], absent) if answer["status"] == "ok" else answer
        gpu["checks"].append(outcome(probe, gpu, metrics, of_gpu))


def measured(program, probe, uuid, more_work, deadline):
    """The probe's metrics, and its last answer: that of the measurement, or the first that is not ok."""
    if deadline.is_over():
        return [], LATE
    limit = deadline.share()
    name, params = probe["name"], probe["params"]
    with Worker(program, uuid) as worker:
        metrics = worker.ask(limit, cmd="metrics", probe=name, params=params)
        if metrics["status"] != "ok":
            return [], metrics
        calibrated = worker.ask(limit, cmd="calibrate", probe=name, params=params)
        if calibrated["status"] != "ok":
            return metrics["metrics"], calibrated
        work = {**calibrated["work"], **more_work}
        answer = worker.ask(limit, cmd="prepare", probe=name, params=params, work=work)
        if answer["status"] == "ok":
            answer = worker.ask(limit, cmd="measure")
        return metrics["metrics"], answer


def outcome(probe, gpu, metrics, answer):
    check = {"what": probe["name"], "status": answer["status"], "rates": []}
    if answer.get("reason"):
        check["reason"] = answer["reason"]
    if answer["status"] != "ok":
        return check
    if len(metrics) != len(answer["values"]):
        check.update(status="failed", reason=f"{len(answer['values'])} values for {len(metrics)} metrics")
        return check
    for metric, value in zip(metrics, answer["values"]):
        check["rates"].append(rate(probe["name"], metric, value, gpu["facts"]))
    check["gpu"] = answer.get("detail", {}).get("gpu", {})
    check["not_measured"] = answer.get("detail", {}).get("not_measured", [])
    return check


def rate(probe, metric, value, facts):
    shown = {"metric": metric["name"], "unit": metric["unit"], "value": value, "covariate": metric["covariate"]}
    if not metric["covariate"]:
        try:
            shown["limit"] = limit_of(probe, metric["name"], facts)
        except Unknown as reason:
            shown["limit"], shown["why_no_limit"] = None, str(reason)
    return shown


def check_products(program, facts, sizes, deadline):
    """Every precision of the chip by every algorithm that cuBLASLt proposes; see tests/gpu/product_check.hpp."""
    check = {"what": PRODUCTS, "rates": [], "products": []}
    if deadline.is_over():
        return {**check, **LATE}
    limit = deadline.share()
    with Child([program, facts["uuid"], *map(str, sizes)]) as child:
        try:
            while (product := child.answer(limit)) is not None:
                check["products"].append(product)
        except TimeoutError:
            return {**check, "status": "timeout", "reason": after(check, f"did not end within {limit.seconds:.1f} s")}
        died = child.how_it_died()
        code = child.exit_code()
    if code != 0:
        return {**check, "status": "failed", "reason": after(check, died)}
    return {**check, **worst(check["products"])}


def after(check, what):
    done = [f"{product['precision']} of {product['n']} rows" for product in check["products"]]
    return f"{what}, after {done[-1]}" if done else f"{what}, before the first product"


def worst(products):
    for status in ("wrong", "failed"):
        for product in products:
            if product["status"] == status:
                return {"status": status, "reason": f"{product['precision']}: {product['reason']}"}
    if not any(product["status"] == "ok" for product in products):
        reasons = [product["reason"] for product in products]
        return {"status": "skipped", "reason": reasons[0] if reasons else "the chip has none of the precisions"}
    return {"status": "ok"}
