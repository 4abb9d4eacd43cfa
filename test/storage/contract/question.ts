import { randomUUID } from 'node:crypto';
import type { Action, ElicitationRequest } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Answer } from '../../../src/storage/tables/answering.ts';
import type { NewQuestion } from '../../../src/storage/tables/elicitation-rows.ts';
import type { OpenLimits } from '../../../src/storage/tables/opening.ts';
import type { OpenedQuestions, SettlingEvent } from '../../../src/storage/tables/elicitations.ts';
import { WriteRefused } from '../../../src/storage/write-refused.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { TurnRef } from '../../../src/turn/turn.ts';

export const request: ElicitationRequest = {
  mode: 'url',
  url: 'https://interlude.example/auth/connect?e=1',
  message: 'Tracker needs your account to list issues.',
  context: {
    trigger: 'credential_required',
    agent: 'assistant',
    server: 'tracker',
    serverTitle: 'Tracker',
    host: 'tracker.example',
  },
};

export const form: ElicitationRequest = {
  mode: 'form',
  message: 'Which list?',
  requestedSchema: { type: 'object', properties: { list: { type: 'string' } } },
  context: { trigger: 'mcp_elicitation', agent: 'assistant', server: 'tracker', serverTitle: 'Tracker' },
};

/** About an account, unless said otherwise. */
export function question(turn: TurnRef, given: Partial<NewQuestion> = {}): NewQuestion {
  const { tenant, conversation, turnId } = turn;
  const id = randomUUID();
  return {
    tenant,
    conversation,
    turnId,
    id,
    place: `place/${id}`,
    waiter: { toolCallId: 'call', workflowId: 'turn/1' },
    agent: 'assistant',
    user: 'alice',
    request,
    server: 'tracker',
    seenVersion: 0,
    isReported: false,
    salt: 'salt',
    timeoutMs: 600_000,
    ...given,
  };
}

/** One that an answer settles. */
export function formQuestion(turn: TurnRef, given: Partial<NewQuestion> = {}): NewQuestion {
  return question(turn, { request: form, server: null, seenVersion: null, ...given });
}

export function open(
  { elicitations }: Storage,
  questions: NewQuestion | NewQuestion[],
  limits: OpenLimits = { perUser: 20 },
): Promise<OpenedQuestions> {
  return elicitations.open([questions].flat(), limits);
}

const answeredAt = 5;

/** By its user. */
export async function answer(
  { elicitations }: Storage,
  { id, tenant, user }: Pick<NewQuestion, 'id' | 'tenant' | 'user'>,
  action: Action = 'accept',
  given: Partial<Answer> = {},
) {
  const responseId = `response/${action}`;
  const answered = await elicitations.answer(
    id,
    { responseId, action, sealedContent: null, receivedAt: answeredAt, user, ...given },
    {
      at: answeredAt,
      tenant,
      elicitationId: id,
      actor: user,
      action: 'answered',
      detail: action,
      address: null,
    },
  );
  if (!answered) throw new Error('there is no such question');
  return answered;
}

export function settle({ elicitations }: Storage, id: string, event: SettlingEvent = { type: 'abandoned' }) {
  return elicitations.settle([id], event);
}

/** Of works that were raced, without those that came after the end of their turn. */
export function failuresOf(outcomes: PromiseSettledResult<unknown>[]): unknown[] {
  return outcomes
    .flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
    .filter((reason) => !(reason instanceof WriteRefused && reason.reason === 'turn-ended'));
}
