/**
 * The schema of a remote agent in the agents file: it is listed under `agents`, like those that run here, and recognised by
 * its `card`. It has accounts and limits like a server.
 */
import { z } from 'zod';
import { duration } from '../duration.ts';
import { entrySchema } from './server-entry.ts';

const address = (what: string) =>
  z
    .url({ protocol: /^https?$/ })
    .regex(/^[^:]+:\/\/[^/?#@]*([/?#]|$)/, `put credentials into headersEnv, not into the ${what}`);

export const remoteAgentSchema = entrySchema
  .omit({ url: true, command: true, cwd: true, uid: true, gid: true, env: true, envFrom: true, era: true })
  .extend({
    card: address('address').describe(
      'Address of its A2A agent card, which ends in /.well-known/agent-card.json at most agents',
    ),
    description: z
      .string()
      .default('')
      .describe('What it is good for: the model decides by these words, and never by those of the card'),
    endpoint: address('address')
      .optional()
      .describe(
        'Where messages may go besides the host of the card, when the card names an address of another host',
      ),
    timeout: duration
      .default(600_000)
      .describe('How long it may work without asking anything; waiting for people is not included'),
  })
  .meta({ description: 'A remote agent that speaks A2A' });

export type RemoteAgentEntry = z.infer<typeof remoteAgentSchema>;

/** Moves the entries of `agents` that have a `card` to `$remoteAgents`, so that each kind is checked by its own schema. */
export function withRemoteAgentsApart(document: unknown): unknown {
  if (!isObject(document) || !isObject(document['agents'])) return document;
  const entries = Object.entries(document['agents']);
  const isRemote = ([, entry]: [string, unknown]) => isObject(entry) && 'card' in entry;
  return {
    ...document,
    agents: Object.fromEntries(entries.filter((entry) => !isRemote(entry))),
    $remoteAgents: Object.fromEntries(entries.filter(isRemote)),
  };
}

/** Turns a path of the document that `withRemoteAgentsApart` made into one of the file, for messages about mistakes. */
export function writtenPath([section, ...rest]: PropertyKey[]): PropertyKey[] {
  return section === undefined ? [] : [section === '$remoteAgents' ? 'agents' : section, ...rest];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
