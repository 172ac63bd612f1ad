"""What the author of a question says is wrong, by the slug of the rule that would see it in a log."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from math import isclose, log

LOSS = r"(?:loss\w*|error|cost|perplexity|ppl)"
SCORE = r"(?:\w*acc(?:urac\w+|s|_\w+)?|m?ap(?:@?\.?\d\d)?|m?iou|dice|f1|bleu|[wc]er|precision|recall|auc)"
VALIDATION = r"(?:val(?!u|ence|enc)\w*|test\w*|eval\w*|dev)"
UP = r"(?:increas\w*|ris(?:es?|ing)|(?:goes|going|go|jumps?) up|grow\w*|climb\w*)"
DOWN = r"(?:decreas\w*|drop\w*|falls?|falling|(?:goes|going|go) down|reduc\w*)"
POOR = r"(?:low|lower|bad|poor|worse|worst|terrible|random|drop\w*|decreas\w*|fails?)"
GOOD = r"(?:high|good|great|perfect|well|increas\w*|improv\w*|100 ?%|9\d ?%)"
SLOWER = r"(?:(?:get|becom)\w* (?:\w+ )?(?:slow\w*|longer)|slow(?:s|ed|ing) down)"
SUBJECT = r"(?:loss\w*|acc\w*|rewards?|scores?|models?|net\w*|training|generator|agent|m?ap|m?iou|dice|[wc]er|bleu)"
NOT = (
    r"(?:(?:do|does|did|is|are|was|has|have|can|could|will|wo|ca)(?:n['’o]?t| not)|never|not|barely|hardly)"
    r" (?:(?:really|even|actually|properly|seem\w*|appear\w*|get\w*|any|be|been|able|yet|ever|still|to|at|all) ){0,3}"
)
OPPONENT = r"\b(?:{0}\w*|{1}[- _]?loss|loss(?:es)? of (?:the )?{1}|(?-i:(?<!['’]){1}))\b[^.?!]{{0,60}}"
DISCRIMINATOR, GENERATOR = OPPONENT.format("discriminator", "D"), OPPONENT.format("generator", "G")
NOTHING = r"(?:zeros?\b|0(?:\.0+)?(?![\w.]*\d)|vanish\w*)"
PREDICTS = r"(?:predict\w*|outputs?|classif\w*|return\w*|logits|masks?|results?)"
ONE_CLASS = (
    r"(?:the |only |just )*(?:same|one|single|identical|majority) (?:\w+ ){0,2}"
    r"(?:class|label|category|output|prediction|answer|result|value|probabilit\w*|logits?|score)\b"
)
EMPTY = r"(?:black|blanks?|zeros?|background|empty|0|ones?|positive|negative)"
# One batch is learned by heart to see whether model and loop are right.
ON_PURPOSE = (
    r"(?:ting)? (?:(?:on|to|just|only|a|an|the|one|single|small|tiny) ){1,4}"
    r"(?:mini-?)?(?:batch|sample|example|image)\b"
)
# What was done so that nothing goes wrong, unless it went wrong nevertheless.
PREVENTED = (
    r"\b(?:add|us|appl|help|introduc|employ|includ|clip)\w*\b[^.?!]{0,60}"
    r"\b(?:avoid|prevent|mitigat|combat|counter|against)\w* (?:(?!\b(?:but|still|yet|however)\b)[^.?!])*(?:[.!]|$)"
)
WHATEVER = r"(?:always|only|all|every|each|any|regardless|constant|no matter|whatever)"

# A sentence counts for the first that fits: what names its subject most closely comes first.
COMPLAINTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("gradient-norm-explodes", (r"\bexplod\w* gradients?\b", r"\bgrad\w*(?: norms?)? (?:\w+ )?explod", "梯度爆炸")),
    ("gradient-not-finite", (
        r"^(?!.*\bloss\w*\W+(?:\w+\W+){0,3}nan\b)(?=.*\bgrad\w*(?:[ _]norms?)?['\"]?"
        r"(?: \w+){0,2} ?[:=]? ?(?:is |are |becomes? |becoming |of )?(?:nan|inf)s?\b)",
    )),
    ("gradient-norm-vanishes", (r"\bvanish\w* gradients?\b", r"\bgrad\w*(?: norms?)? (?:\w+ )?vanish", "梯度消失")),
    ("memory-grows", (
        r"\b(?:memory|v?ram)\b[^.?!:=]{0,30}\b(?:keeps? (?:increas|grow|ris)|increas|grow|leak)",
        r"\b(?:memory|v?ram)\b[^.?!:=]{0,30}\b(?:get|becom)\w* (?:larger|bigger|higher)",
        r"\b(?:memory|v?ram)\b[^.?!:=]{0,30}\bup (?:with|during|while|after|every|each|until|over)\b",
        "memory leak",
    )),
    ("step-time-creeps", (
        r"\b(?:time|duration|eta)\b[^.?!:=]{0,40}\b(?:increas|grow|longer)",
        r"\bslower and slower|\bmore time (?:and more )?(?:in|for|with|at|after) (?:every|each|later)\b",
        rf"\b(?:epochs?|iterations?|steps?|training|speed)\b[^.?!:=]{{0,30}}\b{SLOWER}",
        r"\b(?:epochs?|iterations?|steps?|training)\b[^.?!:=]{0,30}\btakes? (?:\w+ )?longer (?:and|than the|each|every)",
    )),
    ("step-waits-for-data", (
        r"\bGPU\b[^.?!]{0,40}\b(?:util\w*|usage|load)\b[^.?!]{0,40}(?:\b(?:low|zero)\b|\b[1-3]?\d ?%|~ ?[1-3]?\d\b)",
        r"\b(?:low|bad|poor) GPU|\bGPUs?\b[^.?!]{0,20}\bidle",
        r"\butil\w* of (?:the )?GPU[^.?!]{0,30}\b(?:low|[1-3]?\d ?%)",
        r"\b[5-9]\d ?% of (?:the )?(?:\w+ )?time\b[^.?!]{0,40}\bdata",
        r"\bwait\w* (?:for|on) (?:the )?(?:data|batch)|\bdata ?load\w*[^.?!]{0,30}\b(?:slow|bottleneck|most of)",
    )),
    ("loss-not-finite", (
        r"(?:\b(?:is|are|was|be|get\w*|got|becom\w+|became|turn\w*|goes|show\w*|of|always|been|value) |\b)nans?\b(?! \d)"
        r"(?=.*[a-z]{3}|[.!?]?\s*$)",
        r"[为成是了现]\s?nan|nan\s?(?:了|的问题|值)",
    )),
    ("discriminator-wins", (
        rf"^(?=.*{DISCRIMINATOR}(?:\b{DOWN}|\blow|\b(?:to|is|near|almost|around) {NOTHING}))"
        rf"(?=.*{GENERATOR}\b(?:{UP}|high|large|explod\w*))",
        rf"{DISCRIMINATOR}(?:wins|too strong|\bto {NOTHING})",
    )),
    ("posterior-collapses", (rf"\bkld?(?:\b|_)[^.?!]{{0,60}}(?:\b{NOTHING}|\bcollaps)", r"\bposterior collaps")),
    ("validation-beats-training", (
        rf"\b{VALIDATION} (?:\w+ )?{LOSS}\b[^.?!]{{0,60}}\b(?:lower|less|smaller|below|better)\b[^.?!]{{0,30}}\btrain",
        rf"\btrain\w* {LOSS}\b[^.?!]{{0,60}}(?:\b(?:higher|larger|greater|above)\b[^.?!]{{0,30}}| > )\b{VALIDATION}\b",
        rf"\b{VALIDATION} {SCORE}\b[^.?!]{{0,40}}\b(?:higher|better|above)\b[^.?!]{{0,20}}\btrain",
    )),
    ("validation-gap-grows", (
        rf"(?<!not )(?<!n't )(?<!no )over-?fit(?!{ON_PURPOSE})|过拟合",
        r"(?:验证|测试)集?[^。？！]{0,20}(?:上升|升高|变大|增大|很低|下降不)",
        rf"\btrain\w*\b[^.?!:=]{{0,40}}\b(?:better|higher) than\b[^.?!:=]{{0,30}}\b{VALIDATION}\b(?! loss)",
        rf"\b{VALIDATION}\b[^.?!:=]{{0,40}}\b(?:increas|ris(?:es|ing)|goes? up|(?:very|much|so|too) low)",
        rf"(?<!and )\b{VALIDATION} (?:{LOSS}|{SCORE})\b[^.?!:=]{{0,20}}\b{NOT}(?:decreas|improv|drop|go\w* down)",
        rf"\b{NOT}generali[sz]|\b{VALIDATION} {SCORE}\b[^.?!:=]{{0,20}}\b(?:{DOWN}|gets? worse)",
        rf"\btrain\w*\b[^.?!]{{0,60}}\b{GOOD}[^.?!]{{0,60}}\b{VALIDATION}\b[^.?!]{{0,50}}\b(?:{POOR}\b|[1-7]\d ?%)",
        rf"\b(?:high|good|great) (?:\w+ ){{0,3}}train\w*\b[^.?!]{{0,40}}\b{POOR} (?:\w+ ){{0,3}}{VALIDATION}\b",
    )),
    ("predictions-collapse", (
        rf"\b{PREDICTS}\b[^.?!]{{0,50}}\b{WHATEVER}\b[^.?!]{{0,40}}\b{ONE_CLASS}",
        rf"\b{ONE_CLASS}[^.?!]{{0,40}}\b{WHATEVER}\b",
        r"\b(?:always|only|just) (?:predict|output|return|classif)\w*\b|\bpredict\w* (?:\w+ ){0,3}(?:always|only) ",
        rf"\b{PREDICTS}\b[^.?!]{{0,40}}\b(?:all|completely|entirely|totally|only) (?:the )?{EMPTY}\b",
        r"\bpredict\w* (?!the |a |an |well|correct)(?:\w+ ){1,2}(?:for|on) (?:all|every|each|any)\b|\bmode collapse",
        r"\bpredicts? (?:only |just |always )?the (?:mean|average)\b|\b(?:straight|flat|horizontal) line\b",
        rf"\b(?:predicted|output) (?:\w+ )?(?:images?|masks?) (?:are|is) {EMPTY}\b|\ball (?:negative|positive) predict",
    )),
    ("loss-has-no-floor", (
        rf"\b{LOSS}\b[^.?!:]{{0,40}}\b(?:negative(?! log)|(?:below|less than) (?:zero|0)|minus)\b",
        rf"\bnegative (?:\w+ )?{LOSS}\b",
        r"loss[^。？！]{0,20}(?:变成|变为|为|是|出现)了?负",
    )),
    ("metric-constant-or-impossible", (
        rf"\b{SCORE}\b[^.?!:]{{0,40}}\b(?:always|constantly|stuck|(?:stay|remain|keep)(?:s|ed|ing)?)\b",
        rf"\b{SCORE}\b[^.?!:]{{0,40}}\b(?:is|are|was|were) (?:still |only |at )*(?:zero\b|0(?![\d.]*[1-9]))",
        rf"\b{SCORE}\b[^.?!:]{{0,40}}\b(?:is|are) (?:the )?same (?:for|in|at|after|every|each)\b",
        rf"\b(?:0|zero) (?:for (?:the )?)?{SCORE}\b",
        rf"\bloss(?: is|:| of)? {NOTHING} (?:after|from|since|when|during)\b",
        rf"\bloss\w* (?:\w+ )?(?:drops?|goes|falls) to {NOTHING}",
    )),
    ("loss-oscillates", (
        rf"\b{LOSS}\b[^.?!]{{0,50}}\b(?:oscillat|fluctuat|nois|unstable|bounc|zig-?zag|up and down|jump\w* around)",
        r"\b(?:oscillating|fluctuating|noisy|unstable) (?:\w+ )?loss",
    )),
    ("loss-falls-slowly", (
        r"\b(?:loss\w*|training|learn\w*|model|net\w*)\b[^.?!]{0,30}"
        r"\b(?:decreas|drop|fall|converg|improv|learn)\w* (?:\w+ )?slow(?:ly)?\b",
    )),
    # `did not improve from` is what Keras prints.
    ("loss-flat-from-start", (
        rf"\b(?:{SUBJECT}|it)\b[^.?!:=]{{0,60}}\b{NOT}(?:learn|train(?!ing (?:set|data))|converg|improv(?!e from)|decreas"
        r"|increas|chang|mov|go\w* (?:down|up)|drop|reduc)",
        rf"\b{SUBJECT}\b[^.?!:=]{{0,60}}\b{NOT}work",
        rf"\b{NOT}(?:learn|converge)\b|\bnot (?:learn|converg|work|train)ing\b",
        r"\b(?:stuck|stagnat\w+|(?:stay|remain|keep)(?:s|ed|ing)? (?:the same|constant|at|around|unchanged|on))\b",
        r"\b(?:every|each) (?:epoch|iteration|step|batch)\b[^.?!:]{0,30}\bthe same (?:loss|acc\w*|value|result)",
        r"\b(?:always|constantly) (?:the same|zero|at|around|\d)|\b(?:is )?constant (?:value|loss|acc\w*|at|around)\b",
        r"\b(?:loss|reward) (?:is|are) (?:zero|0\b|still (?:so |very |too )?(?:large|high|low))",
        r"\bno (?:training |learning )?(?:progress|improvement|reduction|decrease)\b",
        "不下降|不收敛|不变|没有(?:任何)?(?:下降|变化)|降不下|没法改变|(?:停|卡)在|(?:训练|练)不动|一直(?:停|在|是|为)|都?是0(?!\\.)",
    )),
    ("loss-plateaus", (r"\bplateau|\bstop(?:s|ped) (?:improving|decreasing|learning)|\bstagnat",)),
    ("loss-diverges", (
        rf"\b{LOSS}\b[^.?!:=]{{0,40}}\b(?:explod|diverg|blow|increas(?:es|ing|ed)|goes? up|(?:rise|grow)s|then up)",
        rf"\b{LOSS}\b[^.?!:=]{{0,40}}\bsudden\w* (?:jump|spike|increas|ris|grow|bec[oa]m\w+ (?:very |so )?(?:big|large))",
        rf"\bsudden (?:increase|jump|spike|rise) (?:of|in) (?:\w+ ){{0,2}}{LOSS}",
        r"\b(?:model|training|net\w*|it) (?:will |always |suddenly |then |just )*diverg",
        r"爆炸|发散|(?:loss|损失)[^。？！]{0,12}(?:上升|变大|增大|升高)",
        r"\b(?:acc\w*|rewards?|scores?|performance)\b[^.?!:=]{0,30}"
        r"\b(?:drop(?:s|ped)|decreases?(?! or)|falls|goes down|collaps\w*|gets? worse)\b",
    )),
)  # fmt: skip
AGAIN = r"(?:resum|restor|re-?load|re-?start|(?:re|continu)\w* (?:the )?train|load|train\w* (?:\w+ )?again|checkpoint)"
WORSE = (
    r"(?:jump|increas|(?:much |way |is )?(?:higher|larger)|(?:very|so|too|really|quite) (?:high|large|big)|spike|differ"
    r"|goes up|goes back|strange|weird|as (?:high|large|big) as)"
)
# Often in two sentences: how training went on, and that the loss was higher.
RESUMED = (
    rf"\b{AGAIN}\w*\b[^=]{{0,200}}?\b(?:loss\w*|acc\w*|error|it)\b[^.?!=]{{0,60}}"
    rf"\b(?:{WORSE}|starts? (?:again )?(?:from|at)|back (?:to|at) (?:the )?(?:beginning|start))"
    rf"|\b{AGAIN}\w*\b[^.?!=]{{0,60}}\b(?:high|larg|bigg)er (?:\w+ )?loss"
    rf"|\bloss\w*\b[^.?!=]{{0,60}}\b{WORSE}[^.?!=]{{0,60}}\b(?:when|after|if|upon|on)\b[^.?!=]{{0,30}}\b{AGAIN}"
    r"|(?:断点|恢复训练|续训|继续训练|重新加载|resume)[^。？！=]{0,60}(?:loss|损失)[^。？！=]{0,12}"
    r"(?:不同|不一样|变高|变大|变差|升高|高出|跳|很高|很大)"
)
# A lower rate was tried, and changed nothing.
TRIED = (
    r"\b(?:reduc|lower|decreas|small|differ|chang|tun)\w* (?:\w+ ){0,2}(?:learning rates?|lrs?)\b[^.?!\n]{0,60}"
    r"\b(?:no|not|nothing|still|same|without|useless|\w+n['’]?t)\b"
    r"|\b(?:not|\w+n['’]?t) (?:matter|help|change)\b[^.?!\n]{0,30}\b(?:learning rate|lr)\b"
)
NOTES = frozenset({"validation-beats-training", "loss-has-no-floor"})  # more often normal than a fault
# Of a diffusion model, whose loss is that of random noise levels.
STILL_NORMAL = frozenset({"loss-flat-from-start", "loss-plateaus", "loss-oscillates", "loss-falls-slowly"})
STUCK = frozenset({"loss-flat-from-start", "metric-constant-or-impossible", "loss-plateaus"})
MOST_CHARACTERS = 500  # of a sentence
VALUE = re.compile(r"(?<![\w.,])(\d{1,3}(?:\.\d+)?) ?(%)?(?![\w.]*\d)")


@cache
def compile_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The table, compiled when the first sentence is met: most logs have none."""
    return tuple((slug, re.compile("|".join(patterns), re.IGNORECASE)) for slug, patterns in COMPLAINTS)


def spaced(text: str) -> str:
    """Chinese text with blanks around what is written in Latin letters: without them, no word begins or ends there."""
    return re.sub(
        r"(?<=[\u4e00-\u9fff])(?=\w)(?![\u4e00-\u9fff])|(?<=[A-Za-z\d_])(?=[\u4e00-\u9fff])", " ", text
    )


def complaints_in(line: str) -> Iterator[tuple[str, str]]:
    """The rules that would see what the author of a question says is wrong, one a sentence, and the sentence."""
    for sentence in re.split(r"(?<=[.?!？。])(?!\d)\s*", spaced(line)):
        said = re.sub(PREVENTED, "", sentence[:MOST_CHARACTERS], flags=re.IGNORECASE)
        slug = next((slug for slug, pattern in compile_patterns() if pattern.search(said)), "")
        if slug:
            yield slug, sentence


def says_resumed(text: str) -> bool:
    """Whether a question says that the loss was another one after the run had been resumed."""
    return re.search(RESUMED, spaced(text), re.IGNORECASE) is not None


def names_chance(sentence: str, classes: int | None) -> bool:
    """Whether a sentence on a loss or an accuracy names the value that guessing gives: ln k or 1/k of k `classes`.
    Without their number, only those of two classes are known: they are the commonest, and 0.69 hardly means
    anything else."""
    level, share = log(classes or 2), 1 / (classes or 2)
    of_score = re.search(rf"\b{SCORE}\b", sentence, re.IGNORECASE)
    of_loss = re.search(rf"\b{LOSS}\b", sentence, re.IGNORECASE)
    for number, percent in VALUE.findall(sentence):
        value = float(number) / (100 if percent else 1)
        if of_loss and not percent and "." in number and isclose(value, level, rel_tol=0.01):
            return True
        if of_score and isclose(value, share, rel_tol=0.02 if classes else 0.005):
            return True
    return False


def complaint_facts(
    sentences: Mapping[str, str], text: str, classes: int | None
) -> dict[str, tuple[str, ...]]:
    """`symptoms` and `noticed`: the rules that would see what is said to be wrong, and what is said but is more often
    normal, in `sentences` (by their complaint) and in the `text` as a whole. `tried`: what did not help."""
    said = [slug for slug in sentences if slug not in NOTES]
    if says_resumed(text):  # explains why the loss is higher
        said = ["loss-jumps-on-resume", *(slug for slug in said if slug != "loss-diverges")]
    if any(names_chance(sentences[slug], classes) for slug in STUCK & sentences.keys()):
        said.insert(0, "loss-at-chance")
    normal = NOTES | (
        STILL_NORMAL if re.search(r"\b(?:ddpm|ddim|diffusion)\b", text, re.IGNORECASE) else frozenset()
    )
    said = [slug for slug in said if slug not in normal]
    noticed = tuple(slug for slug in sentences if slug in normal)
    tried = ("lower-rate",) if re.search(TRIED, text, re.IGNORECASE) else ()
    return {"symptoms": tuple(said), "noticed": noticed, "tried": tried}
