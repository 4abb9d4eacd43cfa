/** What a server that has asked is doing while people think. */
import type { ServerNews } from '../workflows/messages.ts';
import type { Turn } from '../turn/turn.ts';

export interface AskedCall {
  turn: Turn;
  toolCallId: string;
  server: string;
  /** The round whose questions are open. */
  round: number;
}

export function createWatchServer() {
  return {
    /** Resolves with news of the server's, or with null when there is nothing to look at any more. */
    watchServer: (_call: AskedCall): Promise<ServerNews | null> => Promise.resolve(null),
    /** Tells the server that nobody waits for the call any more. */
    abandonCall: (_call: AskedCall): Promise<void> => Promise.resolve(),
  };
}
