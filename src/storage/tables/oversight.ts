/** The turns and questions of all users, as operators list them. */
import { sql } from 'kysely';
import type { ExpressionBuilder, Kysely } from 'kysely';
import type { Database } from '../database.ts';
import type {
  Oversight,
  QuestionSearch,
  SearchPage,
  SeenTurn,
  TurnSearch,
  TurnState,
} from '../ports/oversight.ts';
import type { TurnStatus } from '../../turn/turn.ts';
import type { ElicitationRow } from '../ports/elicitations.ts';
import type { Tables } from '../schema.ts';
import { attemptWithinExecution } from './call-attempt.ts';
import { toElicitation } from './elicitation-rows.ts';
import { selectTurns, toTurn } from './turn-rows.ts';

export function createOversight({ query }: Database): Oversight {
  return {
    async turns(tenant, search, page) {
      const rows = await searchTurns(query, tenant, search, page);
      return withQuestions(query, rows.map(toTraced));
    },
    questions: (tenant, search, page) => searchQuestions(query, tenant, search, page),
    async turn(turnId) {
      const row = await selectTurns(query, {}).where('turns.turn_id', '=', turnId).executeTakeFirst();
      const [turn] = row ? await withQuestions(query, [toTraced(row)]) : [];
      return turn ?? null;
    },
    async idsBeginningWith(tenant, start) {
      const rows = await query
        .selectFrom('turns')
        .select('turn_id')
        .$if(tenant !== null, (turns) => turns.where('tenant', '=', tenant ?? ''))
        // A range of the index, in every order of texts: no hexadecimal digit comes after `f`.
        .where('turn_id', '>=', start)
        .where('turn_id', '<', `${start}g`)
        .where(sql<string>`substr(turn_id, 1, ${sql.lit(start.length)})`, '=', start)
        .limit(2)
        .execute();
      return rows.map((row) => row.turn_id);
    },
    async questionsOf(turnId) {
      const rows = await query
        .selectFrom('elicitations')
        .selectAll()
        .where('turn_id', '=', turnId)
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(toElicitation);
    },
    async attemptsOf(turnId) {
      const [steps, calls] = await Promise.all([
        query.selectFrom('turn_steps').select(['key', 'attempt']).where('turn_id', '=', turnId).execute(),
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

/** By the names of tools, as the model knows them: `tracker__list_issues`, `connect_tracker`, `agent__researcher`. */
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

/** In JSON. Within a text its quotes would be escaped, so it is found only as a member. */
function asMember(name: string, value = ''): string {
  const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return `%${member.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
}

type Traced = Omit<SeenTurn, 'waitsFor'>;

/** Of `traceparent` as W3C has it: version, trace id, span id, flags. */
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
