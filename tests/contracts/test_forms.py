from __future__ import annotations

from textwrap import dedent

import pytest
from kit_contracts import contracts

# the plugin's module, what is found, what must not be made up
PATCHES = [
    # a class attribute
    (
        """
        from vllm.engine.core import EngineCore
        def step(self, batch, *, dry=False): ...
        EngineCore.step = step
        """,
        ["monkeypatch EngineCore.step@step", "import EngineCore@"],
        ["monkeypatch EngineCore.shutdown@step"],
    ),
    # through a module alias
    (
        """
        import vllm.engine.core as core
        def step(self, batch): ...
        core.EngineCore.step = step
        """,
        ["monkeypatch EngineCore.step@step", "import vllm/engine/core.py@", "attribute-read EngineCore@"],
        [],
    ),
    # through the full dotted path
    (
        """
        import vllm.engine.core
        def step(self, batch): ...
        vllm.engine.core.EngineCore.step = step
        """,
        ["monkeypatch EngineCore.step@step", "import vllm/engine/core.py@"],
        ["import vllm/__init__.py@"],
    ),
    # a function of a module
    (
        """
        import vllm.engine.core as core
        def launch(config, count=1): ...
        core.launch = launch
        """,
        ["monkeypatch launch@launch"],
        [],
    ),
    # setattr with a constant, and with a name that holds one
    (
        """
        from vllm.engine.core import EngineCore
        NAME = 'step'
        def mine(self, batch): ...
        setattr(EngineCore, NAME, mine)
        setattr(EngineCore, 'shutdown', mine)
        """,
        ["monkeypatch EngineCore.step@mine", "monkeypatch EngineCore.shutdown@mine"],
        [],
    ),
    # setattr with a name that is computed says nothing
    (
        """
        from vllm.engine.core import EngineCore
        def mine(self, batch): ...
        setattr(EngineCore, compute(), mine)
        """,
        [],
        ["monkeypatch EngineCore.step@mine", "monkeypatch @mine"],
    ),
    # by a helper that is called for each target, by place and by name
    (
        """
        from vllm.engine.core import EngineCore
        def step(self, batch): ...
        def shutdown(self): ...
        def install(target, name, function):
            if not hasattr(target, name):
                raise RuntimeError(name)
            setattr(target, name, function)
        install(EngineCore, 'step', step)
        install(EngineCore, function=shutdown, name='shutdown')
        """,
        ["monkeypatch EngineCore.step@step", "monkeypatch EngineCore.shutdown@shutdown"],
        ["monkeypatch EngineCore.shutdown@step"],
    ),
    # by a helper of a helper, from a table
    (
        """
        from vllm.engine.core import EngineCore
        from vllm.worker.runner import Runner
        def step(self, batch): ...
        def log(self, word, value): ...
        TABLE = ((EngineCore, 'step', step), (Runner, 'log', log))
        def put(owner, key, value):
            setattr(owner, key, value)
        def install(owner, key, value):
            put(owner, key, value)
        def register():
            for owner, key, value in TABLE:
                install(owner, key, value)
        """,
        ["monkeypatch EngineCore.step@step", "monkeypatch Runner.log@log"],
        ["monkeypatch Runner.step@step"],
    ),
    # a helper that is told a name nobody can know says nothing
    (
        """
        from vllm.engine.core import EngineCore
        def mine(self): ...
        def install(target, name, function):
            setattr(target, name, function)
        install(EngineCore, compute(), mine)
        """,
        [],
        ["monkeypatch EngineCore.step@mine", "monkeypatch @mine"],
    ),
    # wrapped into a classmethod, installed inside a function
    (
        """
        def install():
            from vllm_ascend.platform import NPUPlatform
            def check_and_update_config(cls, vllm_config): ...
            NPUPlatform.check_and_update_config = classmethod(check_and_update_config)
        """,
        ["monkeypatch NPUPlatform.check_and_update_config@install.check_and_update_config"],
        [],
    ),
    # a wrapper that a factory makes of the original
    (
        """
        from vllm.engine.core import EngineCore
        def wrap(original):
            def inner(*a): return original(*a)
            return inner
        EngineCore.step = wrap(EngineCore.step)
        """,
        ["monkeypatch EngineCore.step@wrap"],
        [],
    ),
    # a lambda
    (
        """
        from vllm.engine.core import EngineCore
        EngineCore.shutdown = lambda self: None
        """,
        ["monkeypatch EngineCore.shutdown@"],
        [],
    ),
    # a class in place of a class, in the module that uses it
    (
        """
        import vllm.engine.core as core
        from vllm.worker.runner import Runner
        class Mine(Runner): ...
        core.Runner = Mine
        """,
        ["monkeypatch Runner@Mine"],
        [],
    ),
    # a module that is looked up among the loaded ones
    (
        """
        import sys
        def launch(config, count=1): ...
        for name in ('vllm.engine.client', 'vllm.engine.serve'):
            module = sys.modules.get(name)
            if module is not None:
                module.launch = launch
        """,
        ["monkeypatch launch@launch"],
        [],
    ),
    # a function that a decorator registers for a module
    (
        """
        @registry.register('vllm.engine.client')
        def patch(module):
            def launch(config): ...
            module.launch = launch
        """,
        ["monkeypatch launch@patch.launch"],
        [],
    ),
    # a constant at module level
    (
        """
        import vllm.forward_context as fc
        fc.last_time = 1.0
        """,
        ["monkeypatch last_time@"],
        [],
    ),
    # an attribute that upstream does not have is added
    (
        """
        from vllm.engine.core import EngineCore
        def extra(self): ...
        EngineCore.extra = extra
        """,
        ["monkeypatch EngineCore.extra@extra"],
        [],
    ),
    # saving an original is no patch, nor is putting it back
    (
        """
        from vllm.engine.core import EngineCore
        EngineCore._saved = EngineCore.step
        EngineCore.step = EngineCore._saved
        original = EngineCore.shutdown
        EngineCore.shutdown = original
        """,
        ["attribute-read EngineCore.step@"],
        ["monkeypatch EngineCore._saved@", "monkeypatch EngineCore.shutdown@", "monkeypatch EngineCore.step@"],
    ),
    # state that a function keeps in a module is no patch
    (
        """
        import vllm.forward_context as fc
        def tick(now):
            fc.last_time = now
        """,
        ["attribute-read last_time@tick"],
        ["monkeypatch last_time@tick"],
    ),
    # an attribute of an object is no patch of its class
    (
        """
        from vllm.config import VllmConfig
        def f(config: VllmConfig):
            config.parallel_config.enable_dbo = True
        """,
        ["attribute-read ParallelConfig.enable_dbo@f"],
        ["monkeypatch ParallelConfig.enable_dbo@f"],
    ),
    # the plugin's own class is nobody else's business
    (
        """
        class Mine: ...
        def step(self): ...
        Mine.step = step
        """,
        [],
        ["monkeypatch Mine.step@step"],
    ),
]

CLASSES = [
    # a method, a class attribute and an inherited one that is left alone
    (
        """
        from vllm.worker.runner import Runner
        class Mine(Runner):
            supports_graph = False
            def execute_model(self, scheduler_output): ...
            def own(self): ...
        """,
        [
            "override Runner.execute_model@Mine.execute_model",
            "override Runner.supports_graph@Mine.supports_graph",
            "inherited-read Runner@Mine",
        ],
        ["override Runner.log@Mine", "override Runner.own@Mine.own"],
    ),
    # a member of a base of the base
    (
        """
        from vllm.worker.runner import Runner
        class Mine(Runner):
            def add_lora(self, request): ...
        """,
        ["override LoRAMixin.add_lora@Mine.add_lora"],
        ["override Runner.add_lora@Mine.add_lora"],
    ),
    # through a plugin class in between
    (
        """
        from vllm.worker.runner import Runner
        class Between(Runner): ...
        class Mine(Between):
            def log(self, word, value): ...
        """,
        ["override Runner.log@Mine.log"],
        [],
    ),
    # across both upstreams: the nearest definition counts
    (
        """
        from vllm_ascend.worker.runner import NPURunner
        class Mine(NPURunner):
            def execute_model(self, scheduler_output): ...
            def log(self, word, value): ...
        """,
        ["override NPURunner.execute_model@Mine.execute_model", "override Runner.log@Mine.log"],
        ["override Runner.execute_model@Mine.execute_model"],
    ),
    # a base through a module, and one imported in the function that makes the class
    (
        """
        from vllm.worker import runner as native
        class A(native.Runner):
            def log(self, word, value): ...
        def make():
            from vllm.worker.runner import Runner
            class B(Runner):
                def log(self, word, value): ...
        """,
        ["override Runner.log@A.log", "override Runner.log@make.B.log"],
        [],
    ),
    # the branch that is dead for the frozen vLLM defines nothing
    (
        """
        from vllm_ascend.worker.runner import NPURunner
        class Mine(NPURunner):
            def old_only(self): ...
            def new_only(self): ...
        """,
        ["override NPURunner.old_only@Mine.old_only"],
        ["override NPURunner.new_only@Mine.new_only"],
    ),
    # a base from elsewhere
    (
        """
        import torch
        class Mine(torch.nn.Module):
            def forward(self): ...
        """,
        [],
        ["override forward@Mine.forward"],
    ),
]

READS = [
    # what upstream methods assign on self, a class attribute, a method; the plugin's own attribute is its own
    (
        """
        from vllm.worker.runner import Runner
        class Mine(Runner):
            def f(self):
                self.mine = 1
                return self.device, self.supports_graph, self.log, self.mine
        """,
        [
            "inherited-read Runner.device@Mine.f",
            "inherited-read Runner.supports_graph@Mine.f",
            "inherited-read Runner.log@Mine.f",
        ],
        ["inherited-read Runner.mine@Mine.f", "inherited-read mine@Mine.f"],
    ),
    # chains through annotated fields, properties and simple flow
    (
        """
        from vllm.config import VllmConfig
        def f(config: VllmConfig):
            pc = config.parallel_config
            return pc.data_parallel_size, pc.use_ubatching
        """,
        [
            "attribute-read VllmConfig.parallel_config@f",
            "attribute-read ParallelConfig.data_parallel_size@f",
            "attribute-read ParallelConfig.use_ubatching@f",
        ],
        [],
    ),
    # the result of a call with an annotated return
    (
        """
        from vllm.forward_context import get_forward_context
        def f():
            return get_forward_context().attn_metadata
        """,
        ["call get_forward_context@f", "attribute-read ForwardContext.attn_metadata@f"],
        [],
    ),
    # an attribute that an upstream method builds
    (
        """
        from vllm.worker.runner import Runner
        def f(runner: Runner):
            return runner.input_batch.num_reqs
        """,
        ["attribute-read Runner.input_batch@f", "attribute-read InputBatch.num_reqs@f"],
        [],
    ),
    # after isinstance, and after a test that leaves
    (
        """
        from vllm.worker.runner import Runner
        def f(x, y):
            if isinstance(x, Runner):
                x.device
            if not isinstance(y, Runner):
                return
            y.supports_graph
        """,
        ["attribute-read Runner.device@f", "attribute-read Runner.supports_graph@f"],
        [],
    ),
    # inside a conditional expression, and not in its other half
    (
        """
        from vllm.worker.runner import Runner
        def f(x):
            return x.device if isinstance(x, Runner) else x.supports_graph
        """,
        ["attribute-read Runner.device@f"],
        ["attribute-read Runner.supports_graph@f"],
    ),
    # the parameter of an overriding method has upstream's annotation
    (
        """
        from vllm.worker.runner import Runner
        class Mine(Runner):
            def __init__(self, vllm_config, device='x'):
                self.dp = vllm_config.parallel_config.data_parallel_size
        """,
        ["attribute-read ParallelConfig.data_parallel_size@Mine.__init__"],
        [],
    ),
    # the self of a function that replaces a method
    (
        """
        from vllm.engine.core import EngineCore
        def step(self, batch, *, dry=False):
            return self.runner.device
        EngineCore.step = step
        """,
        ["attribute-read EngineCore.runner@step", "attribute-read Runner.device@step"],
        [],
    ),
    # a module's names, also those that it merely imports
    (
        """
        import vllm.forward_context as fc
        def f():
            return fc.time.time(), fc.last_time
        """,
        ["attribute-read time@f", "attribute-read last_time@f"],
        [],
    ),
    # the values of a mapping, the elements of a list
    (
        """
        from vllm.config import VllmConfig
        from vllm.engine.core import launch
        def f(config: VllmConfig):
            for name, worker in config.workers.items():
                worker.enable_dbo
            return [core.log_stats for core in launch(config)]
        """,
        ["attribute-read ParallelConfig.enable_dbo@f", "attribute-read EngineCore.log_stats@f", "call launch@f"],
        [],
    ),
    # what an upstream sets on objects of a class that does not define it
    (
        """
        from vllm.forward_context import get_forward_context
        def f():
            return get_forward_context().flash_enabled
        """,
        ["attribute-read set_ascend_context@f"],
        [],
    ),
    # on an object of a like name, and on one whose class says so
    (
        """
        from vllm.forward_context import ForwardContext
        def f(cur_forward_context: ForwardContext, given: ForwardContext):
            return cur_forward_context.flash_enabled, given.flash_enabled
        """,
        ["attribute-read set_ascend_context@f"],
        [],
    ),
    # what is set on objects of another kind says nothing
    (
        """
        from vllm.worker.runner import InputBatch
        def f(batch: InputBatch):
            if hasattr(batch, 'flash_enabled'):
                return batch.flash_enabled
        """,
        ["attribute-read InputBatch.flash_enabled@f"],
        ["attribute-read set_ascend_context@f"],
    ),
    # state that the plugin's method assigns and an upstream base has as well; the plugin's own state is its own
    (
        """
        from vllm.worker.runner import Runner
        class Mine(Runner):
            def f(self):
                if self.device:
                    self.device = None
                self.count = self.count + 1
        """,
        ["inherited-read Runner.device@Mine.f"],
        ["inherited-read count@Mine.f", "inherited-read Mine.count@Mine.f"],
    ),
    # a parameter without annotation is what the plugin itself passes, also through another function
    (
        """
        from vllm.config import VllmConfig
        def outer(config: VllmConfig):
            middle(config)
        def middle(config):
            return inner(given=config)
        def inner(given):
            return given.parallel_config.data_parallel_size
        """,
        ["attribute-read VllmConfig.parallel_config@inner", "attribute-read ParallelConfig.data_parallel_size@inner"],
        [],
    ),
    # what it is annotated with counts for more than what is passed
    (
        """
        from vllm.config import VllmConfig
        from vllm.config import ParallelConfig
        def outer(config: VllmConfig):
            inner(config)
        def inner(config: ParallelConfig):
            return config.data_parallel_size, config.use_ubatching
        """,
        ["attribute-read ParallelConfig.data_parallel_size@inner"],
        ["attribute-read VllmConfig.use_ubatching@inner"],
    ),
    # nothing is known of a parameter without annotation
    (
        """
        def f(config):
            return config.parallel_config.data_parallel_size
        """,
        [],
        ["attribute-read parallel_config@f"],
    ),
]

CALLS = [
    # a function, a constructor, a method, super
    (
        """
        from vllm.engine.core import launch, EngineCore
        from vllm.worker.runner import Runner
        class Mine(Runner):
            def __init__(self, config):
                super().__init__(config, device='x')
                self.log('a', 1)
        def f(config):
            core = EngineCore(config, dict)
            core.step([1])
            return launch(config)
        """,
        [
            "call Runner.__init__@Mine.__init__",
            "call Runner.log@Mine.__init__",
            "call EngineCore@f",
            "call EngineCore.step@f",
            "call launch@f",
        ],
        ["call Runner@Mine.__init__"],
    ),
    # a static method through its class
    (
        """
        from vllm.engine.core import EngineCoreProc
        def f():
            EngineCoreProc.run_engine_core(dp_rank=1)
        """,
        ["call EngineCoreProc.run_engine_core@f"],
        [],
    ),
    # a builtin of the same name
    (
        """
        def launch(x): ...
        def f():
            launch(1)
        """,
        [],
        ["call launch@f"],
    ),
]

IMPORTS = [
    # module level, inline, for annotations, guarded, by name, whether it is there, through re-exports and lazy tables
    (
        "from vllm.config import VllmConfig\n",
        ["import VllmConfig@"],
        [],
    ),
    (
        """
        def f():
            from vllm.config import VllmConfig
        """,
        ["import VllmConfig@f"],
        ["import VllmConfig@"],
    ),
    (
        """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from vllm.config import VllmConfig
        """,
        ["import VllmConfig@"],
        [],
    ),
    (
        """
        try:
            import vllm_ascend.platform as p
        except ImportError:
            p = None
        """,
        ["import vllm_ascend/platform.py@"],
        [],
    ),
    (
        """
        import importlib
        m = importlib.import_module('vllm.engine.core')
        """,
        ["import vllm/engine/core.py@"],
        [],
    ),
    (
        """
        import importlib.util
        ok = importlib.util.find_spec('vllm') is not None
        """,
        ["import vllm/__init__.py@"],
        [],
    ),
    (
        "from vllm.worker.registry import LazyRunner\n",
        ["import Runner@"],
        [],
    ),
    (
        """
        import vllm_other
        from vllmx import y
        import torch
        """,
        [],
        ["import vllm_other@", "import y@", "import torch@"],
    ),
]

TEXTS = [
    # a class path, a module, an environment variable; a text that only looks like a name is none
    (
        """
        WORKER = 'vllm.worker.runner.Runner'
        LOGGER = 'vllm.nothing.here'
        GROUP = 'vllm.engine.core'
        """,
        ["string-reference Runner@", "string-reference vllm/engine/core.py@"],
        ["string-reference here@", "string-reference vllm.nothing.here@"],
    ),
    (
        """
        import os
        NAME = 'VLLM_USE_V2'
        def f():
            os.environ[NAME] = '1'
            return os.getenv('VLLM_PLUGINS')
        """,
        ["environment VLLM_USE_V2@f", "environment VLLM_PLUGINS@f"],
        [],
    ),
    (
        """
        import vllm_ascend.envs as e
        def f():
            return e.VLLM_ASCEND_FUSED
        """,
        ["environment VLLM_ASCEND_FUSED@f"],
        [],
    ),
    (
        """
        import os
        os.getenv('AFD_OWN')
        os.getenv('HOME')
        """,
        [],
        ["environment AFD_OWN@", "environment HOME@"],
    ),
    (
        "TARGET_VLLM_VERSION = '1.0.0'\n",
        ["pin vllm/1.0.0@"],
        [],
    ),
]

FORMS = [*PATCHES, *CLASSES, *READS, *CALLS, *IMPORTS, *TEXTS]


@pytest.mark.parametrize(("text", "there", "not_there"), FORMS)
def test_every_form_is_found_and_nothing_is_made_up(text: str, there: list[str], not_there: list[str]) -> None:
    found = contracts(dedent(text))
    assert [name for name in there if name not in found] == [], sorted(found)
    assert [name for name in not_there if name in found] == []
    assert [row.id for row in found.values() if row.unknown] == []
