/** What a test can make go wrong at Tracker. Nothing here happens by itself. */

type Moment = 'before' | 'after';

interface Held {
  /** Resolves when a tool call has come to the moment asked for. */
  arrived: Promise<void>;
  release(): void;
}

export interface Faults {
  /** While set, every MCP request is answered with this HTTP status. */
  refuseWith: number | null;
  /** Stops the next tool call before or after its work is done, until released. */
  hold(moment: Moment): Held;
  /** The connection of the next tool call is cut at this moment; after its work is done by default. */
  dropNext(moment?: Moment): void;
  /** Called by the tools. */
  reached(moment: Moment, tool: string): Promise<void>;
}

/** `drop` cuts the connection of the request that is being handled. */
export function createFaults(drop: () => void): Faults {
  let held: { moment: Moment; arrive: () => void; released: Promise<void> } | undefined;
  let dropAt: Moment | undefined;
  return {
    refuseWith: null,
    hold(moment) {
      const arrived = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      held = { moment, arrive: arrived.resolve, released: released.promise };
      return { arrived: arrived.promise, release: released.resolve };
    },
    dropNext: (moment = 'after') => void (dropAt = moment),
    async reached(moment) {
      if (held?.moment === moment) {
        const { arrive, released } = held;
        held = undefined;
        arrive();
        await released;
      }
      if (dropAt === moment) {
        dropAt = undefined;
        drop();
        // Cut before its work: whoever asked is gone, so there is nothing left to do.
        if (moment === 'before') await new Promise(() => {});
      }
    },
  };
}
