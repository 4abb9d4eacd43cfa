/** One turn that is being followed and printed, from its first view to its last. */
import type { FollowOptions } from '../../client/follow-turn.ts';
import type { TurnView } from '../../client/turn-view.ts';
import type { Answering } from './answering.ts';
import type { TurnPrinter } from './turn-printer.ts';

export type Open = (options: FollowOptions) => AsyncGenerator<TurnView, void>;

export interface LiveTurn {
  printer: TurnPrinter;
  answering: Answering;
  isLost: boolean;
  isStopping: boolean;
  /** The turn that supersedes it. */
  successor: LiveTurn | undefined;
  /** Resolves with the first view; rejects when the service refuses to start or stream the turn. */
  begun: Promise<unknown>;
  /** Prints all views. Resolves at the end, with false if the turn failed; rejects when the stream fails. Call it once. */
  print(): Promise<boolean>;
  /** Resolves when `print` has ended, however it ended. */
  over: Promise<void>;
  /** Stops reading; the turn goes on. */
  leave(): void;
  hasLeft(): boolean;
}

/** `changed` is called after every new view and every change of the connection. */
export function beginTurn(
  open: Open,
  { printer, answering }: Pick<LiveTurn, 'printer' | 'answering'>,
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
    printer,
    answering,
    isLost: false,
    isStopping: false,
    successor: undefined,
    begun: first,
    async print() {
      let isFine = true;
      try {
        for (let next = await first; !next.done; next = await views.next()) {
          printer.print(next.value);
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
