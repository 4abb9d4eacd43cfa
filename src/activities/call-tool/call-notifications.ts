/**
 * What a server reports during a call: progress, which goes into the log, and that its tools have changed. The user's list
 * of tools is fetched if it changed or is missing. Nothing here can make a call fail, and nothing starts before the request
 * is sent, so that nothing delays a call that a person has just answered.
 */
import type { Credential } from '../../credentials/credential-store.ts';
import type { CallListener } from '../../remote/remote-servers.ts';
import { logProcessExit } from '../../remote/log-process-exit.ts';
import type { RefreshWhen } from '../../remote/catalogue.ts';
import { aboutTurn } from '../../platform/telemetry/events.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import type { Attempt, CallParts } from './attempt.ts';
import { progressOfCall } from '../progress.ts';

interface CallNotifications {
  listener: CallListener;
  /** Resolves when the last progress is in the log and the list of tools is fetched, or takes too long. */
  settled(): Promise<void>;
}

/** How long a finished call waits for the list of tools, in milliseconds: the next step can work without it. */
const longestWaitMs = 1_000;

export function createCallNotifications(
  { storage, catalogue, logger }: Pick<CallParts, 'storage' | 'catalogue' | 'logger'>,
  { input, by, call, server, listed }: Pick<Attempt, 'input' | 'by' | 'call' | 'server' | 'listed'>,
  credential: Credential,
): CallNotifications {
  const { turn, toolCallId } = input;
  const lists = new Set<Promise<void>>();

  function list(when: RefreshWhen): void {
    const work = catalogue.refresh(turn, server, credential, when).finally(() => lists.delete(work));
    lists.add(work);
  }

  const progress = progressOfCall(storage, { turn, toolCallId, toolName: call.toolName }, by, (error) =>
    logger.warn({ ...aboutTurn(turn), toolCallId, err: error }, 'progress of a tool call not noted'),
  );
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
