import { describe, expect, expectTypeOf, test } from 'vitest';
import { OperationSchema, StreamEventSchema } from '../../src/contract/stream-event.ts';
import type { Operation as ReadOperation, StreamEvent } from '../../src/contract/stream-event.ts';
import type { Context } from '../../src/elicitation/elicitation.ts';
import type { TurnEvent } from '../../../../src/turn/event.ts';
import type { Operation } from '../../../../src/turn/operations.ts';

type Json = Record<string, unknown>;

interface Example {
  /** Every member that the type has, beside those that all have. */
  members: Json;
  /** What may be left out, as paths. */
  optional?: string[];
  /** What may be anything, inside too. */
  free?: string[];
}

const common = {
  turnId: 'turn',
  path: ['researcher'],
  parentToolCallId: 'delegation',
  at: '2026-11-21T09:30:00.000Z',
};
const call = { toolCallId: 'call', toolName: 'tracker__list_issues' };
const details = { timestamp: common.at, agent: 'assistant' };

const question = {
  elicitationId: 'question',
  message: 'Tracker needs your account.',
  context: {
    trigger: 'credential_required',
    agent: 'Assistant',
    path: ['researcher'],
    server: 'tracker',
    serverTitle: 'Tracker',
    host: 'tracker.example',
    toolName: 'list_issues',
    toolCallId: 'call',
    reason: 'missing',
    scopes: ['read'],
    warnings: ['plain_http'],
  },
  status: 'pending',
  expiresAt: common.at,
};
const optionalInQuestions = [
  ...Object.keys(question.context)
    .filter((name) => name !== 'trigger')
    .map((name) => `context.${name}`),
  'context',
  'status',
  'expiresAt',
  'turnId',
  'at',
];

/** One good event of every type there is: leaving one out does not compile. */
const examples: Record<Exclude<StreamEvent['type'], 'data-operation' | 'elicitation-request'>, Example> = {
  'turn-started': { members: { agent: 'assistant', messageId: 'message' } },
  'start-step': { members: { step: 0 } },
  'text-start': { members: { id: 'part' } },
  'text-delta': { members: { id: 'part', delta: 'Hello' } },
  'text-end': { members: { id: 'part' } },
  'reasoning-start': { members: { id: 'part' } },
  'reasoning-delta': { members: { id: 'part', delta: 'Hm' } },
  'reasoning-end': { members: { id: 'part' } },
  'tool-input-available': {
    members: { ...call, input: { state: 'open' }, agent: 'researcher' },
    optional: ['agent'],
    free: ['input'],
  },
  'tool-output-available': { members: { ...call, output: { content: [] } }, free: ['output'] },
  'tool-output-error': {
    members: { ...call, errorText: 'The tool did not run.', outcome: 'decline' },
    optional: ['outcome'],
  },
  'tool-progress': {
    members: { ...call, progress: 2, total: 5, message: 'Two of five' },
    optional: ['total', 'message'],
  },
  'elicitation-consented': { members: { elicitationId: 'question' } },
  'tool-auth-required': {
    members: {
      ...call,
      server: 'tracker',
      serverTitle: 'Tracker',
      message: 'Connect it elsewhere.',
      url: 'https://interlude.example/connections',
    },
    optional: ['url'],
  },
  'finish-step': { members: { step: 0, finish: 'length' }, optional: ['finish'] },
  'reset-step': { members: { step: 0 } },
  error: { members: { code: 'TurnFailed', errorText: 'It went wrong.' } },
  'turn-ended': {
    members: { status: 'completed', usage: { inputTokens: 1, outputTokens: 2 } },
    optional: ['usage'],
  },
};
const questions: Record<Extract<StreamEvent, { type: 'elicitation-request' }>['mode'], Example> = {
  url: {
    members: { ...question, mode: 'url', url: 'https://interlude.example/auth/connect?e=1' },
    optional: optionalInQuestions,
  },
  form: {
    members: { ...question, mode: 'form', requestedSchema: { type: 'object' } },
    optional: optionalInQuestions,
    free: ['requestedSchema'],
  },
};
const operations: Record<Operation['type'], Json> = {
  model_step: { step: 0 },
  tool_call: call,
  tool_progress: { ...call, progress: 2.5, total: 5 },
  tool_result: { ...call, status: 'failed' },
  waiting_for_worker: { status: 'waiting' },
  delegation: { toolCallId: 'call', delegate: 'researcher' },
  elicitation: {
    elicitationId: 'question',
    mode: 'url',
    trigger: 'credential_required',
    server: 'tracker',
    status: 'pending',
  },
};

const table: [name: string, type: string, example: Example][] = [
  ...Object.entries(examples).map(([type, example]): [string, string, Example] => [type, type, example]),
  ...Object.entries(questions).map(([mode, example]): [string, string, Example] => [
    `elicitation-request (${mode})`,
    'elicitation-request',
    example,
  ]),
  ...Object.entries(operations).map(([type, more]): [string, string, Example] => [
    `data-operation (${type})`,
    'data-operation',
    {
      members: { id: 'op-1', data: { type, label: 'Step 1', details: { ...details, ...more } } },
      optional: ['data.details.total', 'data.details.server'],
    },
  ]),
];

const parses = (event: unknown) => StreamEventSchema.safeParse(event).success;

/** Every member, as a path: `data`, `data.details`, `data.details.agent`. */
function pathsIn(value: Json, free: string[], before = ''): string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const path = before + name;
    const isObject = typeof member === 'object' && member !== null && !Array.isArray(member);
    return [path, ...(isObject && !free.includes(path) ? pathsIn(member as Json, free, `${path}.`) : [])];
  });
}

/** A copy in which `change` was applied to the object that holds the member. */
function changed(event: Json, path: string, change: (holder: Json, name: string) => void): Json {
  const copy = structuredClone(event);
  const names = path.split('.');
  const last = names.pop() ?? '';
  change(
    names.reduce((holder, name) => holder[name] as Json, copy),
    last,
  );
  return copy;
}

function ofAnotherType(value: unknown): unknown {
  return typeof value === 'string' ? 7 : 'seven';
}

describe.each(table)('%s', (_, type, { members, optional = [], free = [] }) => {
  const good = { type, ...common, ...members };
  const paths = pathsIn(good, free).filter((path) => path !== 'type');
  const mayBeMissing = ['path', 'parentToolCallId', ...optional];

  test('parses, with all of its members and with the necessary ones', () => {
    expect(StreamEventSchema.parse(good)).toEqual(good);
    const least = mayBeMissing.reduce((event, path) => changed(event, path, remove), good as Json);
    expect(StreamEventSchema.parse(least)).toEqual(least);
  });

  test('keeps members that are not known yet', () => {
    const more = { ...good, later: { is: 'here' } };
    expect(StreamEventSchema.parse(more)).toEqual(more);
  });

  test.each(paths.filter((path) => !mayBeMissing.includes(path)))('is malformed without %s', (path) => {
    expect(parses(changed(good, path, remove))).toBe(false);
  });

  test.each(paths.filter((path) => !free.includes(path) || path === 'requestedSchema'))(
    'is malformed when %s is of another type',
    (path) => {
      const wrong = changed(good, path, (holder, name) => (holder[name] = ofAnotherType(holder[name])));
      expect(parses(wrong)).toBe(false);
    },
  );
});

function remove(holder: Json, name: string): void {
  delete holder[name];
}

test.each([
  { mode: 'url', url: 'https://interlude.example/auth/connect?e=1' },
  { mode: 'form', requestedSchema: { type: 'object', properties: {} } },
])('a question needs its id, its mode, its words and what the mode asks for: %j', (asked) => {
  const event = { type: 'elicitation-request', elicitationId: 'q1', message: 'Who are you?', ...asked };
  expect(StreamEventSchema.parse(event)).toEqual(event);
});

test('the time of an event and of a question is ISO 8601', () => {
  const step = { type: 'start-step', ...common, step: 0 };
  expect(parses(step)).toBe(true);
  expect(parses({ ...step, at: 'yesterday' })).toBe(false);
  expect(parses({ ...step, at: 1_763_717_400_000 })).toBe(false);
});

test.each([
  { type: 'turn-paused' },
  { type: 'data-weather', data: 7 },
  { type: '' },
  { type: 'Error', errorText: 7 },
])('an event of a type that is not known passes: %j', (event) => {
  expect(StreamEventSchema.parse(event)).toEqual(event);
});

test.each([{}, { type: 7 }, null, [], 'text-delta', undefined])(
  'what has no type is no event: %j',
  (event) => {
    expect(parses(event)).toBe(false);
  },
);

test('words that may become more let new ones through', () => {
  const asked = { type: 'elicitation-request', ...common, ...questions.url.members };
  const context = { ...question.context, trigger: 'by_post', reason: 'lost', warnings: ['smudged'] };
  expect(parses({ ...asked, context })).toBe(true);
  expect(parses({ ...asked, status: 'by_post' })).toBe(false);
});

/* ---- the types say what the turn log says ------------------------------------------------------------ */

type Names<T> = keyof { [Name in keyof T as string extends Name ? never : Name]: true };

/** Without what looseness adds: members of any name. */
type Said<T> = T extends readonly (infer Item)[]
  ? Said<Item>[]
  : T extends object
    ? [Names<T>] extends [never]
      ? T
      : { [Name in keyof T as string extends Name ? never : Name]: Said<Exclude<T[Name], undefined>> }
    : T;

/** Events that share a shape, one by one. */
type Each<Event> = Event extends { type: infer Type }
  ? Type extends string
    ? Omit<Event, 'type'> & { type: Type }
    : never
  : never;

/** Words that are closed where they are written are open where they are read, because there may be more; see below. */
type WithoutOpenWords<Event> = Event extends unknown
  ? Omit<Event, 'context' | 'finish' | 'because' | 'outcome'>
  : never;

/** `parts` is how merged deltas are kept; `failure` and `account` are codes of sentences. Clients do not get them. */
type AsSent<Event> = Event extends { delta: string } | { errorText: string } | { type: 'tool-auth-required' }
  ? Omit<Event, 'parts' | 'failure' | 'account'>
  : Event;

type Written = Each<AsSent<TurnEvent>> & { turnId: string; at: string };
type Read = Exclude<StreamEvent, { type: 'data-operation' }>;
type ContextRead = Extract<StreamEvent, { mode: 'url' }>['context'];

type Plain<Event> = WithoutOpenWords<Said<Event>>;
type Members<Event> = Event extends unknown ? keyof Event : never;
/** Assigning does not notice a member that only one side may have. */
type Same<One, Other> = [One, Members<One>, Other, Members<Other>] extends [
  Other,
  Members<Other>,
  One,
  Members<One>,
]
  ? true
  : false;
/** The types of events that are not the same on both sides. */
type Different = {
  [Type in Read['type']]: Same<
    Plain<Extract<Read, { type: Type }>>,
    Plain<Extract<Written, { type: Type }>>
  > extends true
    ? never
    : Type;
}[Read['type']];

test('what is written to the log is what can be read, event by event and member by member', () => {
  expectTypeOf<Read['type']>().toEqualTypeOf<Written['type']>();
  expectTypeOf<Different>().toEqualTypeOf<never>();
  expectTypeOf<Context>().toExtend<Said<ContextRead>>();
  expectTypeOf<keyof Context>().toEqualTypeOf<Names<ContextRead>>();
  expectTypeOf<Extract<Written, { type: 'finish-step' }>>().toExtend<
    Said<Extract<Read, { type: 'finish-step' }>>
  >();
  expectTypeOf<Extract<Written, { type: 'tool-output-error' }>>().toExtend<
    Said<Extract<Read, { type: 'tool-output-error' }>>
  >();
});

test('so is every operation', () => {
  expectTypeOf<Operation>().toExtend<Said<ReadOperation>>();
  expectTypeOf<Operation['type']>().toEqualTypeOf<ReadOperation['type']>();
  for (const type of Object.keys(operations)) {
    const data = { type, label: 'Step 1', details: { ...details, ...operations[type as Operation['type']] } };
    expect(OperationSchema.parse(data)).toEqual(data);
  }
});
