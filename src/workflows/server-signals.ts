/**
 * What servers tell while people think. Questions of servers that hold the line come by signal while the activity of
 * the call still runs, which reads their answers from the database; news of questions come from whoever hears of them.
 */
import { setHandler } from '@temporalio/workflow';
import { serverAsks, serverNews } from './messages.ts';
import type { ServerAsks, ServerNews } from './messages.ts';
import { readServerAsks, readServerNews } from './read-signal.ts';

export interface Listener {
  asks(asked: ServerAsks): void;
  news(news: ServerNews): void;
}

export interface HeldCalls {
  /** Hears what is told of this call, until `work` is over. */
  during<T>(toolCallId: string, listener: Listener, work: () => Promise<T>): Promise<T>;
}

export function createHeldCalls(): HeldCalls {
  const listeners = new Map<string, Listener>();
  // What comes after the call is for nobody.
  setHandler(serverAsks, (message: unknown) => {
    const asked = readServerAsks(message);
    if (asked) listeners.get(asked.toolCallId)?.asks(asked);
  });
  setHandler(serverNews, (message: unknown) => {
    const news = readServerNews(message);
    if (news) for (const listener of listeners.values()) listener.news(news);
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
