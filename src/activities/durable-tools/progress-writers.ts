/** How far tools in TypeScript say they have come, one writer for each call that says so. */
import type { Storage } from '../../storage/storage.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { createProgressWriter } from '../call-tool/progress-writer.ts';
import type { ProgressWriter } from '../call-tool/progress-writer.ts';
import type { CallProgress } from '../../remote/call-listener.ts';

export interface ToolProgressWriters {
  note(call: { turn: TurnRef; toolCallId: string; toolName: string }, progress: CallProgress): void;
  /** Writes what is not written yet. */
  rest(turn: TurnRef, toolCallId: string): Promise<void>;
}

/** Later than the attempts that begin the call. */
const execution = 1;

export function createToolProgressWriters(storage: Pick<Storage, 'toolCalls'>): ToolProgressWriters {
  const writers = new Map<string, ProgressWriter>();
  const keyOf = ({ turnId }: TurnRef, toolCallId: string) => `${turnId}/${toolCallId}`;

  return {
    note({ turn, toolCallId, toolName }, told) {
      const key = keyOf(turn, toolCallId);
      let writer = writers.get(key);
      if (!writer) {
        writer = createProgressWriter(async (progress) => {
          const event = { type: 'tool-progress', toolCallId, toolName, ...progress } as const;
          const named = { key: `tool/${toolCallId}/progress/${progress.progress}`, event };
          // Nobody waits for it, and the next one says more.
          await storage.toolCalls
            .noteProgress(turn, toolCallId, progress.progress, named, { execution, attempt: 1 })
            .catch(() => undefined);
        });
        writers.set(key, writer);
      }
      writer.note(told);
    },
    async rest(turn, toolCallId) {
      const key = keyOf(turn, toolCallId);
      const writer = writers.get(key);
      writers.delete(key);
      await writer?.rest();
    },
  };
}
