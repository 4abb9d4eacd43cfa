/**
 * What operators see of all users' turns and questions, and what they may do to them. Contents require a role of their own.
 * Each action and each view of contents is audited. Turns of other tenants do not exist for an operator.
 */
import type { Logger } from 'pino';
import type { Config } from '../platform/config/config.ts';
import { openAnswer } from '../credentials/sealing/sealed-values.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { AuditEntry, ElicitationRow } from '../storage/schema/question-tables.ts';
import type {
  QuestionSearch,
  SearchPage,
  SearchPosition,
  SeenTurn,
  TurnSearch,
  TurnState,
} from '../storage/tables/oversight.ts';
import type { Storage } from '../storage/storage.ts';
import { turnEntries } from '../storage/log/turn-entries.ts';
import { timelineOf, waitedMs } from '../turn/timeline/timeline.ts';
import type { MoreFacts, TimelineItem } from '../turn/timeline/timeline.ts';
import { turnWorkflowId } from '../turn/turn.ts';
import { stopTurn } from './end-turn.ts';
import type { Principal } from './principal.ts';
import { ServiceError } from './service-error.ts';

export type {
  QuestionSearch,
  SearchPosition,
  SeenTurn,
  TurnSearch,
  TurnState,
} from '../storage/tables/oversight.ts';
export type { ElicitationRow as SeenQuestion } from '../storage/schema/question-tables.ts';

/** The acting operator. */
export interface Operator {
  /** Null: all tenants, from the command line. */
  tenant: string | null;
  /** For the audit. */
  actor: string;
  address: string | null;
  seesContents: boolean;
}

export interface Page<Item> {
  items: Item[];
  /** The position of the next page; null on the last page. */
  next: SearchPosition | null;
}

export interface TurnStory {
  turn: SeenTurn;
  /** Null: unknown. */
  links: { trace: string | null; temporal: string | null };
  items: TimelineItem[];
  /** How long questions were open. */
  waitedMs: number;
}

/** Refuses other principals. */
export function operatorOf(principal: Principal, address: string | null): Operator {
  if (principal.kind === 'service' || principal.actor || principal.isOperator !== true)
    throw new ServiceError(
      'forbidden',
      'This is for operators: users whose token has the role of AUTH_OPERATOR_ROLE.',
    );
  const { tenant, user, seesContents = false } = principal;
  return { tenant, actor: user, address, seesContents };
}

interface Parts {
  storage: Storage;
  config: Pick<Config, 'temporal' | 'traceUrl'>;
  keys: KeyRing;
  logger: Logger;
}

/** Turns may be named by the first eight characters of their id, if these are unique. */
export type Operators = ReturnType<typeof createOperators>;

export function createOperators({ storage, config, keys, logger }: Parts) {
  const { oversight, elicitations, audit } = storage;

  async function find(by: Operator, turnId: string): Promise<SeenTurn> {
    const turn = await oversight.turn(await wholeId(by, turnId));
    if (!turn || !isWithin(by, turn))
      throw new ServiceError('turn_not_found', 'There is no turn with this id.');
    return turn;
  }

  /** Log lines show the first eight characters. */
  async function wholeId({ tenant }: Operator, given: string): Promise<string> {
    if (!/^[0-9a-f]{8}$/.test(given)) return given;
    const [first = given, second] = await oversight.idsBeginningWith(tenant, given);
    if (second !== undefined)
      throw new ServiceError('turn_not_found', `Several turns begin with ${given}: give the whole id.`);
    return first;
  }

  async function findQuestion(by: Operator, id: string): Promise<ElicitationRow> {
    const question = await elicitations.get(id);
    if (!question || !isWithin(by, question))
      throw new ServiceError('elicitation_not_found', 'There is no question with this id.');
    return question;
  }

  async function storyOf(turn: SeenTurn, contents: boolean): Promise<TurnStory> {
    const { turnId } = turn;
    const last = (await storage.turnLog.endOf(turn)) ?? (await storage.turnLog.latest(turn));
    const [{ entries }, questions, entriesOfAudit, attempts] = await Promise.all([
      turnEntries(storage.turnLog, turn, last),
      oversight.questionsOf(turnId),
      audit.ofTurn(turnId),
      oversight.attemptsOf(turnId),
    ]);
    const more: MoreFacts = {
      questions: await Promise.all(
        questions.map(async (question) => {
          const { id, user, settledAt } = question;
          const answer = contents ? await answerTo(question) : undefined;
          const settledBy = settlerOf(question, entriesOfAudit);
          return { id, user, settledAt, settledBy, ...(answer !== undefined && { answer }) };
        }),
      ),
      attempts,
      acts: entriesOfAudit.flatMap(({ at, action, actor, turnId: about }) =>
        about !== undefined && (action === 'cancelled' || action === 'viewed')
          ? [{ at, action, actor: actor ?? 'somebody' }]
          : [],
      ),
    };
    const items = timelineOf(entries, { contents, more });
    const [first] = items;
    const message = contents ? asText(await storage.turns.given(turn)) : '';
    if (first?.kind === 'started' && message !== '') first.contents = [{ label: 'Message', text: message }];
    return { turn, links: linksOf(config, turn), items, waitedMs: waitedMs(items, storage.now()) };
  }

  async function answerTo({ id, responseId }: ElicitationRow): Promise<string | undefined> {
    const answer = responseId === null ? null : await elicitations.recorded(id, responseId);
    if (answer?.sealedContent === null || answer?.sealedContent === undefined) return undefined;
    return openAnswer(keys, id, answer.sealedContent);
  }

  function requireContents(by: Operator): void {
    if (by.seesContents) return;
    throw new ServiceError(
      'forbidden',
      'Contents are for operators whose token also has the role of AUTH_CONTENTS_ROLE.',
    );
  }

  function entryOf(
    by: Operator,
    action: AuditEntry['action'],
    about: Pick<AuditEntry, 'tenant' | 'detail'> & Partial<AuditEntry>,
  ): AuditEntry {
    return { at: storage.now(), elicitationId: '', actor: by.actor, action, address: by.address, ...about };
  }

  return {
    async turns(by: Operator, search: TurnSearch, { after, limit }: SearchPage): Promise<Page<SeenTurn>> {
      const items = await oversight.turns(by.tenant, search, { after, limit: limit + 1 });
      return pageOf(items, limit, ({ createdAt, turnId: id }) => ({ createdAt, id }));
    },
    async questions(
      by: Operator,
      search: QuestionSearch,
      { after, limit }: SearchPage,
    ): Promise<Page<ElicitationRow>> {
      const items = await oversight.questions(by.tenant, search, { after, limit: limit + 1 });
      return pageOf(items, limit, ({ createdAt, id }) => ({ createdAt, id }));
    },
    story: async (by: Operator, turnId: string): Promise<TurnStory> => storyOf(await find(by, turnId), false),
    /** The story with messages, calls and answers. */
    async contents(by: Operator, id: string): Promise<TurnStory> {
      requireContents(by);
      const turn = await find(by, id);
      const { tenant, turnId } = turn;
      await audit.record(entryOf(by, 'viewed', { tenant, turnId, detail: 'contents of a turn' }));
      return storyOf(turn, true);
    },
    /** False: it had ended, or was ending. */
    async cancel(by: Operator, id: string): Promise<boolean> {
      const turn = await find(by, id);
      const { tenant, turnId } = turn;
      const detail = 'turn of a user, by an operator';
      return stopTurn({ storage, logger }, turn, entryOf(by, 'cancelled', { tenant, turnId, detail }));
    },
    /** The question after it; `isChanged` is false when it had been settled before. */
    async expire(
      by: Operator,
      elicitationId: string,
    ): Promise<{ question: ElicitationRow; isChanged: boolean }> {
      const { tenant, status, turnId } = await findQuestion(by, elicitationId);
      const detail = 'question to a user, by an operator';
      const [settled] = await elicitations.settle(
        [elicitationId],
        { type: 'expired-by-operator' },
        { audit: entryOf(by, 'expired', { tenant, turnId, elicitationId, detail }) },
      );
      const question = settled?.question ?? (await findQuestion(by, elicitationId));
      return { question, isChanged: status === 'pending' && question.status === 'expired' };
    },
    question: findQuestion,
    /** Those of these turns whose contents the operator may see. Each view is audited. */
    async readable(by: Operator, turnIds: Iterable<string>): Promise<Set<string>> {
      requireContents(by);
      const readable = new Set<string>();
      for (const turnId of new Set(turnIds)) {
        const turn = await oversight.turn(turnId);
        if (!turn || !isWithin(by, turn)) continue;
        const detail = 'payloads in Temporal’s UI';
        await audit.record(entryOf(by, 'viewed', { tenant: turn.tenant, turnId, detail }));
        readable.add(turnId);
      }
      return readable;
    },
  };
}

/** The state that operators are shown. */
export function stateOf({
  status,
  endingAt,
  waitsFor,
}: Pick<SeenTurn, 'status' | 'endingAt' | 'waitsFor'>): TurnState {
  if (status !== 'starting' && status !== 'running') return status;
  if (endingAt !== null) return 'cancelling';
  return waitsFor.length > 0 ? 'waiting' : 'working';
}

function linksOf({ temporal, traceUrl }: Parts['config'], turn: SeenTurn): TurnStory['links'] {
  const { traceId } = turn;
  const workflow = `/namespaces/${encodeURIComponent(temporal.namespace)}/workflows/${encodeURIComponent(turnWorkflowId(turn))}`;
  return {
    trace: traceUrl === undefined || traceId === null ? null : traceUrl.replaceAll('{traceId}', traceId),
    temporal: temporal.uiUrl === undefined ? null : temporal.uiUrl + workflow,
  };
}

function isWithin(by: Operator, { tenant }: { tenant: string }): boolean {
  return by.tenant === null || by.tenant === tenant;
}

function pageOf<Item>(found: Item[], limit: number, positionOf: (item: Item) => SearchPosition): Page<Item> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last && found.length > limit ? positionOf(last) : null };
}

const settling = new Set<AuditEntry['action']>(['answered', 'connected', 'expired']);

/** The actor of the last entry; null while the question is open. */
function settlerOf({ id, status }: ElicitationRow, entries: AuditEntry[]): string | null {
  if (status === 'pending') return null;
  const entry = entries.findLast(({ elicitationId, action }) => elicitationId === id && settling.has(action));
  // The answer of an expired question was a consent, which did not settle it.
  if (status === 'expired' && entry?.action !== 'expired') return null;
  return entry?.actor ?? null;
}

/** A message's texts; other parts are named by their type. */
function asText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content === null ? '' : JSON.stringify(content);
  return content
    .map((part: { type?: string; text?: string }) => part.text ?? `[${part.type ?? 'part'}]`)
    .join('\n');
}
