/** One turn, as it is told on the screen from its first view to its last. */
import type { FollowOptions } from '../../client/follow-turn.ts';
import type { TurnView } from '../../client/turn-view.ts';
import type { Answering } from './answering.ts';
import type { Narrator } from './narrator.ts';

export type Open = (options: FollowOptions) => AsyncGenerator<TurnView, void>;

export interface LiveTurn {
  narrator: Narrator;
  answering: Answering;
  isLost: boolean;
  isStopping: boolean;
  /** Takes its place. */
  successor: LiveTurn | undefined;
  /** Resolves when the service has begun to tell it; rejects when it refuses to. */
  begun: Promise<unknown>;
  /** Resolves when all is told, true unless the turn failed; rejects when it cannot be told. Call it once. */
  tell(): Promise<boolean>;
  /** Resolves when there is nothing more to tell, for whatever reason. */
  over: Promise<void>;
  /** Stops reading; the turn goes on. */
  leave(): void;
  hasLeft(): boolean;
}

/** `changed` is called whenever there is something new to know. */
export function beginTurn(
  open: Open,
  { narrator, answering }: Pick<LiveTurn, 'narrator' | 'answering'>,
  changed: () => void,
): LiveTurn {
  const reading = new AbortController();
  const views = open({
    signal: reading.signal,
    operations: true,
    onStatus(status) {
      turn.isLost = status === 'reconnecting';
      changed();
    },
  });
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const first = views.next();
  first.catch(() => undefined);

  const turn: LiveTurn = {
    narrator,
    answering,
    isLost: false,
    isStopping: false,
    successor: undefined,
    begun: first,
    async tell() {
      let isFine = true;
      try {
        for (let next = await first; !next.done; next = await views.next()) {
          narrator.tell(next.value);
          if (next.value.status === 'failed') isFine = false;
          changed();
        }
        return isFine;
      } finally {
        end();
      }
    },
    over,
    leave: () => reading.abort(),
    hasLeft: () => reading.signal.aborted,
  };
  return turn;
}
