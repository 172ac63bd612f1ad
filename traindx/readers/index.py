"""What is to be known of every format before it is asked. Made by `python -m docs.generate`."""

from __future__ import annotations

from typing import Any

FORMATS: tuple[tuple[Any, ...], ...] = (
    ('traindx.readers.formats.boosting', 'boosting', 0.98, False, True, True, ()),
    ('traindx.readers.formats.csv_table', 'csv', 1.0, False, True, False, ('*.csv', '*.tsv')),
    ('traindx.readers.formats.detectron2_json', 'detectron2-json', 0.95, False, True, False, ()),
    ('traindx.readers.formats.hf_trainer', 'hf-trainer', 1.0, False, True, True, ()),
    ('traindx.readers.formats.json_document', 'json', 0.55, False, True, False, ('*.json',)),
    ('traindx.readers.formats.jsonl', 'jsonl', 0.6, False, True, False, ('*.jsonl', '*.ndjson')),
    ('traindx.readers.formats.keras_log', 'keras-csv', 0.85, False, True, False, ()),
    ('traindx.readers.formats.lightning_csv', 'lightning-csv', 0.9, False, True, True, ()),
    ('traindx.readers.formats.mlflow', 'mlflow', 0.95, True, True, True, ('*.db', '*.sqlite', '*.sqlite3')),
    ('traindx.readers.formats.mlflow_metric', 'mlflow-metric', 0.9, False, True, False, ()),
    ('traindx.readers.formats.mmengine_json', 'mmengine-json', 0.95, False, True, False, ()),
    ('traindx.readers.formats.sacred', 'sacred', 0.98, False, True, True, ()),
    ('traindx.readers.formats.sb3', 'stable-baselines', 0.98, False, True, True, ()),
    ('traindx.readers.formats.sb3_evaluations', 'sb3-evaluations', 1.0, True, True, False, ('*.npz',)),
    ('traindx.readers.formats.store', 'traindx', 1.0, True, True, True, ('*.arrows',)),
    ('traindx.readers.formats.tensorboard', 'tensorboard', 1.0, True, True, True, ('*tfevents*', '*.v2')),
    ('traindx.readers.formats.text', 'text', 0.5, False, True, False, ('*.log', '*.out', '*.err', '*.txt', '*.md', '*.gz')),
    ('traindx.readers.formats.torch_trace', 'torch-trace', 1.0, False, True, False, ()),
    ('traindx.readers.formats.wandb_store', 'wandb', 1.0, True, True, True, ('*.wandb',)),
    ('traindx.readers.formats.wandb_summary', 'wandb-summary', 0.95, False, True, False, ()),
    ('traindx.readers.formats.xla_trace', 'xla-trace', 1.0, False, True, False, ()),
    ('traindx.readers.formats.xplane', 'xplane', 1.0, False, True, True, ('*.xplane.pb',)),
    ('traindx.readers.formats.yolo_csv', 'yolo-csv', 0.95, False, True, False, ()),
)
