/** Documents of remote agents with members that are null, as many languages write what is not there. */
import { expect, test } from 'vitest';
import { startRawAgent, task } from '../../servers/raw-agent.ts';
import type { Answer, Asked } from '../../servers/raw-agent.ts';
import { call } from './one-call.ts';

const nulls = { history: null, metadata: null, artifacts: null, kind: null };
const done = task('COMPLETED', { text: 'Booked.' });
const answerWith =
  (found: object) =>
  ({ method }: Asked): Answer => ({
    result: method === 'SendMessage' ? { task: found, message: null } : found,
  });

test.each<[name: string, card: object]>([
  ['abilities', { capabilities: { streaming: null, extensions: null, pushNotifications: null } }],
  [
    'everything that may be absent',
    {
      capabilities: null,
      provider: null,
      securitySchemes: null,
      security: null,
      signatures: null,
      skills: null,
      iconUrl: null,
      documentationUrl: null,
      defaultInputModes: null,
    },
  ],
])('a card with null for %s is read', async (_, members) => {
  await using agent = await startRawAgent({
    card: (given) => ({ ...given, ...members }),
    answer: answerWith(done),
  });
  expect((await call(agent)).outcome).toMatchObject({ kind: 'result' });
});

test.each<[name: string, task: object]>([
  ['members', { ...done, ...nulls }],
  [
    'members of its message',
    {
      ...done,
      status: {
        ...done.status,
        timestamp: null,
        message: {
          messageId: 'm',
          role: 'ROLE_AGENT',
          parts: [{ text: 'Booked.', metadata: null, filename: null }],
          metadata: null,
          extensions: null,
          taskId: null,
        },
      },
    },
  ],
  [
    'a message beside an artifact',
    {
      ...done,
      status: { state: 'TASK_STATE_COMPLETED', message: null },
      artifacts: [
        {
          artifactId: 'a',
          name: null,
          description: null,
          metadata: null,
          extensions: null,
          parts: [{ text: 'Booked.', mediaType: null }],
        },
      ],
    },
  ],
])('a task with null for %s is read', async (_, found) => {
  await using agent = await startRawAgent({ answer: answerWith(found) });
  const { outcome } = await call(agent);
  expect(outcome).toMatchObject({ kind: 'result', result: { content: [{ text: 'Booked.' }] } });
});

const legacyCard = (origin: string) => ({
  name: 'Old agent',
  description: 'd',
  version: '1',
  url: `${origin}/a2a`,
  protocolVersion: '0.3.0',
  preferredTransport: null,
  additionalInterfaces: null,
  provider: null,
  security: null,
  securitySchemes: null,
  capabilities: { streaming: null, pushNotifications: null, stateTransitionHistory: null, extensions: null },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [
    {
      id: 's',
      name: 's',
      description: 'd',
      tags: [],
      examples: null,
      inputModes: null,
      outputModes: null,
      security: null,
    },
  ],
  supportsAuthenticatedExtendedCard: null,
  signatures: null,
});

test('an agent of 0.3 whose card and task have null for what is absent is called', async () => {
  const message = {
    kind: 'message',
    role: 'agent',
    messageId: 'm',
    parts: [{ kind: 'text', text: 'Booked.', metadata: null }],
    metadata: null,
    extensions: null,
    referenceTaskIds: null,
    taskId: null,
    contextId: null,
  };
  const old = {
    kind: 'task',
    id: 't1',
    contextId: 'c1',
    status: { state: 'completed', message, timestamp: null },
    artifacts: null,
    history: null,
    metadata: null,
  };
  await using agent = await startRawAgent({
    card: (given) => legacyCard(new URL((given['supportedInterfaces'] as [{ url: string }])[0].url).origin),
    answer: () => ({ result: old }),
  });
  const { outcome } = await call(agent);
  expect(outcome).toMatchObject({ kind: 'result', result: { content: [{ text: 'Booked.' }] } });
});
