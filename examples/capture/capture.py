"""Records one training rank with both of PyTorch's observers, over the same steps.

    with Capture("capture", rank) as c:
        for batch in data:
            train_step(batch)
            c.step()

writes capture/host.RANK.json.gz (the operators, and which operator called which) and
capture/kineto.RANK.json.gz (their times, threads and streams). Every rank must
record the same steps, and make at least wait + warmup + active calls of step().
Works with CUDA and NCCL, with ROCm, and on the CPU with gloo; PyTorch 1.13 and later.
"""

import gzip
import os
import shutil
import warnings

import torch
from torch.profiler import ProfilerActivity

# The observer of the host side was named ExecutionGraphObserver until PyTorch 2.0.
HostObserver = getattr(torch.profiler, "ExecutionTraceObserver", None)
if HostObserver is None:
    HostObserver = torch.profiler.ExecutionGraphObserver


class Capture:
    """Skips `wait` steps, lets the profiler warm up for `warmup` steps, records `active` steps.

    warmup must be at least 1, because the profiler needs one step to prepare itself.
    """

    def __init__(self, folder, rank, wait=2, warmup=2, active=3, compress=True):
        if warmup < 1 or active < 1:
            raise ValueError("Capture needs warmup >= 1 and active >= 1")
        os.makedirs(folder, exist_ok=True)
        self._host_path = os.path.join(folder, f"host.{rank}.json")
        self._kineto_path = os.path.join(folder, f"kineto.{rank}.json")
        self._compress = compress
        self._first = wait + warmup  # steps before the first recorded one
        self._needed = wait + warmup + active
        self._steps = 0
        self._host = HostObserver()
        activities = [ProfilerActivity.CPU]
        if torch.cuda.is_available():
            activities.append(ProfilerActivity.CUDA)
        self._profile = torch.profiler.profile(
            activities=activities,
            schedule=torch.profiler.schedule(wait=wait, warmup=warmup, active=active, repeat=1),
            on_trace_ready=self._save,
            record_shapes=True,
            **_sync_events(),
        )

    def __enter__(self):
        self._host.register_callback(self._host_path)
        self._profile.start()
        return self

    def step(self):
        """Call at the end of every training step."""
        self._steps += 1
        if self._steps == self._first:
            self._host.start()  # just before the profiler, so that ProfilerStep is in both files
        self._profile.step()

    def __exit__(self, kind, error, trace):
        self._profile.stop()  # saves the steps so far if the loop ended inside the window
        self._host.unregister_callback()
        if self._steps < self._needed:
            some = self._steps > self._first
            lost = "the last recorded step is cut short" if some else "nothing was recorded"
            warnings.warn(f"Capture saw {self._steps} steps and needs {self._needed}: {lost}")

    def _save(self, profile):
        self._host.unregister_callback()  # completes its file
        if torch.autograd.kineto_available():
            profile.export_chrome_trace(self._kineto_path)
        else:
            import without_kineto

            without_kineto.write_trace(profile, self._kineto_path)
        if self._compress:
            _gzip(self._host_path)
            _gzip(self._kineto_path)


def _sync_events():
    """Requests the events that show for which kernel a call waited (PyTorch 2.1 and later)."""
    try:
        config = torch.profiler._ExperimentalConfig(enable_cuda_sync_events=True)
    except (AttributeError, TypeError):
        return {}  # older versions: the runtime calls show what a wait was for
    return {"experimental_config": config}


def _gzip(path):
    with open(path, "rb") as plain, open(path + ".gz", "wb") as packed:
        # Without name and time, so that equal traces give equal files.
        with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as out:
            shutil.copyfileobj(plain, out)
    os.remove(path)
