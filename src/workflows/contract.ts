/**
 * What workflow code and the process that runs it expect of each other: the activities with their inputs and results, the
 * signals and queries, and the sinks. Code of one release runs in processes of another: workers of a new release go on with
 * turns that the release before began, and after a rollback it is the reverse.
 *
 * The number grows when workflow code needs something that processes of the release before do not offer, or does not
 * understand what they send. `oldest` grows when a release stops offering what older code needs; that release cannot be
 * deployed while turns of such code are open. `test/upgrade/recorded-contract.full.test.ts` reads what the release before has
 * recorded by the types of today.
 */
export const contract = {
  /** What the workflow code of this release needs. */
  needs: 1,
  /** The contracts that processes of this release offer. */
  oldest: 1,
  newest: 1,
};

export type OfferedContracts = Pick<typeof contract, 'oldest' | 'newest'>;

export function isOffered(needed: number, { oldest, newest }: OfferedContracts): boolean {
  return oldest <= needed && needed <= newest;
}
