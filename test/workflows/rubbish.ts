/** Malformed signals, which anyone can send who may signal a workflow. */
import type { WorkflowHandle } from '@temporalio/client';
import { RawValue } from '@temporalio/common';
import * as messages from '../../src/workflows/messages.ts';
import { turnNews } from '../../src/workflows/messages.ts';

/** The names of all signals. */
export const signals = Object.values<unknown>(messages).flatMap((value) =>
  typeof value === 'object' && value && 'type' in value && value.type === 'signal' && 'name' in value
    ? [String(value.name)]
    : [],
);

interface Ids {
  elicitationId: string;
  toolCallId: string;
}

/** What would have an effect, so that what is nearly right is tried as well. */
export const sensible: Record<string, (ids: Ids) => Record<string, unknown>> = {
  questionsSettled: ({ elicitationId }) => ({ elicitationIds: [elicitationId] }),
  callWaits: ({ toolCallId, elicitationId }) => ({
    toolCallId,
    questions: [{ elicitationId, remainingMs: 60_000, mode: 'form', askedBy: 'tracker' }],
  }),
};

const unreadable: [encoding: string | undefined, data: string | undefined][] = [
  ['json/plain', '{'],
  ['json/plain', undefined],
  // Not used here.
  ['json/protobuf', '{}'],
  ['mine', 'x'],
  [undefined, '{}'],
  ['binary/interlude-sealed', 'forged'],
  ['binary/interlude-sealed', undefined],
];

/** Payloads that the SDK cannot read, before any handler is called. */
export const payloads = unreadable.map(([encoding, data]) =>
  RawValue.fromPayload({
    metadata: encoding === undefined ? {} : { encoding: Buffer.from(encoding) },
    ...(data !== undefined && { data: Buffer.from(data) }),
  }),
);

const shapes = [null, false, 7, 'word', [], [null], {}, { a: { b: 1 } }];

/** No argument, any wrong shape, too little, one thing wrong at a time, and nothing that can be read. */
function rubbish(right: Record<string, unknown>): unknown[][] {
  const names = Object.keys(right);
  const without = names.map((name) => ({ ...right, [name]: undefined }));
  const spoilt = names.flatMap((name) =>
    shapes
      .filter((shape) => typeof shape !== typeof right[name] || Array.isArray(shape))
      .map((shape) => ({ ...right, [name]: shape }))
      // No questions at all make sense.
      .filter((message) => JSON.stringify(Object.values(message)).includes('[]') === false),
  );
  return [[], ...[...shapes, ...without, ...spoilt, ...payloads].map((message) => [message])];
}

/** Every signal that workflows of ours listen to, in every wrong form. */
export async function sendRubbish(handle: WorkflowHandle, ids: Ids): Promise<void> {
  for (const [name, right] of Object.entries(sensible))
    await Promise.all(rubbish(right(ids)).map((args) => handle.signal(name, ...args)));
  await Promise.all([...shapes, ...payloads].map((shape) => handle.signal(turnNews.name, shape)));
}
