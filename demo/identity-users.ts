/** The people of the demo. */
export interface DemoUser {
  id: string;
  name: string;
  email: string;
}

export const demoTenant = 'demo';

export const demoUsers: DemoUser[] = [
  { id: 'alice', name: 'Alice', email: 'alice@example.com' },
  { id: 'bob', name: 'Bob', email: 'bob@example.com' },
];

export function demoUser(id: string): DemoUser | undefined {
  return demoUsers.find((user) => user.id === id);
}

export const userNames = demoUsers.map((user) => user.id).join(' and ');
