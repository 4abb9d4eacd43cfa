/**
 * Writes the progress of calls to the turn log, throttled: the first report at once, then the newest one every `everyMs`,
 * and always the last one. Reports that do not increase the progress are ignored.
 */
import type { CallProgress } from '../remote/remote-servers.ts';
import type { CallAttempt } from '../storage/tables/call-attempt.ts';
import type { Storage } from '../storage/storage.ts';
import type { TurnRef } from '../turn/turn.ts';

interface ProgressWriter {
  note(progress: CallProgress): void;
  /** Writes the last report if it is not written yet. Later ones are ignored. */
  rest(): Promise<void>;
}

/** `write` must not reject. `everyMs`: pause between two writes. */
export function createProgressWriter(
  write: (progress: CallProgress) => Promise<void>,
  { everyMs = 500 }: { everyMs?: number } = {},
): ProgressWriter {
  let newest = -Infinity;
  let waiting: CallProgress | undefined;
  let pause: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  let isOver = false;

  function flush(): void {
    pause = undefined;
    if (!waiting) return;
    const notice = waiting;
    waiting = undefined;
    writing = writing.then(() => write(notice));
    pause = setTimeout(flush, everyMs);
  }

  return {
    note(progress) {
      if (isOver || !(progress.progress > newest)) return;
      newest = progress.progress;
      waiting = progress;
      if (!pause) flush();
    },
    async rest() {
      isOver = true;
      clearTimeout(pause);
      flush();
      clearTimeout(pause);
      await writing;
    },
  };
}

interface ReportingCall {
  turn: TurnRef;
  toolCallId: string;
  toolName: string;
}

export interface ToolProgressWriters {
  note(call: ReportingCall, progress: CallProgress): void;
  /** Writes the call's last report if it is not written yet. */
  rest(turn: TurnRef, toolCallId: string): Promise<void>;
}

/** Newer than every attempt that begins a call, so that its writes are accepted. */
const afterBeginning = { execution: 1, attempt: 1 };

export function createToolProgressWriters(storage: Storage): ToolProgressWriters {
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

/** Writes the progress of one call. Nothing depends on progress, so failures only go to `onFailure`. */
export function progressOfCall(
  { toolCalls }: Storage,
  { turn, toolCallId, toolName }: ReportingCall,
  by: CallAttempt,
  onFailure: (error: unknown) => void = () => undefined,
): ProgressWriter {
  return createProgressWriter(async (progress) => {
    const event = { type: 'tool-progress', toolCallId, toolName, ...progress } as const;
    // Progress only grows, so no two reports of a call have the same key.
    const named = { key: `tool/${toolCallId}/progress/${progress.progress}`, event };
    await toolCalls.noteProgress(turn, toolCallId, progress.progress, named, by).catch(onFailure);
  });
}
