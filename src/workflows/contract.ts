/**
 * The version of what workflow code and its process expect of each other: activities, signals and sinks. Workflow code of
 * one release runs in processes of another, after an upgrade and after a rollback.
 *
 * `needs` grows when workflow code needs something new; `oldest` grows when a release stops offering something. See
 * `test/upgrade/recorded-contract.full.test.ts`.
 */
export const contract = {
  /** What the workflow code of this release needs. */
  needs: 2,
  /** What processes of this release offer. */
  oldest: 2,
  newest: 2,
};

type OfferedContracts = Pick<typeof contract, 'oldest' | 'newest'>;

export function isOffered(needed: number, { oldest, newest }: OfferedContracts): boolean {
  return oldest <= needed && needed <= newest;
}
