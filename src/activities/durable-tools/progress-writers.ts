/** The progress that tools in TypeScript report, one writer for each call that reports any. */
import type { Storage } from '../../storage/storage.ts';
import type { CallAttempt } from '../../storage/ports/tool-calls.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { createProgressWriter } from '../call-tool/progress-writer.ts';
import type { ProgressWriter } from '../call-tool/progress-writer.ts';
import type { CallProgress } from '../../remote/call-listener.ts';

interface ReportingCall {
  turn: TurnRef;
  toolCallId: string;
  toolName: string;
}

export interface ToolProgressWriters {
  note(call: ReportingCall, progress: CallProgress): void;
  /** Writes what is not written yet. */
  rest(turn: TurnRef, toolCallId: string): Promise<void>;
}

/** Later than the attempts that begin the call. */
const afterBeginning = { execution: 1, attempt: 1 };

export function createToolProgressWriters(storage: Pick<Storage, 'toolCalls'>): ToolProgressWriters {
  const writers = new Map<string, ProgressWriter>();
  const keyOf = ({ turnId }: TurnRef, toolCallId: string) => `${turnId}/${toolCallId}`;

  return {
    note(call, progress) {
      const key = keyOf(call.turn, call.toolCallId);
      let writer = writers.get(key);
      if (!writer) {
        writer = progressOfCall(storage, call, afterBeginning);
        writers.set(key, writer);
      }
      writer.note(progress);
    },
    async rest(turn, toolCallId) {
      const key = keyOf(turn, toolCallId);
      const writer = writers.get(key);
      writers.delete(key);
      await writer?.rest();
    },
  };
}

export function progressOfCall(
  { toolCalls }: Pick<Storage, 'toolCalls'>,
  { turn, toolCallId, toolName }: ReportingCall,
  by: CallAttempt,
): ProgressWriter {
  return createProgressWriter(async (progress) => {
    const event = { type: 'tool-progress', toolCallId, toolName, ...progress } as const;
    const named = { key: `tool/${toolCallId}/progress/${progress.progress}`, event };
    // Nothing depends on it, and the next one says more.
    await toolCalls.noteProgress(turn, toolCallId, progress.progress, named, by).catch(() => undefined);
  });
}
