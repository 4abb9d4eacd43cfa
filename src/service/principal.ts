/**
 * Who is calling: a person with a user id, or a program that acts for a whole tenant and has no user. An operator looks
 * after the accounts that everybody in their tenant shares.
 */
export type Principal =
  | { kind: 'user'; tenant: string; user: string; name?: string; isOperator?: true }
  | { kind: 'service'; tenant: string; keyId: string };

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

/** A name to show to people: short, and only what can be seen. */
export function isDisplayName(text: string): boolean {
  return plain.test(text) && text.length <= 200;
}

/** Whose limit a request counts against; no two principals share one. */
export function rateLimitKey(principal: Principal): string {
  const { kind, tenant } = principal;
  return JSON.stringify([kind, tenant, kind === 'user' ? principal.user : principal.keyId]);
}
