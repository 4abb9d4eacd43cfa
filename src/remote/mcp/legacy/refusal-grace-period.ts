/** A server was told that nobody can be asked: what it makes of that is its answer, if it comes to one soon. */
export interface Coping {
  /** The first reason counts. */
  refuse(reason: string): void;
  /** Why something it asked was put to nobody. */
  refused(): string | undefined;
  end(): void;
}

const copingMs = 5_000;

/** `giveUp` is called with the reason when no answer has come in that time. */
export function createCoping(giveUp: (reason: string) => void): Coping {
  let refused: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    refuse(reason) {
      refused ??= reason;
      timer ??= setTimeout(giveUp, copingMs, reason);
    },
    refused: () => refused,
    end: () => clearTimeout(timer),
  };
}
