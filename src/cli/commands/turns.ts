/**
 * `interlude turns | turn | questions | cancel`, for operators. They work on the database with the environment of a process; there
 * is no role to check, because they hold the keys of the database.
 */
import { userInfo } from 'node:os';
import { onServiceDatabase } from '../../platform/processes/dependencies.ts';
import { readConfig } from '../../platform/processes/read-config.ts';
import { turnStates } from '@interlude-ai/core/contract/operators.ts';
import { createOperators, stateOf } from '../../service/operators.ts';
import type {
  Operator,
  Operators,
  SeenQuestion,
  SeenTurn,
  TurnState,
  TurnStory,
} from '../../service/operators.ts';
import { ServiceError } from '../../service/service-error.ts';
import type { Status } from '@interlude-ai/core/elicitation/elicitation.ts';
import { askedInWords, inTime, ownerInWords, waitInWords, lineOf } from '../../turn/timeline/words.ts';
import { defineCommand, UsageError } from '@interlude-ai/kit/terminal/command.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { print } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { readDurationOption } from '@interlude-ai/kit/terminal/option-values.ts';

const search = {
  tenant: { type: 'string', value: '<tenant>', description: 'of this tenant only' },
  user: { type: 'string', value: '<user>', description: 'of this user only' },
  agent: { type: 'string', value: '<agent>', description: 'of this agent only' },
  server: {
    type: 'string',
    value: '<server>',
    description: 'that called this server, or delegated to this agent',
  },
  older: { type: 'string', value: '<duration>', description: 'accepted longer ago than that, like 10m' },
  newer: { type: 'string', value: '<duration>', description: 'accepted no longer ago than that, like 24h' },
  limit: { type: 'string', value: '<number>', description: 'how many at most', default: '50' },
} as const;

export const turns = defineCommand({
  arguments: [],
  options: {
    ...search,
    service: {
      type: 'string',
      value: '<service>',
      description: 'of this service only: of its API keys, where they call for no user',
    },
    state: { type: 'string', value: '<state>', description: turnStates.join(', ') },
  },
  details: `Newest first. ${ourCommand('turn <id>')} tells what happened in one.`,
  run: ({ state, service, limit, ...given }) =>
    withOperators(given.tenant, async ({ operators, by, now }) => {
      const { items } = await operators.turns(
        by,
        { ...searchOf(given, now), service, state: oneOf('--state', state, turnStates) },
        { after: null, limit: numberIn(limit) },
      );
      return items.length === 0 ? 'No turn matches.' : items.map((turn) => turnLines(turn, now)).join('\n');
    }),
});

export const questions = defineCommand({
  arguments: [],
  options: {
    ...search,
    older: { ...search.older, description: 'asked longer ago than that, like 10m' },
    newer: { ...search.newer, description: 'asked no longer ago than that, like 24h' },
    server: { ...search.server, description: 'of this server only' },
    status: {
      type: 'string',
      value: '<status>',
      description: 'pending, accept, decline, cancel, expired, or all',
      default: 'pending',
    },
  },
  details: 'Open questions, unless --status says otherwise; newest first.',
  run: ({ status, limit, ...given }) =>
    withOperators(given.tenant, async ({ operators, by, now }) => {
      const { items } = await operators.questions(
        by,
        {
          ...searchOf(given, now),
          status: status === 'all' ? undefined : oneOf('--status', status, statuses),
        },
        { after: null, limit: numberIn(limit) },
      );
      return items.length === 0
        ? 'No question matches.'
        : items.map((one) => questionLines(one, now)).join('\n');
    }),
});

export const turn = defineCommand({
  arguments: ['<id>'],
  details: 'The first eight characters of the id are enough; readable log lines show them.',
  options: {
    contents: {
      type: 'boolean',
      description: 'also show what was said, called and answered; the audit records it',
    },
  },
  run: ({ contents }, [id = '']) =>
    withOperators(undefined, async ({ operators, by, now }) =>
      timelineOfStory(await (contents ? operators.contents(by, id) : operators.story(by, id)), now),
    ),
});

export const cancel = defineCommand({
  arguments: ['<turn or question>'],
  options: {},
  details:
    'A turn is cancelled, and its open questions close. A question expires, and its turn goes on without an answer.',
  run: (_, [id = '']) =>
    withOperators(undefined, async ({ operators, by }) => {
      const isCancelled = await operators.cancel(by, id).catch(nullIf('turn_not_found'));
      if (isCancelled !== null)
        return isCancelled ? `The turn ${id} is being cancelled.` : `The turn ${id} was over.`;
      const expired = await operators.expire(by, id).catch(nullIf('elicitation_not_found'));
      if (!expired) throw new Error(`There is no turn and no question ${id}.`);
      return expired.isChanged
        ? `The question ${id} has expired.`
        : `The question ${id} was settled before: ${expired.question.status}.`;
    }),
});

interface Tools {
  operators: Operators;
  by: Operator;
  now: number;
}

async function withOperators(
  tenant: string | undefined,
  work: (tools: Tools) => Promise<string>,
): Promise<void> {
  const by = {
    tenant: tenant ?? null,
    actor: `${userInfo().username} (command line)`,
    address: null,
    seesContents: true,
  };
  const text = await onServiceDatabase(readConfig(), (parts) =>
    work({ operators: createOperators(parts), by, now: parts.storage.now() }),
  );
  print(`${text}\n`);
}

interface GivenSearch {
  user: string | undefined;
  agent: string | undefined;
  server: string | undefined;
  older: string | undefined;
  newer: string | undefined;
}

function searchOf({ user, agent, server, older, newer }: GivenSearch, now: number) {
  const before = (option: string, text: string | undefined) =>
    text === undefined ? undefined : now - readDurationOption(option, text);
  return { user, agent, server, since: before('--newer', newer), until: before('--older', older) };
}

function numberIn(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new UsageError(`--limit ${text} is no number from 1 to 99999.`);
  return Number(text);
}

const statuses = ['pending', 'accept', 'decline', 'cancel', 'expired'] as const satisfies Status[];

function oneOf<Word extends TurnState | Status>(
  option: string,
  given: string | undefined,
  words: readonly Word[],
): Word | undefined {
  if (given === undefined) return undefined;
  const word = words.find((one) => one === given);
  if (word === undefined) throw new UsageError(`${option} ${given} is none of ${words.join(', ')}.`);
  return word;
}

function nullIf(code: ServiceError['code']): (error: unknown) => null {
  return (error) => {
    if (error instanceof ServiceError && error.code === code) return null;
    throw error;
  };
}

function turnLines(given: SeenTurn, now: number): string {
  const { agent, createdAt, endedAt, turnId, waitsFor } = given;
  const time = inTime((endedAt ?? now) - createdAt);
  const line = [
    stateOf(given).padEnd(10),
    timeOf(createdAt),
    time.padStart(7),
    turnId,
    `${agent} for ${ownerInWords(given)}`,
  ];
  return [
    line.join('  '),
    ...waitsFor.map((question) => `            ${waitInWords(question, now)} (${question.id})`),
  ].join('\n');
}

function questionLines(question: SeenQuestion, now: number): string {
  const { id, status, createdAt, settledAt, turnId } = question;
  const time = inTime((settledAt ?? now) - createdAt);
  const what = status === 'pending' ? waitInWords(question, now) : askedInWords(question);
  return `${[status.padEnd(8), timeOf(createdAt), time.padStart(7), id, what].join('  ')}\n          turn ${turnId}`;
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}

function timelineOfStory({ turn, items, links, waitedMs }: TurnStory, now: number): string {
  const { agent, turnId, conversation, createdAt, endedAt, buildId, usage } = turn;
  const took = inTime((endedAt ?? now) - createdAt);
  const waited = waitedMs > 0 ? `, of which ${inTime(waitedMs)} waiting for people` : '';
  const rows: [string, string | null][] = [
    ['turn', turnId],
    ['conversation', conversation],
    ['tenant', turn.tenant],
    ['accepted', new Date(createdAt).toISOString()],
    [endedAt === null ? 'goes on for' : 'took', took + waited],
    ['tokens', usage && `${usage.inputTokens} in, ${usage.outputTokens} out`],
    ['version', buildId || null],
    ['trace', links.trace],
    ['Temporal', links.temporal],
  ];
  const [first] = items;
  return [
    `${agent} for ${ownerInWords(turn)}: ${stateOf(turn)}`,
    ...turn.waitsFor.map(
      (question) => `  ${waitInWords(question, now)}\n  ${ourCommand(`cancel ${question.id}`)}`,
    ),
    '',
    ...rows.flatMap(([name, text]) => (text === null ? [] : [`  ${name.padEnd(13)} ${text}`])),
    '',
    ...items.map((item) => {
      const { title, notes } = lineOf(item, now);
      const since = inTime(item.at - (first?.at ?? item.at)).padStart(8);
      const contents = (item.contents ?? []).map(({ label, text }) => indented(`${label}: ${text}`));
      return [`${since}  ${[title, ...notes].join(' · ')}`, ...contents].join('\n');
    }),
  ].join('\n');
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `            ${line}`)
    .join('\n');
}
