"""What is to be known of every format before it is asked. Made by `python -m docs.generate`."""

from __future__ import annotations

from typing import Any

ROWS: tuple[tuple[Any, ...], ...] = (
    ('traindx.readers.formats.boosting', 'boosting', 0.98, False, True, True, (), (b'{', b'iter', b'"iter', b'#', b'%', b'//'), ()),
    ('traindx.readers.formats.csv_table', 'csv', 0.5, False, True, False, ('*.csv', '*.tsv'), (), ()),
    ('traindx.readers.formats.detectron2_json', 'detectron2-json', 0.95, False, True, False, (), (b'{',), (b'"iteration"',)),
    ('traindx.readers.formats.hf_trainer', 'hf-trainer', 1.0, False, True, True, (), (b'{',), (b'"log_history"',)),
    ('traindx.readers.formats.json_document', 'json', 0.55, False, True, False, ('*.json',), (b'{', b'['), ()),
    ('traindx.readers.formats.jsonl', 'jsonl', 0.6, False, True, False, ('*.jsonl', '*.ndjson'), (b'{',), ()),
    ('traindx.readers.formats.keras_log', 'keras-csv', 0.85, False, True, False, (), (b'epoch', b'"epoch', b'#', b'%', b'//'), (b'loss',)),
    ('traindx.readers.formats.lightning_csv', 'lightning-csv', 0.9, False, True, True, (), (), (b'epoch', b'step', b',')),
    ('traindx.readers.formats.mlflow', 'mlflow', 0.95, False, True, True, ('*.db', '*.sqlite', '*.sqlite3'), (b'SQLite format 3\x00',), ()),
    ('traindx.readers.formats.mlflow_metric', 'mlflow-metric', 0.9, False, True, False, (), (b'0', b'1', b'2', b'3', b'4', b'5', b'6', b'7', b'8', b'9'), ()),
    ('traindx.readers.formats.mmengine_json', 'mmengine-json', 0.95, False, True, False, (), (b'{',), (b'"iter"|"env_info"',)),
    ('traindx.readers.formats.notebook', 'notebook', 0.97, False, True, False, ('*.ipynb',), (b'{',), (b'"cell_type"',)),
    ('traindx.readers.formats.sacred', 'sacred', 0.98, False, True, True, (), (b'{',), (b'"steps"',)),
    ('traindx.readers.formats.sb3', 'stable-baselines', 0.98, False, True, True, (), (), (b'#|%|//|rew|approx|Return',)),
    ('traindx.readers.formats.sb3_evaluations', 'sb3-evaluations', 1.0, False, True, False, ('*.npz',), (b'PK\x03\x04',), ()),
    ('traindx.readers.formats.store', 'traindx', 1.0, False, True, True, ('*.arrows',), (b'\xff\xff\xff\xff',), ()),
    ('traindx.readers.formats.tensorboard', 'tensorboard', 1.0, True, True, True, ('*tfevents*', '*.v2'), (), ()),
    ('traindx.readers.formats.text', 'text', 0.5, False, True, False, ('*.log', '*.out', '*.err', '*.txt', '*.md', '*.gz'), (), ()),
    ('traindx.readers.formats.torch_trace', 'torch-trace', 1.0, False, True, False, (), (b'{',), (b'"traceEvents"',)),
    ('traindx.readers.formats.wandb_store', 'wandb', 1.0, False, True, True, ('*.wandb',), (b':W&B',), ()),
    ('traindx.readers.formats.wandb_summary', 'wandb-summary', 0.95, False, True, False, (), (b'{',), (b'_step|_runtime|_timestamp|_wandb',)),
    ('traindx.readers.formats.xla_trace', 'xla-trace', 1.0, False, True, False, (), (b'{',), (b'"traceEvents"', b'"process_name"')),
    ('traindx.readers.formats.xplane', 'xplane', 1.0, False, True, True, ('*.xplane.pb',), (b'\n',), ()),
    ('traindx.readers.formats.yolo_csv', 'yolo-csv', 0.95, False, True, False, (), (), (b'/',)),
)
