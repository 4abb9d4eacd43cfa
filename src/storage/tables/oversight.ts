/** What operators read: the turns and questions of all users, and figures of the installation. `tenant` null: all tenants. */
import { sql } from 'kysely';
import type { ExpressionBuilder, Kysely } from 'kysely';
import type { Status } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { TurnEndStatus, TurnStatus } from '../../turn/turn.ts';
import type { ElicitationRow } from '../schema/question-tables.ts';
import type { TurnRow } from './turn-rows.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';
import { findRows } from '../statements.ts';
import { attemptWithinExecution } from './call-attempt.ts';
import { toElicitation } from './elicitation-rows.ts';
import { selectTurns, toTurn } from './turn-rows.ts';

/** `waiting`: running, with an open question. `working`: running, without one. `cancelling`: asked to stop. */
export type TurnState = 'waiting' | 'working' | 'cancelling' | TurnEndStatus;

export interface TurnSearch {
  user?: string | undefined;
  /** The service of an API key that started it for no user. */
  service?: string | undefined;
  agent?: string | undefined;
  /** A server or a delegated agent that the turn has called. */
  server?: string | undefined;
  state?: TurnState | undefined;
  /** Accepted at this time or later, in epoch milliseconds. */
  since?: number | undefined;
  /** Before this time. */
  until?: number | undefined;
}

export interface QuestionSearch extends Pick<TurnSearch, 'user' | 'agent' | 'server' | 'since' | 'until'> {
  status?: Status | undefined;
}

/** The last item of the previous page. */
export interface SearchPosition {
  createdAt: number;
  id: string;
}

export interface SearchPage {
  after: SearchPosition | null;
  limit: number;
}

export interface SeenTurn extends TurnRow {
  /** Oldest first. */
  waitsFor: ElicitationRow[];
  /** Null: it is not traced. */
  traceId: string | null;
}

/** How often the model and the tools of a turn were called for the same step or call. */
export interface Attempts {
  /** By the step's key (turn/event.ts), with its delegation. */
  steps: Map<string, number>;
  /** By the call's id: attempts since its last pause. */
  calls: Map<string, number>;
}

export function createOversight({ query }: Database) {
  return {
    /** Newest first. */
    async turns(tenant: string | null, search: TurnSearch, page: SearchPage): Promise<SeenTurn[]> {
      const rows = await searchTurns(query, tenant, search, page);
      return withQuestions(query, rows.map(toTraced));
    },
    questions: (tenant: string | null, search: QuestionSearch, page: SearchPage): Promise<ElicitationRow[]> =>
      searchQuestions(query, tenant, search, page),
    async turn(turnId: string): Promise<SeenTurn | null> {
      const row = await selectTurns(query, {}).where('turns.turn_id', '=', turnId).executeTakeFirst();
      const [turn] = row ? await withQuestions(query, [toTraced(row)]) : [];
      return turn ?? null;
    },
    /** Ids that begin with these hexadecimal characters; at most two. */
    async idsBeginningWith(tenant: string | null, start: string): Promise<string[]> {
      const rows = await query
        .selectFrom('turns')
        .select('turn_id')
        .$if(tenant !== null, (turns) => turns.where('tenant', '=', tenant ?? ''))
        // A range of the index under every collation: no hexadecimal digit comes after `f`.
        .where('turn_id', '>=', start)
        .where('turn_id', '<', `${start}g`)
        .where(sql<string>`substr(turn_id, 1, ${sql.lit(start.length)})`, '=', start)
        .limit(2)
        .execute();
      return rows.map((row) => row.turn_id);
    },
    /** Oldest first. */
    async questionsOf(turnId: string): Promise<ElicitationRow[]> {
      const rows = await findRows(query, 'elicitations', { turn_id: turnId }, 'created_at', 'id');
      return rows.map(toElicitation);
    },
    async attemptsOf(turnId: string): Promise<Attempts> {
      const [steps, calls] = await Promise.all([
        findRows(query, 'turn_steps', { turn_id: turnId }),
        query
          .selectFrom('tool_calls')
          .select(['tool_call_id', 'attempt'])
          .where('turn_id', '=', turnId)
          .execute(),
      ]);
      return {
        steps: new Map(steps.map(({ key, attempt }) => [key, attempt])),
        calls: new Map(calls.map((row) => [row.tool_call_id, attemptWithinExecution(row.attempt)])),
      };
    },
  };
}

function searchTurns(
  query: Database['query'],
  tenant: string | null,
  { user, service, agent, server, state, since, until }: TurnSearch,
  { after, limit }: SearchPage,
) {
  return selectTurns(query, tenant === null ? {} : { tenant })
    .$if(user !== undefined, (turns) => turns.where('turns.user_id', '=', user ?? ''))
    .$if(service !== undefined, (turns) => turns.where('turns.service', '=', service ?? ''))
    .$if(agent !== undefined, (turns) => turns.where('turns.agent', '=', agent ?? ''))
    .$if(state !== undefined, (turns) => turns.where('turns.status', 'in', statusesOf(state)))
    .$if(state === 'waiting', (turns) => turns.where(hasOpenQuestion))
    .$if(state === 'working', (turns) =>
      turns.where('turns.ending_at', 'is', null).where((row) => row.not(hasOpenQuestion(row))),
    )
    .$if(state === 'cancelling', (turns) => turns.where('turns.ending_at', 'is not', null))
    .$if(server !== undefined, (turns) => turns.where(hasCalled(server ?? '')))
    .$if(since !== undefined, (turns) => turns.where('turns.created_at', '>=', since ?? 0))
    .$if(until !== undefined, (turns) => turns.where('turns.created_at', '<', until ?? 0))
    .$if(after !== null, (turns) =>
      turns.where(
        sql<boolean>`(turns.created_at, turns.turn_id) < (${after?.createdAt ?? 0}, ${after?.id ?? ''})`,
      ),
    )
    .orderBy('turns.created_at', 'desc')
    .orderBy('turns.turn_id', 'desc')
    .limit(limit)
    .execute();
}

function statusesOf(state: TurnState | undefined): TurnStatus[] {
  if (state === undefined) return [];
  return state === 'waiting' || state === 'working' || state === 'cancelling'
    ? ['starting', 'running']
    : [state];
}

type OfTurn = ExpressionBuilder<Tables, 'turns'>;

function hasOpenQuestion(row: OfTurn) {
  return row.exists(
    row
      .selectFrom('elicitations')
      .select('elicitations.id')
      .whereRef('elicitations.turn_id', '=', 'turns.turn_id')
      .where('elicitations.status', '=', 'pending'),
  );
}

/** By the tools' names, as the model knows them: `tracker__list_issues`, `connect_tracker`, `agent__researcher`. */
function hasCalled(server: string) {
  const prefix = `${server}__`;
  return (row: OfTurn) =>
    row.exists(
      row
        .selectFrom('tool_calls')
        .select('tool_calls.tool_call_id')
        .whereRef('tool_calls.turn_id', '=', 'turns.turn_id')
        .where((call) =>
          call.or([
            call(sql<string>`substr(tool_calls.tool_name, 1, ${sql.lit(prefix.length)})`, '=', prefix),
            call('tool_calls.tool_name', 'in', [`connect_${server}`, `agent__${server}`]),
          ]),
        ),
    );
}

async function searchQuestions(
  query: Kysely<Tables>,
  tenant: string | null,
  { user, agent, server, status, since, until }: QuestionSearch,
  { after, limit }: SearchPage,
): Promise<ElicitationRow[]> {
  const rows = await query
    .selectFrom('elicitations')
    .selectAll()
    .$if(tenant !== null, (questions) => questions.where('tenant', '=', tenant ?? ''))
    .$if(user !== undefined, (questions) => questions.where('user_id', '=', user ?? ''))
    .$if(agent !== undefined, (questions) => questions.where('agent', '=', agent ?? ''))
    .$if(server !== undefined, (questions) =>
      questions.where(sql<boolean>`request like ${asMember('server', server)} escape '\\'`),
    )
    .$if(status !== undefined, (questions) => questions.where('status', '=', status ?? 'pending'))
    .$if(since !== undefined, (questions) => questions.where('created_at', '>=', since ?? 0))
    .$if(until !== undefined, (questions) => questions.where('created_at', '<', until ?? 0))
    .$if(after !== null, (questions) =>
      questions.where(sql<boolean>`(created_at, id) < (${after?.createdAt ?? 0}, ${after?.id ?? ''})`),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toElicitation);
}

/** In JSON. Quotes inside a text are escaped, so only members match. */
function asMember(name: string, value = ''): string {
  const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return `%${member.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
}

type Traced = Omit<SeenTurn, 'waitsFor'>;

/** W3C's `traceparent`: version, trace id, span id, flags. */
function toTraced(row: Parameters<typeof toTurn>[0]): Traced {
  return { ...toTurn(row), traceId: row.trace_parent?.split('-')[1] ?? null };
}

async function withQuestions(query: Kysely<Tables>, turns: Traced[]): Promise<SeenTurn[]> {
  const live = turns.filter(({ endedAt }) => endedAt === null).map(({ turnId }) => turnId);
  const rows =
    live.length === 0
      ? []
      : await query
          .selectFrom('elicitations')
          .selectAll()
          .where('turn_id', 'in', live)
          .where('status', '=', 'pending')
          .orderBy('created_at')
          .orderBy('id')
          .execute();
  const questions = Map.groupBy(rows.map(toElicitation), ({ turnId }) => turnId);
  return turns.map((turn) => ({ ...turn, waitsFor: questions.get(turn.turnId) ?? [] }));
}

/** Counts for the whole installation, at one moment. */
export interface Figures {
  /** By the server whose account a question asks for; null: all other questions, always present. */
  questions: { server: string | null; open: number; overdue: number }[];
  /**
   * Turns that have not ended. `starting`: not begun by a worker; `waiting`: with an open question; `running`: the others.
   */
  turns: { starting: number; waiting: number; running: number };
  /** `overdueMs`: how long the oldest due mark has been due; 0: none is. */
  outbox: { pending: number; overdueMs: number };
}

/** Each query uses an index that contains only what it counts. */
export async function readFigures({ query, now, timeIn }: Database): Promise<Figures> {
  const time = await timeIn(query);
  const [questions, waiting, live, outbox] = await Promise.all([
    query
      .selectFrom('elicitations')
      .select(({ fn }) => [
        'server',
        fn.countAll().as('open'),
        sql<number>`sum(case when deadline <= ${time} then 1 else 0 end)`.as('overdue'),
      ])
      .where('status', '=', 'pending')
      .groupBy('server')
      .execute(),
    query
      .selectFrom('elicitations')
      .select(({ fn }) => fn.count('turn_id').distinct().as('turns'))
      .where('status', '=', 'pending')
      .executeTakeFirst(),
    query
      .selectFrom('turns')
      .select(({ fn }) => ['status', fn.countAll().as('turns')])
      .where('ended_at', 'is', null)
      .groupBy('status')
      .execute(),
    query
      .selectFrom('outbox')
      .select(({ fn }) => [fn.countAll().as('pending'), fn.min('due_at').as('due')])
      .executeTakeFirst(),
  ]);
  const counted = questions.map(({ server, open, overdue }) => ({
    server,
    open: Number(open),
    overdue: Number(overdue),
  }));
  const withState = (state: string) => Number(live.find(({ status }) => status === state)?.turns ?? 0);
  const turnsThatWait = Number(waiting?.turns ?? 0);
  const due = outbox?.due ?? null;
  return {
    questions: counted.some(({ server }) => server === null)
      ? counted
      : [{ server: null, open: 0, overdue: 0 }, ...counted],
    turns: {
      starting: withState('starting'),
      waiting: turnsThatWait,
      running: Math.max(0, withState('running') - turnsThatWait),
    },
    outbox: {
      pending: Number(outbox?.pending ?? 0),
      overdueMs: due === null ? 0 : Math.max(0, now() - Number(due)),
    },
  };
}
