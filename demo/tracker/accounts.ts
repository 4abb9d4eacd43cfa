/** The people who have an account at Tracker. Nothing but the name connects them with Interlude's own users. */
export const accounts = {
  alice: { name: 'Alice Marsh', role: 'Product' },
  bob: { name: 'Bob Okafor', role: 'Platform' },
} as const;

export type Account = keyof typeof accounts;
export const accountNames = Object.keys(accounts) as Account[];

export function isAccount(name: unknown): name is Account {
  return typeof name === 'string' && Object.hasOwn(accounts, name);
}
