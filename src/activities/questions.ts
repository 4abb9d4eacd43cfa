/** How activities open questions of all kinds, expire overdue ones, and read answers. */
import { randomBytes, randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import type { Config, ServerConfig } from '../platform/config/config.ts';
import { openAnswer } from '../credentials/sealing/sealed-values.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { CredentialStore } from '../credentials/credential-store.ts';
import { askerTitle } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Context, ElicitationRequest } from '@interlude-ai/core/elicitation/elicitation.ts';
import { placeOf } from '../remote/server-name.ts';
import type { ElicitationRow } from '../storage/schema/question-tables.ts';
import type { OpenedQuestions, TimedQuestion } from '../storage/tables/elicitations.ts';
import type { NewPoll } from '../storage/tables/polls.ts';
import type { Storage } from '../storage/storage.ts';
import { phaseChanged, tracePause } from '../platform/telemetry/traces/turn-spans.ts';
import type { AskedQuestion, AskingTurn } from '../turn/ask.ts';
import type { CallAsks, GivenApproval } from '../turn/step.ts';
import type { Turn } from '../turn/turn.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';

export interface QuestionParts {
  storage: Storage;
  keys: KeyRing;
  storeOf(server: ServerConfig): CredentialStore;
  config: Pick<Config, 'http' | 'elicitation' | 'agents' | 'servers'>;
}

/** A question that is about to be opened. */
export interface Question {
  /** As in `NewElicitation` of the storage. */
  place: string;
  request: ElicitationRequest;
  /** Random by default. */
  id?: string;
  /** Connecting this account settles the question. */
  account?: { server: string; seenVersion: number };
  /** Its page reports that it is done. */
  isReported?: boolean;
  /** The turn's limit is the default and the maximum. */
  timeoutMs?: number | undefined;
  /** Until when the asking server waits, in epoch milliseconds. */
  expiresAt?: number | undefined;
  poll?: NewPoll | undefined;
}

export interface AskingCall {
  turn: AskingTurn;
  toolCallId: string;
}

/** `isHeld`: this activity waits for the answers itself, so its workflow is not signalled. */
export async function openQuestions(
  { storage, config }: QuestionParts,
  { turn, toolCallId }: AskingCall,
  questions: Question[],
  { isHeld = false }: { isHeld?: boolean } = {},
): Promise<OpenedQuestions> {
  const { tenant, conversation, turnId, agent, user, limits } = turn;
  if (user === null) throw new Error('A turn without a user can ask nothing.');
  const waiter = { toolCallId, workflowId: isHeld ? null : ownWorkflowId() };
  const longest = limits.elicitationTimeoutMs;
  const rows = questions.map(
    ({ place, request, id = randomUUID(), account, isReported, timeoutMs, expiresAt, poll }) => ({
      id,
      tenant,
      conversation,
      turnId,
      agent,
      user,
      place,
      request,
      waiter,
      server: account?.server ?? null,
      seenVersion: account?.seenVersion ?? null,
      isReported: isReported === true,
      salt: randomBytes(16).toString('base64url'),
      timeoutMs: Math.min(timeoutMs ?? longest, longest),
      ...(expiresAt !== undefined && { expiresAt }),
      ...(poll && { poll }),
    }),
  );
  const { maxOpen: perUser, maxOpenPerTurn: perTurn, maxOpenPerTenant: perTenant } = config.elicitation;
  const opened = await storage.elicitations.open(rows, { perUser, perTurn, perTenant });
  if (opened.kind === 'opened')
    tracePause(
      { storage },
      turn,
      opened.questions.map(({ question: { id } }) => ({ id, isNew: rows.some((row) => row.id === id) })),
    );
  return opened;
}

/** The questions of a call, oldest first. Expires overdue ones before. */
export async function questionsOfCall(
  parts: QuestionParts,
  turn: Turn,
  toolCallId: string,
): Promise<TimedQuestion[]> {
  const questions = await parts.storage.elicitations.ofCall(turn, toolCallId);
  const current = await expireOverdue(parts, questions);
  if (current !== questions) phaseChanged(turn);
  return current;
}

/** Before a question about an account expires, its store is asked once more whether the account is connected. */
export async function expireOverdue(
  parts: QuestionParts,
  questions: TimedQuestion[],
): Promise<TimedQuestion[]> {
  const overdue = questions.flatMap(({ question, remainingMs }) =>
    question.status === 'pending' && remainingMs === 0 ? [question] : [],
  );
  if (overdue.length === 0) return questions;
  await Promise.all(
    overdue.map((question) =>
      withTimeout(
        findAccount(parts, question).catch(() => false),
        lastLookMs,
        false,
      ),
    ),
  );
  const ids = overdue.map(({ id }) => id);
  const settled = await parts.storage.elicitations.settle(
    ids,
    { type: 'deadline-passed' },
    { except: ownWorkflowId() },
  );
  return questions.map((one) => settled.find(({ question }) => question.id === one.question.id) ?? one);
}

/** Null if none of them is pending. */
export function asksOf(questions: TimedQuestion[], approval?: GivenApproval): CallAsks | null {
  const pending = questions.filter(({ question }) => question.status === 'pending');
  if (pending.length === 0) return null;
  return { kind: 'asks', questions: pending.map(toAsked), ...(approval && { approval }) };
}

export function toAsked({ question, remainingMs }: TimedQuestion): AskedQuestion {
  const { id, agent, server, request } = question;
  const { server: asking, toolName, trigger } = request.context;
  const own = trigger === 'model_question' ? agent : (toolName ?? agent);
  const askedBy = asking ?? own;
  const title = askerTitle(request.context);
  return {
    elicitationId: id,
    remainingMs,
    mode: request.mode,
    askedBy,
    ...(title !== undefined && title !== askedBy && { askerTitle: title }),
    ...(server !== null && { isConnection: true }),
  };
}

function ownWorkflowId(): string {
  return activityInfo().workflowExecution?.workflowId ?? '';
}

/** What the user filled in. Undefined if there is no answer, null if the answer has no content. */
export async function answerContent(
  { storage, keys }: { storage: Storage; keys: KeyRing },
  { id, responseId }: ElicitationRow,
): Promise<Record<string, unknown> | null | undefined> {
  const answer = responseId === null ? null : await storage.elicitations.recorded(id, responseId);
  if (!answer) return undefined;
  const { sealedContent } = answer;
  return sealedContent === null
    ? null
    : (JSON.parse(openAnswer(keys, id, sealedContent)) as Record<string, unknown>);
}

export function agentContext({ config }: QuestionParts, turn: Turn): Pick<Context, 'agent' | 'path'> {
  return {
    agent: config.agents.get(turn.agent)?.title ?? turn.agent,
    ...(turn.delegation && { path: turn.delegation.path }),
  };
}

export function serverContext(
  parts: QuestionParts,
  turn: Turn,
  server: ServerConfig,
): Omit<Context, 'trigger'> {
  return {
    ...agentContext(parts, turn),
    server: server.name,
    serverTitle: server.title,
    host: placeOf(server),
    ...(server.colour !== undefined && { colour: server.colour }),
    ...(server.picture !== undefined && { picture: server.picture }),
  };
}

/** Only the members of `Turn`, because workflows pass their whole input as the turn. */
export function turnOf({ tenant, conversation, turnId, agent, user, capabilities, delegation }: Turn): Turn {
  return { tenant, conversation, turnId, agent, user, capabilities, ...(delegation && { delegation }) };
}

/** How long to wait for the other system before a question about its account expires. */
const lastLookMs = 5_000;

/**
 * For stores that keep accounts in another system, where an account can be connected without our being notified. Returns
 * true, and settles the questions, if an account is connected that is newer than the one that did not work.
 */
export async function findAccount(
  { storage, config, storeOf }: QuestionParts,
  {
    tenant,
    user,
    server: name,
    seenVersion,
  }: { tenant: string; user: string | null; server: string | null; seenVersion: number | null },
): Promise<boolean> {
  const server = name === null ? undefined : config.servers.get(name);
  const store = server && storeOf(server);
  if (!server || !store?.catchUp) return false;
  const key = connectionKey(server, { tenant, user });
  await store.catchUp(server, key);
  const connection = await storage.connections.get(key);
  if (connection?.status !== 'active' || connection.version <= (seenVersion ?? 0)) return false;
  await storage.connections.settleConnected(key);
  return true;
}
