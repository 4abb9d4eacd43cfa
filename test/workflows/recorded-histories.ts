/** Histories as files, and what today's workflow code makes of them. */
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Worker } from '@temporalio/worker';
import type { ReplayWorkerOptions } from '@temporalio/worker';

interface RecordedEvent {
  eventType: string;
  workflowExecutionStartedEventAttributes?: { workflowId: string };
  activityTaskScheduledEventAttributes?: { activityType: { name: string } };
}
export interface Recorded {
  events: RecordedEvent[];
}
export interface Replay {
  workflowId: string;
  history: Recorded;
}

export function recordedIn(folder: string) {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => path.basename(file, '.json'))
    .toSorted();
  const recorded = (name: string) =>
    JSON.parse(readFileSync(path.join(folder, `${name}.json`), 'utf8')) as Recorded;
  return {
    names,
    recorded,
    whole: (name: string) => replayOf(recorded(name)),
    /** Ends with the last decision of the workflow, as a history does while its turn is under way. */
    cutOff(name: string) {
      const { events } = recorded(name);
      const last = events.findLastIndex(
        ({ eventType }) => eventType === 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED',
      );
      return replayOf({ events: events.slice(0, last + 1) });
    },
  };
}

function replayOf(history: Recorded): Replay {
  const { workflowId } = history.events[0]?.workflowExecutionStartedEventAttributes ?? {};
  if (workflowId === undefined) throw new Error('a recorded history begins with the start of its workflow');
  return { workflowId, history };
}

/** All in one worker: each one started for itself loads the whole bundle anew. Resolves to the errors, in order. */
export async function replay(
  options: ReplayWorkerOptions,
  replays: Replay[],
): Promise<(Error | undefined)[]> {
  const errors: (Error | undefined)[] = [];
  for await (const { error } of Worker.runReplayHistories(options, replays)) errors.push(error);
  if (errors.length !== replays.length)
    throw new Error(`${errors.length} of ${replays.length} were replayed`);
  return errors;
}
