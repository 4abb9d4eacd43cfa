/** What a delegated agent signals may arrive together with the news that it has started, when its parent's worker is busy. */
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { installQuietRuntime } from '../quiet-runtime.ts';
import { workflowBundle } from '../workflow-bundle.ts';
import { recordedIn, replay } from './recorded-histories.ts';
import type { Recorded } from './recorded-histories.ts';

const { recorded } = recordedIn(path.join(import.meta.dirname, 'histories'));

beforeAll(() => installQuietRuntime());

/** The history up to `last`, as if the workflow tasks of these events had not been: what came in waits for the next one. */
function withoutTasks({ events }: Recorded, skipped: number[], last: number): Recorded {
  const kept = events.slice(0, last).filter((_, index) => !skipped.includes(index + 1));
  const renumbered = new Map(
    kept.map((event, index) => [(event as unknown as { eventId: string }).eventId, String(index + 1)]),
  );
  const text = JSON.stringify(kept, (key, value: unknown) =>
    /eventId$/i.test(key) ? (renumbered.get(String(value)) ?? value) : value,
  );
  return { events: JSON.parse(text) as Recorded['events'] };
}

test('the account that it wants is decided on all the same', async () => {
  const shared = recorded('task-shared-account');
  const taskAfterStart = [14, 16, 17];
  const taskAfterPhase = [19, 20, 21];
  const types = (ids: number[]) => ids.map((id) => shared.events[id - 1]?.eventType.replace(/^.*TASK_/, ''));
  expect(types([...taskAfterStart, ...taskAfterPhase])).toEqual(
    Array(2).fill(['SCHEDULED', 'STARTED', 'COMPLETED']).flat(),
  );
  const history = withoutTasks(shared, [...taskAfterStart, ...taskAfterPhase], 30);
  const names = history.events.map(({ eventType }) => eventType);
  // In one task: that both have started, that one of them wants the account, and the verdict.
  const verdict = names.indexOf('EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED');
  expect(names.slice(verdict - 7, verdict).filter((name) => name.includes('TASK_COMPLETED'))).toHaveLength(1);
  const { workflowId = '' } = history.events[0]?.workflowExecutionStartedEventAttributes ?? {};
  const [error] = await replay({ workflowBundle: await workflowBundle() }, [{ workflowId, history }]);
  expect(error).toBeUndefined();
});
