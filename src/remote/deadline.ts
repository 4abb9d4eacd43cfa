/** One deadline for a whole operation at a server. The caller's signal and the time limit end it alike, but are told apart. */
export interface Deadline extends Disposable {
  signal: AbortSignal;
  /** Why it ended, if it did. */
  readonly end: 'timeout' | 'cancelled' | undefined;
  /** Suspends the time limit, not the caller's signal: a person is thinking. */
  pause(): void;
  /** The limit starts from zero: whatever comes after an answer is work of its own. */
  resume(): void;
}

export function startDeadline(timeoutMs: number, caller: AbortSignal): Deadline {
  const controller = new AbortController();
  let end: Deadline['end'];
  let isOver = false;
  const stop = (why: NonNullable<Deadline['end']>) => {
    end ??= why;
    controller.abort(new Error(why));
  };
  let timer = setTimeout(stop, timeoutMs, 'timeout');
  const onCancel = () => stop('cancelled');
  if (caller.aborted) onCancel();
  caller.addEventListener('abort', onCancel, { once: true });
  return {
    signal: controller.signal,
    get end() {
      return end;
    },
    pause: () => clearTimeout(timer),
    resume() {
      clearTimeout(timer);
      if (isOver) return;
      timer = setTimeout(stop, timeoutMs, 'timeout');
    },
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
      caller.removeEventListener('abort', onCancel);
    },
  };
}
