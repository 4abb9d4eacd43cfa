/**
 * The sealed values outside connections, each bound to what it belongs to: answers, rounds of tool calls, workflow code,
 * push targets, Slack tokens and events, digests of approved calls.
 */
import { hash } from 'node:crypto';
import { SealingError } from './key-ring.ts';
import type { KeyRing } from './key-ring.ts';
import type { SlackEventKey } from '../../storage/tables/slack-events.ts';

export function sealAnswer(keys: KeyRing, elicitationId: string, content: string): string {
  return keys.seal(content, answerContext(elicitationId));
}

export function openAnswer(keys: KeyRing, elicitationId: string, sealed: string): string {
  return keys.open(sealed, answerContext(elicitationId));
}

export function answerContext(elicitationId: string): string {
  return `elicitation-answer/${elicitationId}`;
}

interface Call {
  turnId: string;
  toolCallId: string;
}

export function sealRound(keys: KeyRing, call: Call, round: string): string {
  return keys.seal(round, roundContext(call));
}

export function openRound(keys: KeyRing, call: Call, sealed: string): string {
  return keys.open(sealed, roundContext(call));
}

export function roundContext({ turnId, toolCallId }: Call): string {
  return `tool-call-round/${turnId}/${toolCallId}`;
}

interface Effect {
  workflowId: string;
  activityId: string;
}

/** Write access to the database must not be enough to run code, so code that does not open is not run. */
export function sealCode(keys: KeyRing, id: string, code: string): string {
  return keys.seal(code, codeContext(id));
}

export function openCode(keys: KeyRing, id: string, sealed: string): string {
  return keys.open(sealed, codeContext(id));
}

export function sealEffect(keys: KeyRing, effect: Effect, result: string): string {
  return keys.seal(result, effectContext(effect));
}

export function openEffect(keys: KeyRing, effect: Effect, sealed: string): string {
  return keys.open(sealed, effectContext(effect));
}

export function codeContext(id: string): string {
  return `workflow-code/${id}`;
}

export function effectContext({ workflowId, activityId }: Effect): string {
  return `tool-effect/${workflowId}/${activityId}`;
}

/** The address may itself be a secret. */
export interface PushTarget {
  url: string;
  /** Sent with each notification, so that the target can recognise ours. */
  token: string;
  authentication: { scheme: string; credentials: string } | null;
}

export function sealPushTarget(keys: Pick<KeyRing, 'seal'>, deliveryId: string, target: PushTarget): string {
  return keys.seal(JSON.stringify(target), pushContext(deliveryId));
}

export function openPushTarget(keys: Pick<KeyRing, 'open'>, deliveryId: string, sealed: string): PushTarget {
  return JSON.parse(keys.open(sealed, pushContext(deliveryId))) as PushTarget;
}

export function pushContext(deliveryId: string): string {
  return `push/${deliveryId}`;
}

export function slackTokenContext(team: string): string {
  return `slack-token/${team}`;
}

export function slackEventContext({ team, eventId }: SlackEventKey): string {
  return `slack-event/${team}/${eventId}`;
}

export function sealDigest(keys: KeyRing, call: Call, value: unknown): string {
  return keys.seal(digestOf(value), digestContext(call));
}

/** Whether `sealed` is the digest of this value, sealed for this call. */
export function isDigestOf(keys: KeyRing, call: Call, value: unknown, sealed: string): boolean {
  try {
    return keys.open(sealed, digestContext(call)) === digestOf(value);
  } catch (error) {
    if (error instanceof SealingError) return false;
    throw error;
  }
}

function digestContext({ turnId, toolCallId }: Call): string {
  return `approved-call/${turnId}/${toolCallId}`;
}

/** Independent of the order of keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

export function digestOf(value: unknown): string {
  return hash('sha256', canonicalJson(value), 'base64url');
}
