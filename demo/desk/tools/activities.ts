/** What the Desk's tools do in the office: ordinary code for Node. Each call has its effect once. */
import type { DeskBooks, Digest, Invoice, Member } from '../store.ts';

export type DeskState = Omit<DeskBooks, 'invoices'> & {
  invoices: (Omit<Invoice, 'payment'> & { paymentPage: string })[];
};

export function readDesk(): Promise<DeskState> {
  return callOffice('readDesk') as Promise<DeskState>;
}

/** False where there is no such page. */
export function deletePage(title: string): Promise<boolean> {
  return callOffice('deletePage', { title }) as Promise<boolean>;
}

export async function addMember(member: Member): Promise<void> {
  await callOffice('addMember', member);
}

export async function setDigest(digest: Digest): Promise<void> {
  await callOffice('setDigest', digest);
}

async function callOffice(name: string, input: unknown = null): Promise<unknown> {
  const port = process.env['DEMO_DESK_PORT'] ?? '3004';
  const response = await fetch(`http://127.0.0.1:${port}/api/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  if (!response.ok) throw new Error(`The office answers ${response.status}.`);
  return response.json();
}
