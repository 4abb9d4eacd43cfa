/** Scopes as OAuth writes them, and those of them that are permissions. */

export function scopesOf(scope: string | undefined): string[] {
  return [...new Set(scope?.split(/\s+/).filter(Boolean))];
}

/** Scopes that are no permission a person would recognise: how long access lasts, and that they are named to us. */
const technical = ['offline_access', 'openid'];

/** What there is to show of scopes to who gives or has given them. */
export function permissionsAmong(scopes: string[]): string[] {
  return scopes.filter((scope) => !technical.includes(scope));
}
