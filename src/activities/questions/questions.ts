/** What questions of all kinds have in common: how an activity opens them, expires those that are overdue, and reads answers. */
import { randomBytes, randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import type { Config, ServerConfig } from '../../config/config.ts';
import { openAnswer } from '../../credentials/sealing/sealed-answer.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { CredentialStore } from '../../credentials/store.ts';
import { askerTitle } from '../../elicitation/asker.ts';
import type { Context, ElicitationRequest } from '../../elicitation/elicitation.ts';
import { placeOf } from '../../remote/server-name.ts';
import type { ElicitationRow, OpenedQuestions, TimedQuestion } from '../../storage/ports/elicitations.ts';
import type { NewPoll } from '../../storage/ports/polls.ts';
import type { Storage } from '../../storage/storage.ts';
import { phaseChanged, tracePause } from '../../telemetry/traces/turn-spans.ts';
import type { AskedQuestion, AskingTurn } from '../../turn/ask.ts';
import type { CallAsks, GivenApproval } from '../../turn/tool-call.ts';
import type { Turn } from '../../turn/turn.ts';
import { lookForAccount } from './find-account.ts';

export interface QuestionParts {
  storage: Pick<Storage, 'elicitations' | 'connections' | 'toolCalls' | 'turnTraces'>;
  keys: KeyRing;
  storeOf(server: ServerConfig): CredentialStore;
  config: Pick<Config, 'http' | 'elicitation' | 'agents' | 'servers'>;
}

/** A question, as its kind describes it. */
export interface Question {
  /** As in the storage's port. */
  place: string;
  request: ElicitationRequest;
  /** A new one by default. */
  id?: string;
  /** The account that settles it. */
  account?: { server: string; seenVersion: number };
  /** Its page reports that it is done. */
  isReported?: boolean;
  /** At most, and by default, what the turn allows. */
  timeoutMs?: number | undefined;
  /** The server that asks waits until then, in epoch milliseconds. */
  expiresAt?: number | undefined;
  poll?: NewPoll | undefined;
}

export interface AskingCall {
  turn: AskingTurn;
  toolCallId: string;
}

/** `isHeld`: this activity waits for the answers itself, and its workflow is not notified. */
export async function openQuestions(
  { storage, config }: Pick<QuestionParts, 'storage' | 'config'>,
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
  const { maxOpen: perUser, maxOpenPerTurn: perTurn } = config.elicitation;
  const opened = await storage.elicitations.open(rows, { perUser, perTurn });
  if (opened.kind === 'opened')
    tracePause(
      { storage },
      turn,
      opened.questions.map(({ question: { id } }) => ({ id, isNew: rows.some((row) => row.id === id) })),
    );
  return opened;
}

/** The questions of a call, oldest first, after those that are overdue have expired. */
export async function questionsOfCall(
  parts: Pick<QuestionParts, 'storage' | 'config' | 'storeOf'>,
  turn: Turn,
  toolCallId: string,
): Promise<TimedQuestion[]> {
  const questions = await parts.storage.elicitations.ofCall(turn, toolCallId);
  const current = await expireOverdue(parts, questions);
  if (current !== questions) phaseChanged(turn);
  return current;
}

/** An account may have been connected in another system without our being notified, so that system is asked once more. */
export async function expireOverdue(
  parts: Pick<QuestionParts, 'storage' | 'config' | 'storeOf'>,
  questions: TimedQuestion[],
): Promise<TimedQuestion[]> {
  const overdue = questions.flatMap(({ question, remainingMs }) =>
    question.status === 'pending' && remainingMs === 0 ? [question] : [],
  );
  if (overdue.length === 0) return questions;
  await Promise.all(overdue.map((question) => lookForAccount(parts, question)));
  const ids = overdue.map(({ id }) => id);
  const settled = await parts.storage.elicitations.settle(
    ids,
    { type: 'deadline-passed' },
    { except: ownWorkflowId() },
  );
  return questions.map((one) => settled.find(({ question }) => question.id === one.question.id) ?? one);
}

/** Null when none of them is pending. */
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

/** What the user has filled in. Undefined when there is no such answer, null when it has no content. */
export async function answerContent(
  { storage, keys }: { storage: { elicitations: Pick<Storage['elicitations'], 'recorded'> }; keys: KeyRing },
  { id, responseId }: Pick<ElicitationRow, 'id' | 'responseId'>,
): Promise<Record<string, unknown> | null | undefined> {
  const answer = responseId === null ? null : await storage.elicitations.recorded(id, responseId);
  if (!answer) return undefined;
  const { sealedContent } = answer;
  return sealedContent === null
    ? null
    : (JSON.parse(openAnswer(keys, id, sealedContent)) as Record<string, unknown>);
}

/** What a question says of the agent that asks. */
export function agentContext(
  { config }: Pick<QuestionParts, 'config'>,
  turn: Turn,
): Pick<Context, 'agent' | 'path'> {
  return {
    agent: config.agents.get(turn.agent)?.title ?? turn.agent,
    ...(turn.delegation && { path: turn.delegation.path }),
  };
}

export function serverContext(
  parts: Pick<QuestionParts, 'config'>,
  turn: Turn,
  server: ServerConfig,
): Omit<Context, 'trigger'> {
  return {
    ...agentContext(parts, turn),
    server: server.name,
    serverTitle: server.title,
    host: placeOf(server),
  };
}

/** Only the members of `Turn`: workflows pass their whole input. */
export function turnOf({ tenant, conversation, turnId, agent, user, capabilities, delegation }: Turn): Turn {
  return { tenant, conversation, turnId, agent, user, capabilities, ...(delegation && { delegation }) };
}
