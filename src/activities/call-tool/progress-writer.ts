/**
 * Writes a call's progress, throttled: the first notice at once, then the newest one every `everyMs`, and always the last
 * one. Notices that do not increase the progress are ignored.
 */
import type { CallProgress } from '../../remote/call-listener.ts';

export interface ProgressWriter {
  note(progress: CallProgress): void;
  /** Writes the last notice if it is not written yet. Later notices are ignored. */
  rest(): Promise<void>;
}

interface Options {
  /** Pause between two writes, in milliseconds. */
  everyMs?: number;
}

/** `write` must not reject. */
export function createProgressWriter(
  write: (progress: CallProgress) => Promise<void>,
  { everyMs = 500 }: Options = {},
): ProgressWriter {
  let newest = -Infinity;
  let waiting: CallProgress | undefined;
  let pause: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  let isOver = false;

  function flush(): void {
    pause = undefined;
    if (!waiting) return;
    const notice = waiting;
    waiting = undefined;
    writing = writing.then(() => write(notice));
    pause = setTimeout(flush, everyMs);
  }

  return {
    note(progress) {
      if (isOver || !(progress.progress > newest)) return;
      newest = progress.progress;
      waiting = progress;
      if (!pause) flush();
    },
    async rest() {
      isOver = true;
      clearTimeout(pause);
      flush();
      clearTimeout(pause);
      await writing;
    },
  };
}
