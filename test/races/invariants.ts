/**
 * What must be true after every round, whichever side won. It is read from the database, from Temporal, and from the servers
 * that count what reaches them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ElicitationRow } from '../../src/storage/schema/question-tables.ts';
import type { TurnRow } from '../../src/storage/tables/turn-rows.ts';
import { isOver } from '../../src/storage/write-refused.ts';
import type { LogEntry } from '../../src/turn/event.ts';
import type { ConversationRef } from '../../src/turn/turn.ts';
import { turnWorkflowId } from '../../src/turn/turn.ts';
import { actionsIn } from './desk.ts';
import type { Receipt, Round } from './round.ts';
import type { Site } from './site.ts';

/** A turn that has not ended by then hangs. */
export const endsWithinMs = 60_000;
const pollMs = 50;

/** Empty when everything is as it has to be. */
export async function brokenIn(round: Round, withinMs = endsWithinMs): Promise<string[]> {
  const { site, city, receipts } = round;
  const broken = [...round.problems];
  const ends: string[] = [];
  const asked = new Set<string>();
  for (const conversation of round.conversations) {
    const ref = { tenant: 'demo', conversation };
    const turns = await endedTurns(site, ref, withinMs);
    const log = await site.storage.turnLog.read(ref, 0);
    const questions = await site.storage.elicitations.ofConversation(ref);
    for (const turn of turns) {
      if (!isOver(turn.status) || turn.status === 'failed') broken.push(`a turn is ${turn.status}`);
      if (!(await isClosed(site, turn, withinMs)))
        broken.push(`the workflow of a ${turn.status} turn is open`);
      broken.push(...(await brokenCalls(site, turn, log)));
    }
    for (const question of questions) {
      asked.add(question.id);
      const own = receipts.filter(({ elicitationId }) => elicitationId === question.id);
      broken.push(...own.flatMap((receipt) => brokenReceipt(receipt, question)));
      broken.push(...(await brokenQuestion(site, question, log, own)));
    }
    const statuses = questions.map(({ status, isUnused }) => (isUnused ? `unused ${status}` : status));
    ends.push(`${statuses.toSorted().join(' ')} → ${turns.map(({ status }) => status).join(' ')}`);
  }
  for (const { elicitationId } of receipts)
    if (!asked.has(elicitationId)) broken.push('a question that was answered is gone');
  round.ended = ends.join(', ');
  return broken.map((words) => `${city} (${round.ended}): ${words}; told ${toldIn(receipts)}`);
}

const toldIn = (receipts: Receipt[]) =>
  JSON.stringify(receipts.map(({ action, reply: { status, body } }) => [action, status, body['code']]));

/** All turns of the conversation; those that have not ended in time, too. */
async function endedTurns(
  { storage }: Site,
  conversation: ConversationRef,
  withinMs: number,
): Promise<TurnRow[]> {
  for (const deadline = Date.now() + withinMs; ; await sleep(pollMs)) {
    const log = await storage.turnLog.read(conversation, 0);
    const starting = await storage.conversations.starting(conversation);
    const turnIds = new Set([...log, ...starting].map(({ turnId }) => turnId));
    const rows = await Promise.all(
      [...turnIds].map((turnId) => storage.turns.get({ ...conversation, turnId })),
    );
    const turns = rows.flatMap((row) => row ?? []);
    if (turns.every(({ status }) => isOver(status)) || Date.now() > deadline) return turns;
  }
}

async function isClosed({ workflows }: Site, turn: TurnRow, withinMs: number): Promise<boolean> {
  const workflow = workflows.getHandle(turnWorkflowId(turn));
  for (const deadline = Date.now() + withinMs; Date.now() < deadline; await sleep(pollMs)) {
    const { status } = await workflow.describe();
    if (status.name !== 'RUNNING') return true;
  }
  return false;
}

function brokenReceipt({ action, reply: { status, body } }: Receipt, question: ElicitationRow): string[] {
  const now = `the row says ${question.status}`;
  const told = `${action} was answered with ${status} ${JSON.stringify(body)}, and ${now}`;
  switch (status) {
    case 200:
      return question.status === action && body['status'] === action ? [] : [told];
    case 409:
      return question.status === body['outcome'] && question.status !== action ? [] : [told];
    case 410:
      if (body['code'] === 'expired') return question.status === 'expired' ? [] : [told];
      return question.status === 'cancel' && question.responseId === null ? [] : [told];
    default:
      return [told];
  }
}

async function brokenQuestion(
  { storage }: Site,
  { id, status, responseId, server }: ElicitationRow,
  log: LogEntry[],
  receipts: Receipt[],
): Promise<string[]> {
  const broken: string[] = [];
  if (status === 'pending') broken.push('a question is pending');
  const told = log.flatMap(({ event }) =>
    event.type === 'elicitation-request' && event.elicitationId === id ? [event.status] : [],
  );
  if (told.join() !== ['pending', status].join()) broken.push(`its events are ${told.join()}`);
  const audit = await storage.audit.ofElicitation(id);
  const answered = audit.filter((entry) => entry.action === 'answered').length;
  const connected = audit.filter((entry) => entry.action === 'connected').length;
  if (answered !== (responseId === null ? 0 : 1)) broken.push(`${answered} answers are in the audit`);
  if (connected > 1 || (connected === 1 && server === null))
    broken.push(`it was connected ${connected} times`);
  const first = receipts.filter(({ reply }) => reply.status === 200 && reply.body['duplicate'] === false);
  if (first.length > 1) broken.push(`${first.length} answers were the first`);
  return broken;
}

/** The calls that a turn made for a city, and what came of them at their servers. */
async function brokenCalls(site: Site, turn: TurnRow, log: LogEntry[]): Promise<string[]> {
  const broken: string[] = [];
  const events = log.flatMap(({ turnId, event }) => (turnId === turn.turnId ? event : []));
  for (const event of events) {
    if (event.type !== 'tool-input-available') continue;
    const { toolCallId, toolName, input } = event;
    const results = events.filter(
      (other) =>
        (other.type === 'tool-output-available' || other.type === 'tool-output-error') &&
        other.toolCallId === toolCallId,
    );
    if (results.length !== 1) broken.push(`${toolName} has ${results.length} results`);
    const { city } = { ...(input as { city?: string } | null) };
    if (city === undefined) continue;
    const questions = await site.storage.elicitations.ofCall(turn, toolCallId);
    const isUnknown = /unknown|cannot tell/.test(JSON.stringify(results));
    const call = { toolName, city, isUnknown, questions: questions.map(({ question }) => question) };
    broken.push(...brokenCall(site, turn, call).map((words) => `${toolName}: ${words}`));
  }
  return broken;
}

interface Call {
  toolName: string;
  city: string;
  isUnknown: boolean;
  questions: ElicitationRow[];
}

function brokenCall({ desk }: Site, turn: TurnRow, { toolName, city, isUnknown, questions }: Call): string[] {
  const { calls, acted, hasGivenUp } = desk.counted(city);
  const broken: string[] = [];
  if (calls > 1) broken.push(`was called ${calls} times`);
  if (acted.length > 1) broken.push(`acted ${acted.length} times`);
  const accepted = questions.filter(({ status }) => status === 'accept');
  const unused = accepted.filter((question) => question.isUnused);
  const isDone = turn.status === 'completed';
  if (isDone && unused.length > 0) broken.push('an answer of a completed turn is unused');
  if (turn.status === 'superseded' && unused.length > 0)
    broken.push('a message has ended a turn that was to act on an answer');
  if (isUnknown || hasGivenUp) return broken;

  const isAllAccepted = accepted.length === questions.length;
  const sendsAnyAnswer = toolName.endsWith('__book') || toolName.endsWith('__hold');
  const mustAct = isDone
    ? (sendsAnyAnswer && questions.length > 0) || isAllAccepted
    : accepted.length > unused.length;
  const mayAct = isDone
    ? mustAct
    : unused.length === 0 &&
      questions.every(({ status, responseId }) => status === 'accept' || responseId !== null);
  if (mustAct && acted.length === 0) broken.push('did not act on what was accepted');
  if (!mayAct && !mustAct && acted.length > 0) broken.push('acted although it must not');
  const given = actionsIn(
    questions.map(({ status }) => ({ action: status === 'expired' ? 'cancel' : status })),
  );
  if (isDone && sendsAnyAnswer && acted.length > 0 && acted[0] !== given)
    broken.push(`was sent ${acted[0]} for ${given}`);
  return broken;
}
