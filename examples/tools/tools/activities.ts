/** What the tools do outside: ordinary code for Node. Each call has its effect once, whatever is restarted meanwhile. */
import { note } from './lib/office.ts';

export async function deletePage(page: string): Promise<void> {
  await note(`deleted ${page}`);
}

export function readTeams(): [string, ...string[]] {
  return ['Design', 'Platform'];
}

export async function addMember(member: { name: string; email: string; team: string }): Promise<void> {
  await note(`added ${member.name} <${member.email}> to ${member.team}`);
}

export async function grantAccess(grant: {
  page: string;
  guest: string;
  access: 'read' | 'edit';
  days: number;
}): Promise<void> {
  const { page, guest, access, days } = grant;
  await note(`${guest} may ${access} ${page} for ${days} days`);
}

export function readPayment(invoice: string): { invoice: string; status: 'paid' } {
  return { invoice, status: 'paid' };
}
