/** A time limit of a call, which stops while a question is open. */

/** Node fires longer timers at once: about 24 days. */
const longestTimerMs = 2 ** 31 - 1;

export class PausableTimer {
  readonly #limitMs: number;
  readonly #restarts: boolean;
  readonly #onOver: () => void;
  #leftMs: number;
  #startedAt = 0;
  #pauses = 0;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  /** `restarts`: after a pause the whole time counts again, instead of what was left. */
  constructor(limitMs: number, { restarts }: { restarts: boolean }, onOver: () => void) {
    this.#limitMs = Math.min(limitMs, longestTimerMs);
    this.#leftMs = this.#limitMs;
    this.#restarts = restarts;
    this.#onOver = onOver;
    this.#start();
  }

  /** The whole time counts again. */
  restart(): void {
    clearTimeout(this.#timer);
    this.#leftMs = this.#limitMs;
    this.#start();
  }

  /** Until it is disposed. */
  pause(): Disposable {
    this.#pauses++;
    if (this.#pauses === 1) {
      clearTimeout(this.#timer);
      const elapsedMs = performance.now() - this.#startedAt;
      this.#leftMs = this.#restarts ? this.#limitMs : Math.max(0, this.#leftMs - elapsedMs);
    }
    return {
      [Symbol.dispose]: () => {
        this.#pauses--;
        this.#start();
      },
    };
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #start(): void {
    if (this.#pauses > 0 || this.#isStopped) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#onOver, this.#leftMs);
  }
}
