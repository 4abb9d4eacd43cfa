/** What nobody should send to a workflow, and anybody can who may signal it. */
import { QueryNotRegisteredError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { RawValue, ValueError } from '@temporalio/common';
import type { QueryDefinition, SignalDefinition } from '@temporalio/common';
import * as messages from '../../src/workflows/messages.ts';
import { turnNews } from '../../src/workflows/messages.ts';

export const namesOf = (kind: (SignalDefinition | QueryDefinition<unknown>)['type']) =>
  Object.values<unknown>(messages).flatMap((value) =>
    typeof value === 'object' && value && 'type' in value && value.type === kind && 'name' in value
      ? [String(value.name)]
      : [],
  );

interface Ids {
  elicitationId: string;
  toolCallId: string;
}

/** What would have an effect, so that what is nearly right is tried as well. */
export const sensible: Record<string, (ids: Ids) => Record<string, unknown>> = {
  answerElicitation: ({ elicitationId }) => ({
    elicitationId,
    responseId: 'response',
    action: 'decline',
    user: 'alice',
  }),
  connectionEstablished: () => ({ server: 'tracker', version: 1000 }),
  supersede: () => ({ until: 4_000_000_000_000 }),
  delegatePhase: ({ toolCallId }) => ({ toolCallId, phase: 'working' }),
  accountWanted: ({ toolCallId }) => ({ toolCallId, server: 'tracker' }),
  accountVerdict: () => ({ server: 'tracker', verdict: 'decline' }),
  accountConcluded: ({ toolCallId }) => ({ toolCallId, server: 'tracker', result: 'decline' }),
  serverAsks: ({ toolCallId, elicitationId }) => ({
    toolCallId,
    round: 1,
    questions: [{ elicitationId, mode: 'form' }],
  }),
  serverNews: ({ elicitationId }) => ({ elicitationIds: [elicitationId], news: 'server_gone' }),
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
      // No questions at all is a sensible thing to say.
      .filter((message) => JSON.stringify(Object.values(message)).includes('[]') === false),
  );
  return [[], ...[...shapes, ...without, ...spoilt, ...payloads].map((message) => [message])];
}

/** Every signal and query that workflows of ours listen to, in every wrong form. */
export async function sendRubbish(handle: WorkflowHandle, ids: Ids): Promise<void> {
  for (const [name, right] of Object.entries(sensible))
    await Promise.all(rubbish(right(ids)).map((args) => handle.signal(name, ...args)));
  await Promise.all([...shapes, ...payloads].map((shape) => handle.signal(turnNews.name, shape)));
  for (const name of namesOf('query'))
    for (const args of [[], ...[...shapes, ...payloads].map((shape) => [shape])])
      await handle.query(name, ...args).catch(unlessSealedOrUnknown);
}

/** A tool and a delivery answer to fewer queries than a turn, and a tool seals its answers. */
function unlessSealedOrUnknown(error: unknown): void {
  if (!(error instanceof QueryNotRegisteredError || error instanceof ValueError)) throw error;
}
