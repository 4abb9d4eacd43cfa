/**
 * What is said by signal about calls that are under way: questions of servers that keep the connection open while they
 * wait, told by the activity of the call; and what servers make of their questions, told by whoever hears of it.
 */
import { setHandler } from '@temporalio/workflow';
import { serverAsks, serverNews } from './messages.ts';
import type { ServerAsks, ServerNews } from './messages.ts';
import { readServerAsks, readServerNews } from './read-signal.ts';

export interface CallListener {
  onAsks(asked: ServerAsks): void;
  onNews(news: ServerNews): void;
}

export interface ServerSignals {
  /** Hands on what is said about this call until `work` is over. What comes later is for nobody. */
  during<T>(toolCallId: string, listener: CallListener, work: () => Promise<T>): Promise<T>;
}

export function createServerSignals(): ServerSignals {
  const listeners = new Map<string, CallListener>();
  setHandler(serverAsks, (message: unknown) => {
    const asked = readServerAsks(message);
    if (asked) listeners.get(asked.toolCallId)?.onAsks(asked);
  });
  setHandler(serverNews, (message: unknown) => {
    const news = readServerNews(message);
    if (news) for (const listener of listeners.values()) listener.onNews(news);
  });

  return {
    async during(toolCallId, listener, work) {
      listeners.set(toolCallId, listener);
      try {
        return await work();
      } finally {
        listeners.delete(toolCallId);
      }
    },
  };
}
