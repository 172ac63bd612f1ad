"""Names of signals and counters that are not English: their words in English, for the tables of names."""

from __future__ import annotations

import re
from functools import cache, lru_cache

# Chinese (simplified, traditional), Japanese, Korean: the words that tutorials and their readers print.
TERMS = {
    "train": "训练 訓練 トレーニング 훈련 학습",
    "val": "验证 校验 驗證 検証 검증",
    "test": "测试 測試 テスト 테스트",
    "loss": "损失值 损失函数 损失 損失 ロス 손실",
    "accuracy": "准确率 准确度 正确率 精确度 準確率 準確度 正確率 正解率 精度 정확도",
    "precision": "精确率 精確率 適合率 정밀도",
    "recall": "召回率 再現率 재현율",
    "lr": "学习率 學習率 学習率 학습률",
    "reward": "奖励 獎勵 報酬 보상",
    "avg": "平均 평균",
    "epoch": "轮次 周期 轮 輪 エポック 에포크 에폭",
    "iteration": "迭代次数 迭代 반복",
    "step": "步数 步數 步 ステップ 스텝",
    "time": "耗时 用时 耗時 時間 시간",
}
# German, French, Spanish, Portuguese, Italian, Russian: whole words only, as they are parts of English ones.
WHOLE_TERMS = {
    "train": "entraînement entrenamiento treinamento обучение",
    "val": "validierung validación validação валидация",
    "test": "тест prueba",
    "loss": "verlust perte pérdida perdida perda perdita потери потеря",
    "accuracy": "genauigkeit exactitude exactitud precisión acurácia accuratezza точность",
    "lr": "lernrate",
    "avg": "durchschnitt moyenne promedio среднее",
    "epoch": "epoche époque época epoca эпоха",
    "iteration": "itération iteración iteração iterazione итерация",
    "step": "schritt paso passo шаг",
    "time": "zeit temps tiempo время",
}
WORDS = {word: english for english, words in TERMS.items() for word in words.split()}
WHOLE_WORDS = {word: english for english, words in WHOLE_TERMS.items() for word in words.split()}
COUNTING_WORDS = tuple(
    form
    for word, english in {**WORDS, **WHOLE_WORDS}.items()
    if english in ("epoch", "iteration", "step")
    for form in dict.fromkeys((word, word.capitalize()))
)


@cache
def any_term() -> re.Pattern[str]:
    """Any of the words, the longest first."""
    return re.compile("|".join(sorted(WORDS, key=len, reverse=True)))


@cache
def whole_term() -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(WHOLE_WORDS)})(?![^\W_])", re.IGNORECASE)


@lru_cache(maxsize=4096)
def in_english(name: str) -> str:
    """The name with the words that are known in English, set apart by blanks; an English one as it is."""
    name = whole_term().sub(lambda found: WHOLE_WORDS[found[0].lower()], name)
    return name if name.isascii() else any_term().sub(lambda found: f" {WORDS[found[0]]} ", name).strip()
