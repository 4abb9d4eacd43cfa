/**
 * What a user, a tenant and a program may ask for, counted by all processes together. A refusal is a `rate_limited`. Answers have
 * counts of their own, and no limit of the tenant: turns wait for them, and one user must not keep others from answering.
 */
import type { Config } from '../platform/config/config.ts';
import { createCounts } from '../storage/counts.ts';
import type { Counts, Limit } from '../storage/counts.ts';
import { tokenLimits } from '../storage/token-limits.ts';
import type { StartLimits } from '../storage/tables/turn-lifecycle.ts';
import { ownerOf, rateLimitKey } from './principal.ts';
import type { Principal } from './principal.ts';
import { ServiceError } from './service-error.ts';

/** As many users as a program may ask for at full speed. */
const usersPerKey = 10;

type Refused = Limit & { words: string };

export function createLimits({ counts, limits }: { counts: Counts; limits: Config['limits'] }) {
  const { requestsPerMinute, openRequests, liveTurns, tokensPerDay } = limits;

  function requestsOf(principal: Principal, isAnswer: boolean): Refused[] {
    const { perUser, perTenant } = requestsPerMinute;
    const per = 'minute';
    const what = isAnswer ? 'answers' : 'requests';
    const actor = principal.kind === 'user' ? principal.actor : undefined;
    const own = [
      {
        name: `${what} ${rateLimitKey(principal)}`,
        max: perUser,
        per,
        words: sentTooMany('You have', perUser, what),
      } as const,
      ...(actor
        ? [
            {
              name: `${what} key ${actor.keyId}`,
              max: perUser * usersPerKey,
              per,
              words: sentTooMany('This API key has, for its users,', perUser * usersPerKey, what),
            } as const,
          ]
        : []),
    ];
    if (isAnswer) return own;
    return [
      ...own,
      ...ofTenant(principal, 'requests', {
        max: perTenant,
        per,
        words: sentTooMany('Your tenant has', perTenant ?? 0),
      }),
    ];
  }

  /** Services are limited only with their tenant and by address. */
  function openOf(principal: Principal): Refused[] {
    const { perUser, perTenant } = openRequests;
    const per = 'now';
    const words = (who: string, max: number) =>
      `${who} ${max} requests and streams open at once; end one of them first.`;
    const own =
      principal.kind === 'user'
        ? [
            {
              name: `open ${rateLimitKey(principal)}`,
              max: perUser,
              per,
              words: words('You have', perUser),
            } as const,
          ]
        : [];
    const tenants = words('Your tenant has', perTenant ?? 0);
    return [...own, ...ofTenant(principal, 'open', { max: perTenant, per, words: tenants })];
  }

  const refusalOf = (all: Refused[]): ServiceError | null => {
    for (const { words, ...limit } of all) {
      const waitMs = counts.waitFor(limit);
      if (waitMs !== null) return limited(words, waitMs);
    }
    return null;
  };

  return {
    /** Counts a request. Null, or why it is refused: then it is not counted. */
    request(principal: Principal, isAnswer = false): ServiceError | null {
      const all = requestsOf(principal, isAnswer);
      const refusal = refusalOf(all);
      if (!refusal) for (const limit of all) counts.add(limit);
      return refusal;
    },
    /** As `request`, for a page that a signed-in person opens or sends. */
    page({ tenant, user }: { tenant: string; user: string }): ServiceError | null {
      const name = `pages ${JSON.stringify([tenant, user])}`;
      const limit = { name, max: requestsPerMinute.perUser, per: 'minute' } as const;
      const refusal = refusalOf([{ ...limit, words: sentTooMany('You have', limit.max) }]);
      if (!refusal) counts.add(limit);
      return refusal;
    },
    /** Why the caller may have no more requests open; null: they may. */
    openRefusal: (principal: Principal): ServiceError | null => refusalOf(openOf(principal)),
    /** Counts a request as open, until the function that is returned is called. */
    open(principal: Principal): () => void {
      const all = openOf(principal);
      for (const limit of all) counts.add(limit);
      return () => {
        for (const limit of all) counts.add(limit, -1);
      };
    },
    /** What `turns.prepare` checks with the rows. */
    ofStart(principal: Principal): StartLimits {
      const spent = tokenLimits(ownerOf(principal), tokensPerDay).find(
        ({ limit }) => counts.waitFor(limit) !== null,
      );
      return { ofUser: liveTurns.perUser, ofTenant: liveTurns.perTenant, spent: spent?.of };
    },
    tokensSpent(principal: Principal, of: 'user' | 'tenant'): ServiceError {
      const limit = tokenLimits(ownerOf(principal), tokensPerDay).find((one) => one.of === of);
      const waitMs = limit ? counts.waitFor(limit.limit) : null;
      return limited(
        of === 'user'
          ? 'You have used the tokens of this day.'
          : 'Your tenant has used the tokens of this day.',
        waitMs ?? 0,
      );
    },
  };
}

export type Limits = ReturnType<typeof createLimits>;

/** Addresses that are remembered; of more, the oldest are forgotten. */
const mostAddresses = 10_000;

export type AddressLimit = ReturnType<typeof createAddressLimit>;

/** `now`: at the same time. Each process counts for itself: addresses are written nowhere. */
export function createAddressLimit(
  { max, words, per = 'minute' }: { max: number; words: string; per?: 'minute' | 'now' },
  now: () => number = () => performance.now(),
) {
  const counts = createCounts(now, mostAddresses);
  return {
    refusalOf(address: string): ServiceError | null {
      const waitMs = counts.waitFor({ name: address, max, per });
      return waitMs === null ? null : limited(words, waitMs);
    },
    count: (address: string, by = 1): void => counts.add({ name: address, max, per }, by),
  };
}

function ofTenant(
  { tenant }: Principal,
  what: string,
  { max, ...given }: Omit<Refused, 'name' | 'max'> & { max: number | undefined },
): Refused[] {
  return max === undefined ? [] : [{ ...given, max, name: `${what} tenant ${tenant}` }];
}

/** Live turns end when they end; until then a new one may be tried now and then. */
const turnMs = 5_000;

export function tooManyTurns(of: 'user' | 'tenant'): ServiceError {
  const who = of === 'user' ? 'You have' : 'Your tenant has';
  return limited(`${who} too many turns that work or wait; end one of them, or answer its question.`, turnMs);
}

export function sentTooMany(sender: string, max: number, what: 'requests' | 'answers' = 'requests'): string {
  return `${sender} sent more than ${max} ${what} in a minute.`;
}

function limited(reason: string, waitMs: number): ServiceError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new ServiceError('rate_limited', `${reason} Wait ${seconds} s, then try again.`, {
    retryAfterMs: seconds * 1_000,
  });
}
