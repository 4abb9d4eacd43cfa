/** What the service sends with an interrupt, and what the page needs from its own backend. */
import type { Interrupt, ResumeEntry } from '@ag-ui/client';

export type { Interrupt, ResumeEntry };

export interface Question {
  mode: 'url' | 'form';
  /** Of a link. */
  url?: string;
  /** The deadline. Interrupts have it only for clients of AG-UI 1.0. */
  expiresAt: string;
  context: {
    trigger: string;
    agent?: string;
    serverTitle?: string;
    host?: string;
    toolName?: string;
    arguments?: string;
  };
  /** What was wrong with the last answer. */
  errors?: string;
}

/** Who asks. */
export function askerOf(interrupt: Interrupt): string {
  const { serverTitle, agent } = questionOf(interrupt).context;
  return serverTitle ?? agent ?? 'The agent';
}

export function questionOf({ metadata }: Interrupt): Question {
  return metadata?.['interlude'] as Question;
}

/** An answer without the id of its question. */
export type Answer = Pick<ResumeEntry, 'status' | 'payload'>;

export const agentUrl = '/run/agents/assistant/ag-ui';

const user = new URLSearchParams(location.search).get('user') ?? 'alice';

/** Your backend knows who is signed in. */
export async function authorization(): Promise<{ authorization: string }> {
  const response = await fetch(`/token/${user}`);
  if (!response.ok) throw new Error('No token was given.');
  return { authorization: `Bearer ${await response.text()}` };
}

/** The thread is in the address, so a page that is loaded again comes back to it. */
export const isNewThread = location.hash === '';
export const threadId = location.hash.slice(1) || crypto.randomUUID();
history.replaceState(null, '', `#${threadId}`);

/** Ends the turn. A page that only closes the stream leaves the turn at work. */
export async function stop(): Promise<void> {
  const headers = { ...(await authorization()), 'content-type': 'application/json' };
  await fetch(`/run/api/chat/${threadId}/cancel`, { method: 'POST', headers, body: '{}' });
}

/** Links come from servers: only addresses that a browser can trust are opened. */
export function isSafeToOpen(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1'].includes(hostname));
}
