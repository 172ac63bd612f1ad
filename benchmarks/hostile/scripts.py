# ruff: noqa: E501 - texts of scripts
# fmt: off
"""Training scripts that do to their surroundings what awkward programs do.

In a text, @PROJECT@, @HOME@, @OTHER@ (a folder next to the project), @RECORD@, @SOCKET@ (of a server that listens), @PORT@
(of a web server) and @MARK@ (a word for names outside of all of them) are what the driver put there.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import NamedTuple

SECRETS = {
    "option": "sk-proj-Zx9wVu8tSr7qPo6nMl5k",
    "password": "Tr0ub4dor-and-3",
    "url": "pw-in-the-url-41",
    "variable": "c0ffee-quiet-lantern-88",
    "basic": "curl-basic-pw-73",
    "name": "hf_MnBvCxZlKjHgFdSaPoIuYtReWq",
}

TRAIN = """\
import os, sys
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, :2].sum(1) > 0).long()
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
#READY
def train(epochs=25):
    for epoch in range(epochs):
        for step, rows in enumerate(torch.randperm(256).split(32)):
            loss = criterion(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            #STEP
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
#RUN
"""

class Script(NamedTuple):
    """A script: its text, the name of its file, what it is given, and whether it comes to its end by itself. `loose`:
    what it prints or writes differs from start to start. `sends`: it reaches the servers where it may."""

    text: str
    file: str = "train.py"
    words: tuple[str, ...] = ()
    variables: Mapping[str, str] = {}
    typed: str = ""
    encoding: str = "utf-8"
    ends: bool = True
    loose: bool = False

def torch_script(first: str = "", ready: str = "", step: str = "", run: str = "train()") -> str:
    text = TRAIN.replace("            #STEP\n", textwrap.indent(step, " " * 12) + "\n" if step else "")
    text = text.replace("#READY\n", f"{ready}\n" if ready else "").replace("#RUN", run)
    return f"{first}\n{text}" if first else text

FILES = {
    "saves in finally": torch_script(
        run="try:\n    train()\nfinally:\n    torch.save(model.state_dict(), '@PROJECT@/final.pt')"
        "\n    torch.save(model.state_dict(), 'final.pt')"
    ),
    "saves at exit": torch_script(
        "import atexit",
        "atexit.register(lambda: torch.save(model.state_dict(), '@PROJECT@/final.pt'))",
    ),
    "saves in __del__": torch_script(
        ready="class Saver:\n    def __init__(self, state):\n        self.state, self.save = state, torch.save\n"
        "    def __del__(self):\n        self.save(self.state, '@PROJECT@/final.pt')\nsaver = Saver(model.state_dict())"
    ),
    "saves when asked to end": torch_script(
        "import signal",
        "def save(number, frame):\n    torch.save(model.state_dict(), '@PROJECT@/final.pt')\n    print('saved', number)\n"
        "    sys.exit(number)\nfor one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):\n    signal.signal(one, save)",
        run="train()\nos.kill(os.getpid(), signal.SIGTERM)",
    ),
    "replaces files": torch_script(
        run="train()\nopen('new.csv', 'w').write('1,2')\nos.replace('new.csv', '@PROJECT@/data.csv')\n"
        "os.rename('@PROJECT@/final.pt', '@PROJECT@/older.pt')\nos.remove('config.yaml')"
    ),
    "removes folders": torch_script(
        "import shutil\nshutil.rmtree('@PROJECT@/results', ignore_errors=True)\nshutil.rmtree('results', ignore_errors=True)",
        run="train()\nshutil.rmtree('@PROJECT@', ignore_errors=True)",
    ),
    "removes its record": torch_script(
        "import shutil", step="if epoch == 2 and not step: shutil.rmtree('@RECORD@', ignore_errors=True)"
    ),
    "writes through a link": torch_script(
        run="train()\nfor name in ('latest', 'hard.bin', 'big.bin'):\n    try:\n        with open(name, 'r+b') as file:\n"
        "            file.write(b'changed')\n        print(name, 'written')\n    except OSError as error:\n"
        "        print(name, file=sys.stderr)"
    ),
    "writes by mmap": torch_script(
        "import mmap",
        run="train()\nfor name in ('data.csv', '@PROJECT@/data.csv', 'big.bin', '@PROJECT@/big.bin'):\n    try:\n"
        "        file = open(name, 'r+b')\n        room = mmap.mmap(file.fileno(), 0)\n        room[:4] = b'evil'\n"
        "        room.flush()\n    except OSError:\n        pass",
    ),
    "appends to its data": torch_script(
        step="if not step:\n    for name in ('data.csv', '@PROJECT@/data.csv'):\n        try:\n"
        "            os.write(os.open(name, os.O_WRONLY | os.O_APPEND), b'9,9\\n')\n        except OSError: pass",
    ),
    "keeps a database": torch_script(
        "import sqlite3",
        step="for name in ('results.db', '@PROJECT@/results.db'):\n    try:\n        with sqlite3.connect(name) as base:\n"
        "            base.execute('create table if not exists t (loss real)')\n"
        "            base.execute('insert into t values (?)', (loss.item(),)) if step == 1 else 0\n"
        "    except sqlite3.OperationalError: pass",
    ),
    "changes modes and times": torch_script(
        run="train()\nfor name in ('big.bin', 'data.csv', 'latest', '@PROJECT@/data.csv', '@PROJECT@', '@HOME@', '.git/config'):\n"
        "    for change in (lambda: os.chmod(name, 0o700), lambda: os.utime(name, (1, 1)),\n"
        "                   lambda: os.setxattr(name, 'user.mine', b'1'), lambda: os.chown(name, 1, 1)):\n"
        "        try: change()\n        except OSError: pass",
    ),
    "writes at home": torch_script(
        run="train()\nfor place in ('~/.cache/mine', '~/.config/mine', '@HOME@/.cache/mine', '@HOME@/.config/mine', '~/new',\n"
        "              '@HOME@/new', '~/.bashrc', '@HOME@/.bashrc'):\n    try:\n        place = os.path.expanduser(place)\n"
        "        os.makedirs(os.path.dirname(place), exist_ok=True)\n        open(place, 'a').write('x')\n"
        "    except OSError: pass",
    ),
    "writes everywhere": torch_script(
        run="train()\nos.makedirs('sub', exist_ok=True)\nos.chdir('sub')\n"
        "for place in ('/dev/shm/@MARK@', '/tmp/@MARK@', '/var/tmp/@MARK@', '../../other/new', '@OTHER@/new', '../../../@MARK@'):\n"
        "    try: open(place, 'w').write('x')\n    except OSError: pass",
    ),
    "leaves shared memory": torch_script(
        "from multiprocessing import resource_tracker, shared_memory\nresource_tracker.register = lambda *_: None",
        run="train()\nshared = shared_memory.SharedMemory(name='@MARK@', create=True, size=100)\nshared.close()",
    ),
    "commits": torch_script(
        run="train()\nfor name in ('.git/config', '@PROJECT@/.git/config', '.git/new'):\n    try: open(name, 'a').write('[x]')\n"
        "    except OSError: pass",
    ),
    "works in a folder that is gone": torch_script(
        "import os, tempfile\nplace = tempfile.mkdtemp()\nos.chdir(place)\nos.rmdir(place)"
    ),
    "removes the temporary folder": torch_script(
        "import shutil, tempfile\nshutil.rmtree(tempfile.gettempdir(), ignore_errors=True)"
    ),
    "sets a mask": torch_script("import os\nos.umask(0o777)", run="train()\nopen('closed', 'w').write('x')"),
    "odd names": torch_script(
        run="train()\nfor name in ('a b', 'line\\nbreak', 'über-日本', '-rf', '<b>x', b'\\xff\\xfe'):\n    open(name, 'wb').write(b'x')"
    ),
}

PROCESSES = {
    "starts a daemon": torch_script(
        "import os, time",
        run="train()\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        for number in range(3): os.close(number)\n"
        "        time.sleep(30)\n        open('@PROJECT@/late', 'w').write('x')\n    os._exit(0)\nos.wait()",
    ),
    "leaves a program": torch_script(
        "import subprocess",
        run="subprocess.Popen(['sleep', '40'], start_new_session=True, stdout=-3, stderr=-3, stdin=-3)\ntrain()",
    ),
    "serves": torch_script(
        "import socket, threading\nserver = socket.create_server(('127.0.0.1', 0))",
        run="train()\nclient = socket.create_connection(server.getsockname())\nserver.accept()[0].sendall(b'hello')\n"
        "print(client.recv(5))",
    ),
    "posts its results": torch_script(
        "import urllib.request",
        run="train()\ntry:\n    urllib.request.urlopen('http://127.0.0.1:@PORT@/', data=b'loss=1', timeout=5).read()\n"
        "except OSError: pass\nimport http.client\ntry:\n    c = http.client.HTTPConnection('localhost', @PORT@, timeout=5)\n"
        "    c.request('POST', '/', b'x')\nexcept OSError: pass",
    ),
    "asks a service": torch_script(
        "import socket",
        run="train()\ntry:\n    s = socket.socket(socket.AF_UNIX)\n    s.connect('@SOCKET@')\nexcept OSError: pass",
    ),
    "exits at once": torch_script(step="if epoch == 20: os._exit(5)"),
    "exits with 3": torch_script(step="if epoch == 20: sys.exit(3)"),
    "raises": torch_script(
        "import sys\nsys.excepthook = lambda kind, error, where: print('hook', kind.__name__, error)",
        step="if epoch == 20: raise RuntimeError('in the <b>middle</b>')",
    ),
    "recurses": torch_script(
        step="if epoch == 20:\n    def again(n): return again(n + 1) + 1\n    again(0)",
    ),
    "rings": torch_script(
        "import signal\nrings = []\nsignal.signal(signal.SIGALRM, lambda *_: rings.append(1))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)",
        run="train()\nsignal.setitimer(signal.ITIMER_REAL, 0)\nprint(len(rings) > 0)",
    ),
    "interrupts itself": torch_script(
        "import signal, os",
        "def stop(number, frame):\n    raise KeyboardInterrupt\nsignal.signal(signal.SIGINT, stop)",
        run="try:\n    train()\n    os.kill(os.getpid(), signal.SIGINT)\nexcept KeyboardInterrupt:\n    print('interrupted')",
    ),
    "ends its group": torch_script(
        "import signal", "signal.signal(signal.SIGTERM, lambda *_: (print('heard', flush=True), os._exit(7)))",
        run="train()\nos.killpg(0, signal.SIGTERM)\nimport time\ntime.sleep(5)",
    ),
    "ends its parent": torch_script(
        "import signal", run="train()\nif '@MARK@'.endswith(('plain', 'run')): sys.exit(0)\nos.kill(os.getppid(), signal.SIGKILL)"
    ),
    "starts itself again": torch_script(
        "import os, sys\nif 'AGAIN' not in os.environ:\n    os.environ['AGAIN'] = '1'\n    os.execv(sys.executable, [sys.executable, *sys.argv])",
    ),
    "clears its variables": torch_script("import os\nos.environ.clear()"),
    "trains in a fork": torch_script(
        run="child = os.fork()\ntrain(3 if child else 5) if not child else os.waitpid(child, 0)\nos._exit(0) if not child else train(5)"
    ),
    "spawns": torch_script(
        "import multiprocessing",
        "class Point:\n    def __init__(self, x): self.x = x\ndef square(p): return p.x ** 2",
        run="if __name__ == '__main__':\n    train()\n    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(square, [Point(2), Point(3)]))",
    ),
    "closes what it did not open": torch_script("import os\nos.closerange(3, 256)"),
    "has few descriptors": torch_script(
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))"
    ),
    "closes its output": torch_script(run="train(20)\nsys.stdout.flush()\nos.close(1)\nsys.stdout = None\ntrain(3)\nos.close(2)"),
    "prints much": torch_script(run="train()\nfor i in range(20000): print('noise ' * 100)"),
}

HANGING = {
    "has a worker that hangs": torch_script(
        "import multiprocessing, time",
        run="multiprocessing.get_context('fork').Process(target=time.sleep, args=(1000,)).start()\ntrain()",
    ),
    "has a thread that never ends": torch_script(
        "import threading, time", run="threading.Thread(target=time.sleep, args=(1000,)).start()\ntrain()"
    ),
    "hears no signal": torch_script(
        "import signal, time\nfor one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(one, signal.SIG_IGN)",
        run="train()\nwhile True: time.sleep(1)",
    ),
}

PYTHON = {
    "traces": torch_script(
        "import sys\ncalls = {'n': 0}\ndef tracer(frame, event, arg):\n    calls['n'] += frame.f_code.co_name == 'train'\n    return None",
        run="sys.settrace(tracer)\ntrain()\nsys.settrace(None)\nprint(calls)",
    ),
    "changes backward": torch_script(
        "import torch\nbefore = torch.Tensor.backward\ncount = [0]\ndef backward(self, *a, **k):\n    count[0] += 1\n    return before(self, *a, **k)\n"
        "torch.Tensor.backward = backward",
        run="train()\nprint(count, torch.Tensor.backward is backward)",
    ),
    "counts operators": torch_script(
        "from torch.utils._python_dispatch import TorchDispatchMode\nclass Count(TorchDispatchMode):\n    n = 0\n"
        "    def __torch_dispatch__(self, f, t, a=(), k=None):\n        Count.n += 1\n        return f(*a, **(k or {}))",
        run="with Count():\n    train()\nprint(Count.n)",
    ),
    "counts functions": torch_script(
        "from torch.overrides import TorchFunctionMode\nclass Count(TorchFunctionMode):\n    n = 0\n"
        "    def __torch_function__(self, f, t, a=(), k=None):\n        Count.n += 1\n        return f(*a, **(k or {}))",
        run="with Count():\n    train()\nprint(Count.n)",
    ),
    "has its own tensors": torch_script(
        ready="class Mine(torch.Tensor):\n    calls = 0\n    @classmethod\n    def __torch_function__(cls, f, t, a=(), k=None):\n"
        "        Mine.calls += 1\n        return super().__torch_function__(f, t, a, k or {})\nx = x.as_subclass(Mine)",
        run="train()\nprint(Mine.calls)",
    ),
    "counts what is freed": torch_script(
        "import weakref, gc\ngc.disable()\nfreed = []",
        step="weakref.finalize(loss, freed.append, 1)",
        run="train()\nprint(len(freed))\ndel model, optimizer\nprint(len(freed))",
    ),
    "hooks the collector": torch_script(
        "import gc\nseen = []\ngc.callbacks.append(lambda phase, info: seen.append(phase))\ngc.freeze()\ngc.set_threshold(1, 1, 1)",
        run="train()\nprint(len(seen) > 10, len(gc.callbacks))",
    ),
    "draws numbers": torch_script(
        "import random\nimport numpy as np\nrandom.seed(1)\nnp.random.seed(1)",
        run="train()\nprint(random.random(), np.random.rand(), torch.rand(3).tolist(), [p.double().sum().item() for p in model.parameters()])",
    ),
    "raises on warnings": torch_script(
        "import warnings\nimport numpy as np\nnp.seterr(all='raise')\nwarnings.simplefilter('error')", "model[0].weight.data *= 1e-30"
    ),
    "stops the clock": torch_script(
        "import time\ntime.time = lambda: 0.0\ntime.perf_counter = lambda: 0.0\ntime.monotonic = lambda: 0.0\ntime.sleep = lambda s: None"
    ),
    "breaks the library": torch_script(
        run="import builtins, json, logging\ndef broken(*a, **k): raise RuntimeError('not mine')\n"
        "json.dumps = json.dump = broken\nlogging.disable()\ntrain()\nkeep = builtins.open\nbuiltins.open = broken\ntrain(2)\nbuiltins.open = keep"
    ),
    "clears its modules": torch_script(
        "import sys\nsys.meta_path[:] = [f for f in sys.meta_path if isinstance(f, type)]",
        run="train()\nfor name in list(sys.modules):\n    if not name.startswith(('torch', 'builtins', 'sys', '__main__', 'os')): sys.modules.pop(name)\n"
        "train(3)",
    ),
    "reads itself": torch_script(
        "import inspect",
        "def me(): return 1",
        run="train()\nprint(len(open(__file__).read()), inspect.getsource(me), sys.argv[1:], __name__, sys.flags.dev_mode,\n"
        "      sorted(k for k in os.environ if 'TRAINDX' in k), os.environ.get('PYTHONPATH'), len(os.listdir('/proc/self/fd')))",
    ),
    "wraps its output": torch_script(
        "import sys\nclass Tee:\n    def __init__(self, to): self.to = to\n    def write(self, s): return self.to.write(s.upper())\n"
        "    def flush(self): self.to.flush()\nsys.stdout = Tee(sys.stdout)"
    ),
    "prints codes": torch_script(
        run="train()\nprint('\\x1b]0;title\\x07\\x1b[2J\\x1b[31mred\\r<script>alert(1)</script> loss=0.5')\n"
        "raise ValueError('\\x1b[31m<script>alert(1)</script>\\x1b]8;;http://evil\\x07')"
    ),
}

MODELS = {
    "trains eight folds": torch_script(
        run="for fold in range(8):\n    torch.manual_seed(fold)\n    model = nn.Linear(8, 2)\n"
        "    optimizer = torch.optim.Adam(model.parameters())\n    train(3)"
    ),
    "underflows": torch_script(ready="model.append(nn.Softmax(1))\ncriterion = lambda o, t: -(o * 1e-40).clamp_min(1e-45).log().mean()"),
    "scales its loss": torch_script(
        ready="scaler = torch.amp.GradScaler('cpu')",
        step="with torch.autocast('cpu', torch.float16):\n    again = criterion(model(x[rows]), y[rows])\noptimizer.zero_grad()\n"
        "scaler.scale(again).backward()\nscaler.step(optimizer)\nscaler.update()\ncontinue",
    ),
    "is in half precision": torch_script(ready="model.half()\nx = x.half()"),
    "is not a number": torch_script(step="if epoch == 15: x.fill_(float('nan'))"),
    "has empty batches": torch_script(
        step="empty = model(x[:0]).sum() + criterion(model(x[:1]), y[:1]) * 0\nempty.backward()"
    ),
    "copies and pickles": torch_script(
        "import copy, io, pickle",
        run="train()\ntwin = copy.deepcopy((model, optimizer))\nroom = io.BytesIO()\ntorch.save(model, room)\npickle.dumps(optimizer)\n"
        "pickle.dumps(criterion)\ntorch.save(model, 'whole.pt')\nroom.seek(0)\nagain = torch.load(room, weights_only=False)\n"
        "print(torch.equal(again[0].weight, model[0].weight), len(room.getvalue()), len(vars(model)), len(model._forward_hooks),\n"
        "      len(model._forward_pre_hooks), len(optimizer._optimizer_step_pre_hooks), optimizer.step.__name__)"
    ),
    "is odd": torch_script(
        ready="class Odd(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.inner = nn.Linear(8, 2)\n"
        "    def __len__(self): return 0\n    def __eq__(self, other): raise TypeError('no')\n    __hash__ = nn.Module.__hash__\n"
        "    def __repr__(self): raise TypeError('no')\n    def forward(self, x): return {'logits': self.inner(x), 'none': None}\n"
        "model = Odd()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nbefore = criterion\n"
        "criterion = lambda out, t: before(out['logits'], t)",
    ),
    "has other defaults": torch_script(
        "import torch\ntorch.set_default_dtype(torch.float64)\ntorch.use_deterministic_algorithms(True)\ntorch.set_anomaly_enabled(True)",
        run="train()\nwith torch.inference_mode():\n    print(model(x).sum().item())",
    ),
}

KEY, PASSWORD, URL = SECRETS["option"], SECRETS["password"], SECRETS["url"]
GIVEN = ("--api-key", KEY, f"--password={PASSWORD}", "--db", f"https://me:{URL}@host/x", "-u", f"me:{SECRETS['basic']}")
TEXTS = {
    "is given secrets": Script(
        torch_script(run="train()\nraise RuntimeError('cannot log in with ' + repr(sys.argv[1:]))"), words=GIVEN
    ),
    "has secret variables": Script(
        torch_script(run="train()\nraise RuntimeError(f\"401 for {os.environ['SERVICE_PASSWORD']} at host\")"),
        variables={"SERVICE_PASSWORD": SECRETS["variable"]},
    ),
    "names a metric by a secret": Script(
        torch_script(
            run="name = sys.argv[1]\nfor epoch in range(30):\n    train(1)\n    print(f'epoch {epoch} loss 0.5 {name} 0.25')\n"
            "open(f'{name}.txt', 'w').write('x')"
        ),
        words=(SECRETS["name"],),
    ),
    "asks": Script(torch_script(run="train(int(input('epochs? ')))\nprint(input())"), typed="20\nsecond\n"),
    "has a bomb for settings": Script(
        torch_script(run="train()\nprint(len(open('bomb.yaml').read()))"), words=("--config", "bomb.yaml")
    ),
    "has many numbers": Script(torch_script("DATA = [" + ", ".join(map(str, range(50_000))) + "]")),
    "nests brackets": Script(torch_script(run="train()\nimport ast\nDEEP = '" + "[" * 5000 + "]" * 5000 + "'")),
    "nests too deeply": Script(torch_script(run="train()\nDEEP = " + "[" * 5000 + "]" * 5000)),
    "has a mark and returns": Script("\ufeff" + torch_script(run="train()\nprint(1)").replace("\n", "\r\n")),
    "is latin-1": Script("# -*- coding: latin-1 -*-\n" + torch_script(run="train()\nprint('größe')"), encoding="latin-1"),
    "has an odd name": Script(torch_script(), file="my train\nüber;$(id) <b>.py"),
    "is a module of a package": Script(torch_script(run="train()\nprint(__file__)"), file="-m pack.train"),
    "trains with Keras": Script(
        "import os\nos.environ['KERAS_BACKEND'] = 'torch'\nimport atexit, keras, numpy as np\nkeras.utils.set_random_seed(1)\n"
        "x = np.random.rand(512, 8).astype('float32')\ny = (x.sum(1) > 4).astype('float32')\n"
        "model = keras.Sequential([keras.layers.Dense(8, 'relu'), keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
        "atexit.register(lambda: model.save('@PROJECT@/final.keras'))\n"
        "print(model.fit(x, y, epochs=4, verbose=2, callbacks=[keras.callbacks.CSVLogger('@PROJECT@/data.csv')]).history)",
        loose=True,
    ),
    "trains with JAX": Script(
        "import atexit, jax, optax, jax.numpy as jnp\nx = jax.random.normal(jax.random.PRNGKey(0), (256, 4))\ny = x[:, 0]\n"
        "def loss(w, x, y): return ((x @ w - y) ** 2).mean()\nw = jnp.zeros(4)\nrule = optax.sgd(0.05)\nstate = rule.init(w)\n"
        "atexit.register(lambda: open('@PROJECT@/final.pt', 'wb').write(bytes(w)))\n@jax.jit\ndef step(w, state, x, y):\n"
        "    value, g = jax.value_and_grad(loss)(w, x, y)\n    u, state = rule.update(g, state, w)\n"
        "    return optax.apply_updates(w, u), state, value\nfor i in range(200):\n"
        "    w, state, value = step(w, state, x, y)\n    if i % 20 == 0: print(i, 'loss', float(value))\nprint(w)",
    ),
}

SCRIPTS = {
    **{
        name: Script(text, ends=name not in HANGING)
        for name, text in {**FILES, **PROCESSES, **HANGING, **PYTHON, **MODELS}.items()
    },
    **TEXTS,
}
