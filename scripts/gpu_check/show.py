"""What was found, for people."""

SIMULATED = "SIMULATED: the CUDA libraries are those of tests/gpu_sim; nothing here says anything of a real GPU."


def text(found):
    lines = [SIMULATED] if found["simulated"] else []
    lines += head(found)
    for gpu in found["gpus"]:
        lines += ["", *of_gpu(gpu)]
    return "\n".join([*lines, "", verdict(found)])


def head(found):
    inventory = found["inventory"]
    lines = [
        f"fleetbench-gpu-worker {found['worker']}; CUDA {inventory.get('cuda_runtime', '?')}, driver "
        f"{inventory.get('driver', '?')} (good for CUDA {inventory.get('cuda_of_driver', '?')}), "
        f"cuBLASLt {inventory.get('cublaslt', '?')}"
    ]
    on_pci = len(inventory.get("on_pci", []))
    if on_pci > len(found["gpus"]):
        lines.append(f"The PCI tree shows {on_pci} GPUs of NVIDIA, CUDA {len(found['gpus'])}.")
    return lines + [f"Not measured: {part['what']}: {part['reason']}" for part in inventory.get("not_measured", [])]


def of_gpu(gpu):
    facts = gpu["facts"]
    lines = [
        f"GPU {gpu['index']}  {facts['model']}, {facts['address']}, {facts['uuid']}",
        f"  compute capability {facts['compute_capability']}, {facts['multiprocessors']} SMs up to "
        f"{mega(facts, 'max_sm_clock_hz')} MHz, memory {facts.get('memory_bus_bits', '?')} bits at "
        f"{mega(facts, 'max_memory_clock_hz')} MHz, PCIe generation {whole(facts, 'max_pcie_generation')}, "
        f"{whole(facts, 'max_pcie_width')} lanes",
    ]
    for check in gpu["checks"]:
        lines += of_check(check, facts)
    return lines


def whole(facts, name, unit=1):
    return f"{facts[name] / unit:.0f}" if facts.get(name) else "?"


def mega(facts, name):
    return whole(facts, name, 1e6)


def of_check(check, facts):
    reason = f": {check['reason']}" if check.get("reason") else ""
    lines = [f"  {check['what']:<15} {check['status']}{reason}"]
    lines += [of_rate(rate) for rate in check["rates"] if not rate["covariate"]]
    under_load = [scaled(r["value"], r["unit"]) for r in check["rates"] if r["covariate"] and r["value"] is not None]
    if under_load:
        lines.append(f"    under load: {', '.join(under_load)}")
    lines += [f"    {note}" for note in notes(check, facts)]
    return lines + [of_product(product) for product in check.get("products", [])]


def notes(check, facts):
    link = check.get("gpu", {})
    for name, most in (("pcie_generation", "max_pcie_generation"), ("pcie_width", "max_pcie_width")):
        if name in link and facts.get(most) and link[name]["max"] < facts[most]:
            yield f"{name} was {link[name]['max']:g} at most, of {facts[most]:g}"
    reasons = link.get("clock_event_reasons", {})
    if reasons:
        yield "clocks were held back: " + ", ".join(f"{name} {share:.0%}" for name, share in reasons.items())
    for part in check.get("not_measured", []):
        yield f"not measured: {part['what']}: {part['reason']}"


def of_rate(rate):
    name = f"    {rate['metric']:<40}"
    if rate["value"] is None:
        return f"{name} not here"
    value = f"{name} {scaled(rate['value'], rate['unit']):>15}"
    if rate["limit"] is None:
        return f"{value}   limit unknown: {rate['why_no_limit']}"
    return f"{value}   {rate['value'] / rate['limit']:6.1%} of {scaled(rate['limit'], rate['unit'])}"


def scaled(value, unit):
    for prefix, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if unit in ("FLOP/s", "B/s", "Hz") and value >= factor:
            return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"


def of_product(product):
    what = f"    {product['precision']:<5} {product['n']:>5} rows  {product['status']}"
    if product["status"] != "ok":
        return f"{what}: {product['reason']}"
    bound = "none" if product["bound"] is None else f"{100 * product['bound']:.2g} % of a typical sum"
    error = f"{100 * product['largest_error']:.2g} % of its bound"
    return f"{what}, by {product['algorithms']} algorithms: error {error}; bound {bound}"


def verdict(found):
    checks = [(gpu["index"], check) for gpu in found["gpus"] for check in gpu["checks"]]
    bad = [
        f"GPU {index} {check['what']} {check['status']}"
        for index, check in checks
        if check["status"] not in ("ok", "skipped")
    ]
    skipped = [f"GPU {index} {check['what']}" for index, check in checks if check["status"] == "skipped"]
    gpus = len(found["gpus"])
    right = f"All results are right: {len(checks) - len(skipped)} checks on {gpus} GPU{'' if gpus == 1 else 's'}."
    lines = [f"NOT RIGHT: {', '.join(bad)}" if bad else right]
    if skipped:
        lines.append(f"Skipped: {', '.join(skipped)}")
    if found["simulated"]:
        lines.append(SIMULATED)
    return "\n".join(lines)
