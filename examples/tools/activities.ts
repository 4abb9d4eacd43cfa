/** What the tools do outside: ordinary code for Node. Each call has its effect once, whatever is restarted meanwhile. */
import { appendFile } from 'node:fs/promises';

const notebook = () => process.env['DESK_NOTEBOOK'] ?? '/dev/null';

export async function deletePage(page: string): Promise<void> {
  await appendFile(notebook(), `deleted ${page}\n`);
}

export function readTeams(): [string, ...string[]] {
  return ['Design', 'Platform'];
}

export async function addMember(member: { name: string; email: string; team: string }): Promise<void> {
  await appendFile(notebook(), `added ${member.name} <${member.email}> to ${member.team}\n`);
}

export async function grantAccess(grant: {
  page: string;
  guest: string;
  access: 'read' | 'edit';
  days: number;
}): Promise<void> {
  const { page, guest, access, days } = grant;
  await appendFile(notebook(), `${guest} may ${access} ${page} for ${days} days\n`);
}

export function readPayment(invoice: string): { invoice: string; status: 'paid' } {
  return { invoice, status: 'paid' };
}
