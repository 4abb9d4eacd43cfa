import type { TurnOwner } from '../turn/turn.ts';

/**
 * The caller: a user, or a program that acts for a whole tenant and has no user. An operator looks after the turns of the
 * tenant and its shared accounts; with `seesContents`, they may read what was said. With `actor`, a program acts for the
 * user: it may not do what takes the person, signed in, and the audit names the program's key.
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

interface CallingKey {
  keyId: string;
  /** The key's owner, which stays when the key is replaced. */
  service: string;
}

export interface ActingKey extends CallingKey {
  /** It may also accept approvals. */
  mayApprove: boolean;
}

export type UserPrincipal = Extract<Principal, { kind: 'user' }>;

/** No control, format or surrogate characters, which databases, URLs and pages treat differently. */
const plain = /^[^\p{C}]+$/u;

/** The length that OpenID allows for a subject. */
export function isUserId(text: string): boolean {
  return plain.test(text) && text.length <= 255;
}

/** Workflow ids contain tenants, percent-encoded; Temporal limits the ids to 1000 characters. */
export function isTenantName(text: string): boolean {
  return plain.test(text) && encodeURIComponent(text).length <= 800;
}

const nameable = /^[!-$&-+\--~]{1,255}$/;

/**
 * Whether a header can name this user without ambiguity. Visible ASCII only, because clients encode other characters
 * differently; no `,`, because headers that are sent twice are joined with it; no `%`, because it is never decoded.
 */
export function isNameableUser(text: string): boolean {
  return nameable.test(text);
}

/** A name that is shown to people: short, and without invisible characters. */
export function isDisplayName(text: string): boolean {
  return plain.test(text) && text.length <= 200;
}

/** The owner of what the caller begins. */
export function ownerOf(principal: Principal): Required<TurnOwner> {
  const { tenant } = principal;
  return principal.kind === 'user'
    ? { tenant, user: principal.user, service: null }
    : { tenant, user: null, service: principal.service };
}

/** Null for a service. */
export function userOf(principal: Principal): string | null {
  return principal.kind === 'user' ? principal.user : null;
}

export function isOwner(owned: TurnOwner, principal: Principal): boolean {
  const { tenant, user, service } = ownerOf(principal);
  return owned.tenant === tenant && owned.user === user && (owned.service ?? null) === service;
}

/** The caller that a rate limit counts. No two principals share one; the keys of one service count as one caller. */
export function rateLimitKey(principal: Principal): string {
  const { kind, tenant } = principal;
  if (kind === 'service') return JSON.stringify([kind, tenant, principal.service]);
  const { user, actor } = principal;
  return JSON.stringify([kind, tenant, user, ...(actor ? [actor.service] : [])]);
}

/** Who acted, for the audit; null for a service. */
export function actorOf(principal: Principal): string | null {
  if (principal.kind === 'service') return null;
  const { user, actor } = principal;
  return actor ? `key ${actor.keyId} for ${user}` : user;
}
