/** What the service says, and how to call its routes beside the one that `useChat` talks to. */
import type { UIMessage } from 'ai';

export type Message = UIMessage<unknown, { 'elicitation-request': Question }>;

export type Question = {
  elicitationId: string;
  message: string;
  /** Only `trigger` is always there. */
  context: {
    trigger: string;
    serverTitle?: string;
    agent?: string;
    host?: string;
    toolName?: string;
    arguments?: string;
  };
  status: 'pending' | 'accept' | 'decline' | 'cancel' | 'expired';
} & ({ mode: 'url'; url: string } | { mode: 'form'; requestedSchema: FormSchema });

/** Flat: the service lets no other schema through. */
export type FormSchema = { properties?: Record<string, Field>; required?: string[] };

export interface Field extends Choices {
  type?: string;
  title?: string;
  description?: string;
  format?: string;
  default?: string | number | boolean | string[];
  items?: Choices;
}

type Choice = { const: string; title?: string };
type Choices = { enum?: string[]; oneOf?: Choice[]; anyOf?: Choice[] };

/** In the service's own words; where a form is wrong, with what is wrong about each field. */
export class Refused extends Error {
  errors: { pointer: string; detail: string }[] = [];
}

export const service = document.getElementById('root')?.dataset['service'] ?? '';

/** Your own backend knows who is signed in, and has a token for them. */
export async function headers(): Promise<Record<string, string>> {
  const token = await (await fetch('/token')).text();
  return {
    authorization: `Bearer ${token.trim()}`,
    'x-supports-elicitation': 'url,form',
    'x-supports-reset-step': 'true',
  };
}

export async function request(...[url, init]: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(url, init);
  if (response.ok) return response;
  const { detail, errors = [] } = await response.json();
  throw Object.assign(new Refused(detail), { errors });
}

/** What was said, without the message of the `turn` that is at work: that comes with its stream. */
export async function read(conversation: string): Promise<{ turn: unknown; messages: { items: Message[] } }> {
  const url = `${service}/run/v1/conversations/${conversation}?limit=100`;
  return (await request(url, { headers: await headers() })).json();
}

export async function post(path: string, body: object): Promise<void> {
  const ours = { ...(await headers()), 'content-type': 'application/json' };
  await request(service + path, { method: 'POST', headers: ours, body: JSON.stringify(body) });
}
