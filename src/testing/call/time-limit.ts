/** How long a call may take in all. Stands still while people, or whoever answers for them, think. */

export interface TimeLimit {
  /** Until it is disposed of. */
  pause(): Disposable;
  stop(): void;
}

/** Longer ones end at once in Node: about 24 days. */
export const longestTimerMs = 2 ** 31 - 1;

export function createTimeLimit(limitMs: number, onOver: () => void): TimeLimit {
  let left = Math.min(limitMs, longestTimerMs);
  let began = performance.now();
  let pauses = 0;
  let isOver = false;
  let timer = setTimeout(onOver, left);
  return {
    pause() {
      if (pauses === 0) {
        clearTimeout(timer);
        left = Math.max(0, left - (performance.now() - began));
      }
      pauses++;
      return {
        [Symbol.dispose]() {
          pauses--;
          if (pauses > 0 || isOver) return;
          began = performance.now();
          timer = setTimeout(onOver, left);
        },
      };
    },
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
