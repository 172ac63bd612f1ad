"""Which canonical signal a logged name means.

A name is cut into words; words that name the split (train, val) and words that say nothing (epoch, avg,
total ...) are taken out, and what is left is looked up. Names that mean nothing known keep their own words
under `train/` or `val/`, or stay as they are when the split is unknown and the direction too.

Words that are not English are put into English first."""

import re
from functools import cache, lru_cache

import msgspec

from traindx.vocabulary import direction_of


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


TRAIN_WORDS = word_set("train training tr trn learn fit trl")
VAL_WORDS = word_set("""val vali valid validate validation eval evaluation test testing tst dev heldout tel te
    vl vld va holdout""")
# Words around a quantity that do not change what it is.
FILLER = word_set("""epoch step iter iteration batch avg avr average mean smoothed inner total global metrics metric
    scalars curr full lm overall running current cur per log the of final set all main x model 0
    rollout minibatch mini nats""") | (ARTICLES := word_set("de da do del di du la le el"))

# Words that say how often a metric is written; the others may belong to its name ("mean_iou").
WHEN = (
    word_set("epoch step iter iteration batch minibatch mini metrics metric scalars avg log rollout")
    | ARTICLES
)

# Canonical name -> the word sets (filler removed, sorted) that mean it, in any split.
PHRASES = {
    "lr": (
        "lr, learning rate, lrate, learning_rate, base lr, lr lr, lr adam, lr adamw, lr sgd, adam lr, lr "
        "pg0, lr0, lr group0, lr param group, optimizer lr, lr cell, rate learning lr, lrm, learing rate, learing_rate"
    ),
    "grad_norm": (
        "grad norm, gnorm, gradnorm, gradient norm, norm, grad norms, gradients norm, norm grad, grad l2, "
        "norm unclipped grad, grad 2.0 norm, 2.0 norm grad, grad raw norm, gn, g norm, grdn"
    ),
    "loss_scale": (
        "loss scale, grad scale, scaler scale, lscale, amp scale, scale loss, grad scaler, fp16 grad scale"
    ),
    "skipped_steps": "number skipped iterations, skipped iterations, skipped steps, skipped, overflow",
    "nan_steps": "nan number iterations, nan iterations, number nan iterations",
    "time/step": (
        "time, time ms, elapsed ms time, elapsed time, dt, time sec, sec, elapsed s time, time s, dt ms, "
        "batch time, batch_time, timing train, sps time, timing, timing s, iter_time, s time it, duration, elapsed "
        "time iteration, elapsed, elapsed s, elapsed sec, elapsed seconds, elapsed ms, elapsed min, elapsed "
        "minutes, each step time, time taken, cost time, time consumed, ms, us, compute time, "
        "batch cost, avg batch cost, updt s"
    ),
    "time/data": (
        "data time, data, time data, dataload time, data loading time, data wait, data ms time, reader cost, "
        "avg reader cost, data cost, data s"
    ),
    "time/forward": "forward time, fwd time, forward",
    "time/backward": "backward time, bwd time, backward",
    "time/optimizer": "optimizer time, opt time, optim time",
    "throughput": (
        "ips, samples second, samples sec, throughput, wps, tokens second, tokens sec, tok sec, tok s, img s, "
        "imgs s, imgs sec, fps, fps time, speed, examples sec, examples second, images sec, images second, "
        "words second, tps, tgs, samples s, tokens s, it s, steps second, seq s, toks s, iter s, iters s, "
        "iterations sec, steps sec, batches sec, sps, charts sps"
    ),
    "mem/device": (
        "memory, max mem, mem, gpu mem, gpu memory, cuda memory, cuda mem, vram, max memory, res mem, "
        "memory allocated, peak memory, mem gb, memory gb, max memory allocated, mem gpu, peak mem"
    ),
    "mem/host": "ram, rss, cpu mem, cpu memory, host mem, ram gb, memory ram, rss mb, mem rss, mem host",
    "util/device": "gpu util, gpu utilization, gpu, util, utilization, gpu usage, device util",
    "batch_size": "batch size, bs, batchsize, bsz, global batch size, total batch size, batch size train",
    "epoch": "epoch, epochs",
    "quant/loss_gap": (
        "quant loss gap, quantization loss gap, quantization gap, quant gap, qat loss gap, qat gap, gap "
        "quant, loss gap quant"
    ),
    "weight_norm": "weight norm, param norm, params norm, parameter norm, pnorm, wn",
}
# Numbers of quantized modules keep the module's name.
OF_QUANTIZED = r"quant[/_](zero_frac(?:tion)?|majority|error|kept|clipped|flips|moved|gradient)/(.+)"
LOOKUP = {tuple(sorted(p.split())): name for name, phrases in PHRASES.items() for p in phrases.split(", ")}

METRICS = {
    "accuracy": (
        "acc, accs, accuracies, categorical accuracy, sparse categorical accuracy, binary accuracy, acc1, top1, "
        "acc top1, acc@1, prec@1, top 1 acc, accuracy top 1, top 1 accuracy, top1 acc, accu, masked "
        "accuracy, pixel acc, token accuracy"
    ),
    "perplexity": "ppl",
    "bpd": "bits dim, bits dimension",
    "iou": "io u",
    "error": "err",
    "map50": "map@.5, map@0.5",
    "map50_95": "map@.5 .95, map@0.5 0.95",
    "reward": (
        "ep rew, mean reward, episode reward, averagereturn, 100ep mean reward, 100 episode reward, avg "
        "episode reward, episodic return, episode return mean, cumulative reward, total reward, r, ep "
        "reward, return, average return, eprewmean, episode return, rewards, rwd, ret"
    ),
}
RENAMED = {phrase: metric for metric, phrases in METRICS.items() for phrase in phrases.split(", ")}

# Columns that count or clock; they are never metrics.
NOISE = word_set("""eta wall timestamp _timestamp _runtime _step runtime train_wall pid port seed eta_seconds eta_sec
    eta_s seconds_left time_left passed remaining date datetime v_num rank n_parameters total_epochs max_epochs
    num_epochs n_epochs num_train_epochs max_steps total_iters train_time/batch train_time/token train_time/sample
    train_time/epoch""") | {"eta seconds"}
# Held-out metrics that are never logged on training data.
HELD_OUT_WORDS = word_set("""map map50 ap ap50 ap75 aps apm apl bleu rouge map5095 map75 bleu4 sacrebleu rouge1 rouge2 rougel
    rougelsum meteor cider chrf mota idf1 hota""")


MEMORY_WORDS = word_set("mem memory ram rss vram")
HOST_WORDS = word_set("host cpu ram rss system sys process proc main")
DEVICE_WORDS = word_set("gpu cuda device vram allocated alloc gpu0 cuda0")
AMOUNT_WORDS = word_set("used use usage max peak mb gb mib gib kb bytes in")


SPELLED = re.compile(r"(?<![A-Za-z])(?:held[-_ ]out|r(?:\^2|²))(?![A-Za-z])", re.IGNORECASE)  # as one word


class Role(msgspec.Struct, frozen=True):
    """`signal`: canonical name ("" = not a metric). `rank`: how well the name fits a contested
    signal, lower is better."""

    signal: str
    rank: int


def words_of(name: str) -> list[str]:
    """Words of a logged name, lower case; camelCase is cut, digits stay with their letters."""
    plain = SPELLED.sub(lambda found: "heldout" if found[0][0] in "hH" else "r2", in_english(name[:200]))
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", plain)
    return [w for w in re.split(r"[^a-z0-9@.]+|(?<=[a-z0-9])\.(?=[a-z])", spaced.lower()) if w]


def split_of(words: list[str]) -> str:
    """ "train", "val" or "" from the words of a name."""
    if any(w in VAL_WORDS for w in words):
        return "val"
    return "train" if any(w in TRAIN_WORDS for w in words) else ""


def memory_of(words: list[str]) -> str:
    """Which memory a name is about, "" for none: one word says memory, the others whose and in what unit."""
    given = set(words)
    if (
        len(words) < 2
        or not given & MEMORY_WORDS
        or given - MEMORY_WORDS - HOST_WORDS - DEVICE_WORDS - AMOUNT_WORDS
    ):
        return ""
    if given & DEVICE_WORDS:
        return "mem/device"
    return "mem/host" if given & HOST_WORDS else ""


LOSSES = frozenset({"loss", "losses"})
# What TRL and verl put before the measures of a policy.
GROUPED = r"^(?:objective/|actor/(?=entropy|grad_norm|ppo_kl))"


def role_of(name: str) -> Role:
    """The canonical signal a name means on its own, before other columns are considered."""
    if name.lower().strip() in NOISE or not name.strip():
        return Role("", 9)
    if name.startswith("quant") and (quantized := re.fullmatch(OF_QUANTIZED, name[:200])):
        what = "zero_fraction" if quantized[1] == "zero_frac" else quantized[1]
        return Role(f"quant/{what}/{quantized[2]}", 0)
    words = words_of(re.sub(GROUPED, "", name[:200]))
    split = split_of(words)
    core = [w for w in words if w not in TRAIN_WORDS and w not in VAL_WORDS]
    if len(core) > 1 and LOSSES.issuperset((core[0], core[-1])):
        core = core[1:]  # `Loss/total_loss`: a group's name, as TensorBoard shows it
    kept = [w for w in core if w not in FILLER and not w.isdigit()] or core
    if not kept:
        return Role(name, 9)
    for phrase in (core, kept):
        signal = LOOKUP.get(tuple(sorted(phrase)))
        if signal and (split != "val" or signal in ("lr", "epoch")):
            return Role(signal, 0 if phrase is core else 1)
    if memory := memory_of(kept):
        return Role(memory, 2)
    if kept[0] in ("lr", "learning") and len(kept) > 1:
        return Role("lr/" + "_".join(kept[1:]), 3)
    if kept[-1] == "lr" and len(kept) > 1:
        return Role("lr/" + "_".join(kept[:-1]), 3)
    if kept[-2:] == ["learning", "rate"]:
        return Role("lr/" + "_".join(kept[:-2]), 3)
    named = [w for w in core if w not in WHEN] or kept
    metric = RENAMED.get(" ".join(kept)) or RENAMED.get(" ".join(named)) or "_".join(named)
    if not split and (
        HELD_OUT_WORDS & set(kept) or kept[-1].startswith("map") or kept[0].startswith("map@")
    ):
        split = "val"
    if kept in (["loss"], ["losses"]) or metric == "lossall":
        filler = [w for w in core if w in FILLER]
        return Role(f"{split or 'train'}/loss", len(filler) + ("epoch" in filler) + (0 if split else 1))
    if not split and direction_of(metric) == "none":
        return Role(name, 5)
    return Role(f"{split or 'train'}/{metric}", 5)


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
# German, French, Spanish, Portuguese, Italian, Russian, Turkish, Indonesian, Polish, Dutch, Vietnamese, Arabic:
# whole words only, as they are parts of English ones.
WHOLE_TERMS = {
    "train": "entraînement entrenamiento treinamento treino addestramento обучение обучения обучении обучающей eğitim "
    "pelatihan huấn_luyện uczenia التدريب",
    "val": "validierung validación validacion validação validacao validazione валидация валидации валидационной "
    "doğrulama validasi walidacja walidacji validatie kiểm_định kiểm_tra xác_thực التحقق",
    "test": "тест тесте теста тестовой prueba الاختبار",
    "loss": "verlust perte pérdida perdida perda perdita perdua pèrdua потери потерь потеря kayıp kaybı kerugian "
    "verlies strata mất_mát hàm_mất_mát خسارة الخسارة",
    "train loss": "trainingsverlust",
    "val loss": "validierungsverlust",
    "test loss": "testverlust",
    "error": "erro erreur errore fehler ошибка ошибки",
    "train error": "trainingsfehler",
    "val error": "validierungsfehler",
    "test error": "testfehler",
    "reward": "recompensa récompense belohnung ricompensa награда phần_thưởng",
    "accuracy": "genauigkeit exactitude exactitud précision precisión precisão acurácia accuratezza точность doğruluk "
    "doğruluğu akurasi dokładność nauwkeurigheid độ_chính_xác دقة الدقة",
    "train accuracy": "trainingsgenauigkeit",
    "val accuracy": "validierungsgenauigkeit",
    "test accuracy": "testgenauigkeit",
    "lr": "lernrate tốc_độ_học",
    "avg": "durchschnitt moyenne promedio среднее trung_bình",
    "epoch": "epoche époque época epoca эпоха epok epoka dönem vòng vòng_lặp حقبة الحقبة",
    "iteration": "itération iteración iteração iterazione итерация",
    "step": "schritt paso passo шаг adım bước",
    "time": "zeit temps tiempo tempo время thời_gian",
}
WORDS = {word: english for english, words in TERMS.items() for word in words.split()}
WHOLE_WORDS = {
    word.replace("_", " "): english for english, words in WHOLE_TERMS.items() for word in words.split()
}
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
    words = "|".join(sorted(WHOLE_WORDS, key=len, reverse=True)).replace(" ", "[ _]")
    return re.compile(rf"(?:(?<![^\W_])[dl]['’])?(?<![^\W_])(?P<word>{words})(?![^\W_])", re.IGNORECASE)


@lru_cache(maxsize=4096)
def in_english(name: str) -> str:
    """The name with the words that are known in English, set apart by blanks; an English one as it is."""
    name = whole_term().sub(lambda found: WHOLE_WORDS[found["word"].lower().replace("_", " ")], name)
    return name if name.isascii() else any_term().sub(lambda found: f" {WORDS[found[0]]} ", name).strip()
