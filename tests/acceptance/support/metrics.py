"""Reads metrics from standard input with the parsers of the reference client,
and writes the samples as JSON. Argument: text or openmetrics."""

import json
import sys

from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as parse_openmetrics,
)
from prometheus_client.parser import (
    text_string_to_metric_families as parse_text,
)

parse = parse_openmetrics if sys.argv[1] == "openmetrics" else parse_text
families = []
for family in parse(sys.stdin.read()):
    families.append({
        "name": family.name, "type": family.type, "help": family.documentation,
        "samples": [{"name": s.name, "labels": s.labels, "value": s.value}
                    for s in family.samples],
    })
json.dump(families, sys.stdout)
