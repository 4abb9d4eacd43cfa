/**
 * Hands signals about tool calls to the call that is running: questions of a server that keeps its request open, sent by
 * the call's activity; and updates of questions that a server has asked, sent by whoever observes the server.
 */
import { setHandler } from '@temporalio/workflow';
import { serverAsks, questionUpdate } from './messages.ts';
import type { ServerAsks, QuestionUpdate } from './messages.ts';
import { readServerAsks, readQuestionUpdate } from './read-signal.ts';

export interface CallListener {
  onQuestions(asked: ServerAsks): void;
  onQuestionUpdate(update: QuestionUpdate): void;
}

export interface ServerSignals {
  /** Passes signals to `listener` until `work` is over. Later ones are dropped. Updates go to all listeners. */
  during<T>(toolCallId: string, listener: CallListener, work: () => Promise<T>): Promise<T>;
}

export function createServerSignals(): ServerSignals {
  const listeners = new Map<string, CallListener>();
  setHandler(serverAsks, (message: unknown) => {
    const asked = readServerAsks(message);
    if (asked) listeners.get(asked.toolCallId)?.onQuestions(asked);
  });
  setHandler(questionUpdate, (message: unknown) => {
    const update = readQuestionUpdate(message);
    if (update) for (const listener of listeners.values()) listener.onQuestionUpdate(update);
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
