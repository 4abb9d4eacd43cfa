/**
 * What a server tells while a call is under way: that its tools have changed, and how far the call has come. The user's
 * list of tools is fetched where there is none yet, or when it has changed; progress goes into the log. None of it can
 * make a call fail, and none of it begins before the request is sent: nothing delays a call that a person has answered.
 */
import type { Logger } from 'pino';
import type { Credential } from '../../credentials/store.ts';
import type { CallListener, CallProgress } from '../../remote/call-listener.ts';
import { logProcessExit } from '../../remote/log-process-exit.ts';
import type { RefreshWhen } from '../../remote/tool-lists.ts';
import type { Storage } from '../../storage/storage.ts';
import { aboutTurn } from '../../telemetry/events.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import { createProgressWriter } from './progress-writer.ts';
import type { Attempt, CallParts } from './attempt.ts';

interface Parts extends Pick<CallParts, 'catalogue'> {
  storage: { toolCalls: Pick<Storage['toolCalls'], 'noteProgress'> };
  logger: Logger;
}

export interface CallNotifications {
  listener: CallListener;
  /** Resolves when the last progress is in the log and the next step has the tools, or would have to wait too long. */
  settled(): Promise<void>;
}

/** How long a call that is over waits for a list of tools, in milliseconds: the next step can do without. */
const longestWaitMs = 1_000;

export function createCallNotifications(
  { storage, catalogue, logger }: Parts,
  { input, by, call, server, listed }: Pick<Attempt, 'input' | 'by' | 'call' | 'server' | 'listed'>,
  credential: Credential,
): CallNotifications {
  const { turn, toolCallId } = input;
  const lists = new Set<Promise<void>>();

  function list(when: RefreshWhen): void {
    const work = catalogue.refresh(turn, server, credential, when).finally(() => lists.delete(work));
    lists.add(work);
  }

  async function write(progress: CallProgress): Promise<void> {
    const event = { type: 'tool-progress', toolCallId, toolName: call.toolName, ...progress } as const;
    // Progress only grows, so that no two notices of a call have the same key.
    const key = `tool/${toolCallId}/progress/${progress.progress}`;
    try {
      await storage.toolCalls.noteProgress(turn, toolCallId, progress.progress, { key, event }, by);
    } catch (error) {
      logger.warn({ ...aboutTurn(turn), toolCallId, err: error }, 'progress of a tool call not noted');
    }
  }

  const progress = createProgressWriter(write);
  return {
    listener: {
      onSent: () => void (catalogue.needsRefresh(listed, 'missing') && list('missing')),
      onProgress: (next) => progress.note(next),
      onToolsChanged: () => list('now'),
      onProcessExit: logProcessExit(logger, server),
    },
    async settled() {
      await progress.rest();
      if (lists.size > 0) await withTimeout(Promise.all(lists), longestWaitMs, undefined);
    },
  };
}
