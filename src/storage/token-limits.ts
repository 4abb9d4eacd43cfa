/** Tokens that models may read and write for a user and for a tenant in a day (UTC). */
import type { TurnOwner, Usage } from '../turn/turn.ts';
import type { Counts, Limit } from './counts.ts';

interface TokensPerDay {
  perUser: number | undefined;
  perTenant: number | undefined;
}

type Owner = Pick<TurnOwner, 'user'> & { tenant: string };

/** Only those that are set. */
export function tokenLimits(
  { tenant, user }: Owner,
  { perUser, perTenant }: TokensPerDay,
): { of: 'user' | 'tenant'; limit: Limit }[] {
  const per = 'day';
  const ofUser = { name: `tokens user ${JSON.stringify([tenant, user])}`, max: perUser ?? 0, per } as const;
  const ofTenant = { name: `tokens tenant ${tenant}`, max: perTenant ?? 0, per } as const;
  return [
    ...(perUser === undefined || user === null ? [] : [{ of: 'user' as const, limit: ofUser }]),
    ...(perTenant === undefined ? [] : [{ of: 'tenant' as const, limit: ofTenant }]),
  ];
}

export function countTokens(
  counts: Counts,
  owner: Owner,
  { inputTokens, outputTokens }: Usage,
  perDay: TokensPerDay,
): void {
  for (const { limit } of tokenLimits(owner, perDay)) counts.add(limit, inputTokens + outputTokens);
}
