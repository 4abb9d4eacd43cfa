/** How long a server may say nothing. Stands still while people, or whoever answers for them, think. */
import { longestTimerMs } from './time-limit.ts';

export interface SilenceClock {
  /** The server has said something. */
  reset(): void;
  /** Until it is disposed of. */
  pause(): Disposable;
  stop(): void;
}

export function createSilenceClock(limitMs: number, onSilence: () => void): SilenceClock {
  let pauses = 0;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const reset = () => {
    clearTimeout(timer);
    if (pauses === 0 && !isOver) timer = setTimeout(onSilence, Math.min(limitMs, longestTimerMs));
  };
  reset();
  return {
    reset,
    pause() {
      pauses++;
      clearTimeout(timer);
      return {
        [Symbol.dispose]() {
          pauses--;
          reset();
        },
      };
    },
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
