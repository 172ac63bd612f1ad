from dataclasses import dataclass, field


@dataclass
class OptimConfig:
    lr: float = 3e-3
    weight_decay: float = 1e-3
    clip: float = 5.0


@dataclass
class Config:
    points: int = 1500
    width: int = 32
    epochs: int = 12
    batch: int = 50
    optim: OptimConfig = field(default_factory=OptimConfig)
