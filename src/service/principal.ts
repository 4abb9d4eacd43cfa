import type { TurnOwner } from '../turn/turn.ts';

/**
 * Who is calling: a person with a user id, or a program that acts for a whole tenant and has no user. An operator looks
 * after the turns of their tenant, and after the accounts that everybody in it shares; those who see contents may read what
 * was said. With `actor`, a program calls for the user: what takes the
 * person, signed in, it may not do, and what it does is written down as its doing.
 */
export type Principal =
  | {
      kind: 'user';
      tenant: string;
      user: string;
      name?: string;
      isOperator?: true;
      seesContents?: true;
      actor?: ActingKey;
    }
  | ({ kind: 'service'; tenant: string } & CallingKey);

export interface CallingKey {
  keyId: string;
  /** Whose key it is: it stays when the key is replaced. Null: the key was made before services had names. */
  service: string | null;
}

export interface ActingKey extends CallingKey {
  /** It may accept approvals, too. */
  mayApprove: boolean;
}

export type UserPrincipal = Extract<Principal, { kind: 'user' }>;

/** Without control, format and half characters, which databases, URLs and pages each take differently. */
const plain = /^[^\p{C}]+$/u;

/** As long as OpenID allows a subject to be. */
export function isUserId(text: string): boolean {
  return plain.test(text) && text.length <= 255;
}

/** Tenants stand in workflow ids, percent-encoded; Temporal allows those 1000 characters in all. */
export function isTenantName(text: string): boolean {
  return plain.test(text) && encodeURIComponent(text).length <= 800;
}

const nameable = /^[!-$&-+\--~]{1,255}$/;

/**
 * Whether a header can name this user and nobody else: visible ASCII, as other characters arrive differently from one
 * client to the next; no `,`, with which a header that was sent twice is joined; and no `%`, which is never decoded.
 */
export function isNameableUser(text: string): boolean {
  return nameable.test(text);
}

/** A name to show to people: short, and only what can be seen. */
export function isDisplayName(text: string): boolean {
  return plain.test(text) && text.length <= 200;
}

/** Who owns what the caller begins. */
export function ownerOf(principal: Principal): Required<TurnOwner> {
  const { tenant } = principal;
  return principal.kind === 'user'
    ? { tenant, user: principal.user, service: null }
    : { tenant, user: null, service: principal.service };
}

export function isOwner(owned: TurnOwner, principal: Principal): boolean {
  const { tenant, user, service } = ownerOf(principal);
  return owned.tenant === tenant && owned.user === user && (owned.service ?? null) === service;
}

/** Whose limit a request counts against; no two principals share one. The keys of one service count as one caller. */
export function rateLimitKey(principal: Principal): string {
  const { kind, tenant } = principal;
  if (kind === 'service') return JSON.stringify([kind, tenant, callerOf(principal)]);
  const { user, actor } = principal;
  return JSON.stringify([kind, tenant, user, ...(actor ? [callerOf(actor)] : [])]);
}

function callerOf({ service, keyId }: CallingKey): string {
  return service ?? keyId;
}

/** Who acted, for the audit; null for a service, which is nobody. */
export function actorOf(principal: Principal): string | null {
  if (principal.kind === 'service') return null;
  const { user, actor } = principal;
  return actor ? `key ${actor.keyId} for ${user}` : user;
}
