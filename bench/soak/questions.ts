/** Questions that people are asked during the soak: what each is to end as, and whether it did. */
import assert from 'node:assert/strict';
import type { Storage } from '../../src/storage/storage.ts';
import { tenant } from '../doubles/issuer.ts';
import { sendUntilTaken } from '../send-until-taken.ts';
import type { Question, User } from '../user.ts';
import type { Kind } from './patient-servers.ts';

/** `cancel`: the whole turn is cancelled. `expired`: nobody does anything. */
export const fates = ['accept', 'decline', 'cancel', 'expired'] as const;
export type Fate = (typeof fates)[number];

export interface Asked {
  kind: Kind;
  fate: Fate;
  user: User;
  question: Question;
  /** How often it had to be said again, because Temporal was too busy. */
  repeats: number;
  /** When somebody acted (epoch milliseconds), what the API said, and after how long. */
  acted?: { at: number; status: number; tookMs: number };
}

export async function act(baseUrl: string, asked: Asked): Promise<void> {
  const { fate, user, question } = asked;
  const { conversation: conversationId, elicitationId } = question;
  const [path, body] =
    fate === 'cancel'
      ? [`chat/${conversationId}/cancel`, undefined]
      : ['elicitation-responses', { conversationId, elicitationId, ...responses[fate] }];
  const at = Date.now();
  const { response, repeats } = await sendUntilTaken(`${baseUrl}/run/api/${path}`, {
    method: 'POST',
    headers: body === undefined ? { authorization: user.headers['authorization'] ?? '' } : user.headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  asked.repeats += repeats;
  asked.acted = { at, status: response.status, tookMs: Date.now() - at };
}

const responses = {
  accept: { action: 'accept', content: { colour: 'red' } },
  decline: { action: 'decline' },
  expired: {},
};

/** Throws when anything about the end of this one is not as it has to be; resolves with how late it was. */
export async function verify(storage: Storage, { fate, question, acted }: Asked): Promise<number> {
  const { conversation, elicitationId } = question;
  const row = await storage.elicitations.get(elicitationId);
  assert(row, `question ${elicitationId} is gone`);
  assert.equal(row.status, fate, `question ${elicitationId}`);
  const turn = await storage.turns.get({ tenant, conversation, turnId: row.turnId });
  assert.equal(turn?.status, fate === 'cancel' ? 'cancelled' : 'completed', `turn ${row.turnId}`);
  const messages = await storage.messages.list({ tenant, conversation });
  const told = JSON.stringify(messages.filter(({ role }) => role === 'tool'));
  assert.match(told, tellings[fate], `turn ${row.turnId}`);
  const from = fate === 'expired' ? row.deadline : acted?.at;
  return (row.settledAt ?? NaN) - (from ?? NaN);
}

/** What the model is told. To a server, a question that nobody answered was cancelled. */
const tellings: Record<Fate, RegExp> = {
  accept: /was told: accept/,
  decline: /was told: decline/,
  cancel: /cancelled|ended while/,
  expired: /was told: cancel/,
};
