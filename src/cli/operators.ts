/** What operators see of turns and questions, in words: lists, and what happened in one turn. */
import { userInfo } from 'node:os';
import { onServiceDatabase } from '../platform/processes/dependencies.ts';
import { readConfig } from '../platform/processes/read-config.ts';
import type { PendingFailure } from '../platform/temporal/pending-failures.ts';
import { createOperators, stateOf } from '../service/operators.ts';
import type {
  Operator,
  Operators,
  SeenQuestion,
  SeenTurn,
  TurnState,
  TurnStory,
} from '../service/operators.ts';
import { ServiceError } from '../service/service-error.ts';
import type { Status } from '@interlude-ai/core/elicitation/elicitation.ts';
import { askedInWords, inTime, ownerInWords, waitInWords, lineOf } from '../turn/timeline/words.ts';
import { turnWorkflowId } from '../turn/turn.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { print } from '@interlude-ai/kit/terminal/terminal-text.ts';

interface GivenSearch {
  tenant?: string | undefined;
  user?: string | undefined;
  agent?: string | undefined;
  server?: string | undefined;
  /** In milliseconds. */
  older?: number | undefined;
  newer?: number | undefined;
  limit: number;
}

export function listTurns(
  given: GivenSearch & { service?: string | undefined; state?: TurnState | undefined },
): Promise<void> {
  return withOperators(given.tenant, async ({ operators, by, now }) => {
    const { service, state, limit } = given;
    const search = { ...searchOf(given, now), service, state };
    const { items } = await operators.turns(by, search, { after: null, limit });
    return items.length === 0 ? 'No turn matches.' : items.map((turn) => turnLines(turn, now)).join('\n');
  });
}

export function listQuestions(given: GivenSearch & { status: Status | 'all' }): Promise<void> {
  return withOperators(given.tenant, async ({ operators, by, now }) => {
    const { status, limit } = given;
    const search = { ...searchOf(given, now), status: status === 'all' ? undefined : status };
    const { items } = await operators.questions(by, search, { after: null, limit });
    return items.length === 0
      ? 'No question matches.'
      : items.map((one) => questionLines(one, now)).join('\n');
  });
}

export function showTurn(id: string, contents: boolean): Promise<void> {
  const { temporal } = readConfig();
  return withOperators(undefined, async ({ operators, by, now }) => {
    const story = await (contents ? operators.contents(by, id) : operators.story(by, id));
    if (story.turn.endedAt !== null) return timelineOfStory(story, [], now);
    // It loads the client of Temporal.
    const { readPendingFailures } = await import('../platform/temporal/pending-failures.ts');
    return timelineOfStory(story, await readPendingFailures(temporal, turnWorkflowId(story.turn)), now);
  });
}

export function cancelOrExpire(id: string): Promise<void> {
  return withOperators(undefined, async ({ operators, by }) => {
    const isCancelled = await operators.cancel(by, id).catch(nullIf('turn_not_found'));
    if (isCancelled !== null)
      return isCancelled ? `The turn ${id} is being cancelled.` : `The turn ${id} was over.`;
    const expired = await operators.expire(by, id).catch(nullIf('elicitation_not_found'));
    if (!expired) throw new Error(`There is no turn and no question ${id}.`);
    return expired.isChanged
      ? `The question ${id} has expired.`
      : `The question ${id} was settled before: ${expired.question.status}.`;
  });
}

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

function searchOf({ user, agent, server, older, newer }: GivenSearch, now: number) {
  const before = (ms: number | undefined) => (ms === undefined ? undefined : now - ms);
  return { user, agent, server, since: before(newer), until: before(older) };
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

function timelineOfStory(
  { turn, items, links, waitedMs }: TurnStory,
  failures: PendingFailure[] | null,
  now: number,
): string {
  const { agent, turnId, conversation, createdAt, endedAt, buildId, usage } = turn;
  const took = inTime((endedAt ?? now) - createdAt);
  const waited = waitedMs > 0 ? `, of which ${inTime(waitedMs)} waiting for people` : '';
  const rows: [string, string | null][] = [
    ['turn', turnId],
    ['conversation', conversation],
    ['tenant', turn.tenant],
    ['accepted', new Date(createdAt).toISOString()],
    [endedAt === null ? 'goes on for' : 'took', took + waited],
    ...(failures ?? [null]).map((failure): [string, string] => ['last error', failureInWords(failure, now)]),
    ['tokens', usage && `${usage.inputTokens} in, ${usage.outputTokens} out`],
    ['version', buildId || null],
    ['trace', links.trace],
    ['workflow', turnWorkflowId(turn)],
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

function failureInWords(failure: PendingFailure | null, now: number): string {
  if (!failure) return 'unknown, because Temporal does not answer';
  const { message, attempts, nextAt } = failure;
  const next = nextAt === null ? 'has begun' : `in ${inTime(nextAt - now)}`;
  return `${message} (attempt ${attempts}; the next ${next})`;
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `            ${line}`)
    .join('\n');
}
