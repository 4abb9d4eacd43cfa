/** What opening a question of any kind has in common: writing its row and event, and the context about its server. */
import { randomBytes } from 'node:crypto';
import type { Config, ServerConfig } from '../../config/config.ts';
import type { CredentialStore } from '../../credentials/store.ts';
import type { Context } from '../../elicitation/elicitation.ts';
import { placeOf } from '../../remote/server-name.ts';
import type { ElicitationRow } from '../../storage/ports/elicitations.ts';
import type { NewPoll } from '../../storage/ports/polls.ts';
import type { Storage } from '../../storage/storage.ts';
import type { NewQuestion, OpenResult } from '../../turn/ask.ts';
import type { Turn } from '../../turn/turn.ts';
import type { CallRounds } from '../call-tool/rounds.ts';

export interface QuestionParts {
  storage: Storage;
  rounds: Pick<CallRounds, 'list'>;
  storeOf(server: ServerConfig): CredentialStore;
  config: Pick<Config, 'http' | 'elicitation' | 'agents' | 'servers'>;
}

/** `poll`: what is polled while the question is open. Opening a question again changes nothing. */
export async function openQuestion(
  { storage, config }: QuestionParts,
  { turn, workflowId, elicitationId, user, deadline }: NewQuestion,
  question: Pick<ElicitationRow, 'request' | 'server' | 'seenVersion'>,
  poll: NewPoll | undefined,
): Promise<OpenResult> {
  const { tenant, conversation, turnId, agent } = turn;
  const salt = randomBytes(16).toString('base64url');
  const row = { tenant, conversation, turnId, agent, id: elicitationId, workflowId, user, salt, deadline };
  const { maxOpen: perUser, maxOpenPerTurn: perTurn } = config.elicitation;
  const opened = await storage.elicitations.open({ ...row, ...question }, { perUser, perTurn }, poll);
  switch (opened) {
    case 'opened':
      return { kind: 'opened', connectedVersion: null };
    case 'too-many-open':
      return { kind: 'too-many-open' };
    case 'too-many-in-turn':
      return { kind: 'too-many-open', of: 'turn' };
    default:
      return opened satisfies never;
  }
}

export function serverOf({ config }: QuestionParts, name: string): ServerConfig {
  const server = config.servers.get(name);
  if (!server)
    throw new Error(`The agents file no longer has a server "${name}", but a turn still needs it.`);
  return server;
}

/** What a question says of the agent that asks. */
export function agentContext(
  { config }: Pick<QuestionParts, 'config'>,
  turn: Turn,
): Pick<Context, 'agent' | 'path'> {
  return {
    agent: config.agents.get(turn.agent)?.title ?? turn.agent,
    ...(turn.delegation && { path: turn.delegation.path }),
  };
}

export function contextOf(
  parts: Pick<QuestionParts, 'config'>,
  server: ServerConfig,
  turn: Turn,
): Omit<Context, 'trigger'> {
  return {
    ...agentContext(parts, turn),
    server: server.name,
    serverTitle: server.title,
    host: placeOf(server),
  };
}
