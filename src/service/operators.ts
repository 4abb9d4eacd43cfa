/**
 * What operators see of everyone's turns and questions, and what they may do to them. Reading contents takes a role of its own.
 * Each act and each view of contents is in the audit. Other tenants' turns do not exist for them.
 */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { openAnswer } from '../credentials/sealing/sealed-answer.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { AuditEntry } from '../storage/ports/audit.ts';
import type { ElicitationRow } from '../storage/ports/elicitations.ts';
import type {
  QuestionSearch,
  SearchPage,
  SearchPosition,
  SeenTurn,
  TurnSearch,
  TurnState,
} from '../storage/ports/oversight.ts';
import type { Storage } from '../storage/storage.ts';
import { turnEntries } from '../storage/log/turn-entries.ts';
import { timelineOf, waitedMs } from '../timeline/timeline.ts';
import type { MoreFacts, TimelineItem } from '../timeline/timeline.ts';
import { turnWorkflowId } from '../turn/turn.ts';
import { stopTurn } from './cancel-turn.ts';
import type { Principal } from './principal.ts';
import { ServiceError } from './service-error.ts';

export type {
  QuestionSearch,
  SearchPosition,
  SeenTurn,
  TurnSearch,
  TurnState,
} from '../storage/ports/oversight.ts';
export type { ElicitationRow as SeenQuestion } from '../storage/ports/elicitations.ts';

/** An operator at work. */
export interface Operator {
  /** Null: of all tenants, from the command line. */
  tenant: string | null;
  /** For the audit, as is `address`. */
  actor: string;
  address: string | null;
  seesContents: boolean;
}

export interface Page<Item> {
  items: Item[];
  /** Where the next page goes on; null on the last. */
  next: SearchPosition | null;
}

export interface TurnStory {
  turn: SeenTurn;
  /** Null: not known. */
  links: { trace: string | null; temporal: string | null };
  /** In their order. */
  items: TimelineItem[];
  /** For how long questions were open. */
  waitedMs: number;
}

/** A turn may be named by the first eight characters of its id, where no other begins with them. */
export interface Operators {
  turns(by: Operator, search: TurnSearch, page: SearchPage): Promise<Page<SeenTurn>>;
  questions(by: Operator, search: QuestionSearch, page: SearchPage): Promise<Page<ElicitationRow>>;
  story(by: Operator, turnId: string): Promise<TurnStory>;
  /** With what was said, called and answered. */
  contents(by: Operator, turnId: string): Promise<TurnStory>;
  /** False: it had ended, or is ending. */
  cancel(by: Operator, turnId: string): Promise<boolean>;
  /** The question afterwards; it may have been settled before. */
  expire(by: Operator, elicitationId: string): Promise<{ question: ElicitationRow; isChanged: boolean }>;
  question(by: Operator, elicitationId: string): Promise<ElicitationRow>;
  /** Those of these turns whose contents the operator may see; the view of each is in the audit. */
  readable(by: Operator, turnIds: Iterable<string>): Promise<Set<string>>;
}

/** Refuses everyone else. */
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
  storage: Pick<
    Storage,
    'oversight' | 'turns' | 'turnLog' | 'turnTraces' | 'conversations' | 'elicitations' | 'audit' | 'now'
  >;
  config: Pick<Config, 'temporal' | 'traceUrl'>;
  keys: KeyRing;
  logger: Logger;
}

export function createOperators({ storage, config, keys, logger }: Parts): Operators {
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
    const [entries, questions, entriesOfAudit, attempts] = await Promise.all([
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
    async turns(by, search, { after, limit }) {
      const items = await oversight.turns(by.tenant, search, { after, limit: limit + 1 });
      return pageOf(items, limit, ({ createdAt, turnId: id }) => ({ createdAt, id }));
    },
    async questions(by, search, { after, limit }) {
      const items = await oversight.questions(by.tenant, search, { after, limit: limit + 1 });
      return pageOf(items, limit, ({ createdAt, id }) => ({ createdAt, id }));
    },
    story: async (by, turnId) => storyOf(await find(by, turnId), false),
    async contents(by, id) {
      requireContents(by);
      const turn = await find(by, id);
      const { tenant, turnId } = turn;
      await audit.record(entryOf(by, 'viewed', { tenant, turnId, detail: 'contents of a turn' }));
      return storyOf(turn, true);
    },
    async cancel(by, id) {
      const turn = await find(by, id);
      const { tenant, turnId } = turn;
      const detail = 'turn of a user, by an operator';
      return stopTurn({ storage, logger }, turn, entryOf(by, 'cancelled', { tenant, turnId, detail }));
    },
    async expire(by, elicitationId) {
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
    async readable(by, turnIds) {
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

/** As operators read it. */
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

/** The last to act; null while it is open. */
function settlerOf({ id, status }: ElicitationRow, entries: AuditEntry[]): string | null {
  if (status === 'pending') return null;
  const entry = entries.findLast(({ elicitationId, action }) => elicitationId === id && settling.has(action));
  // A consent that came to nothing has settled nothing.
  if (status === 'expired' && entry?.action !== 'expired') return null;
  return entry?.actor ?? null;
}

/** Of a message: its texts, and what else there is by its type. */
function asText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content === null ? '' : JSON.stringify(content);
  return content
    .map((part: { type?: string; text?: string }) => part.text ?? `[${part.type ?? 'part'}]`)
    .join('\n');
}
