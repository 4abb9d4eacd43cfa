import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../config.ts';
import type { ConnectionReason, Context, Outcome } from '../elicitation/elicitation.ts';
import { connectionMessage } from '../elicitation/wording.ts';
import type { Storage } from '../storage/storage.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import { questionOpened, questionSettled } from '../telemetry/events.ts';
import type { Turn } from '../turn/turn.ts';

/** Why somebody has to be asked. Ids and reasons only: it passes through workflow history. */
export interface ConnectionAsk {
  server: string;
  /** The tool that needs the account; absent when nothing is known about the server's tools yet. */
  tool?: string;
  reason: ConnectionReason;
  seenVersion: number;
  scopes?: string[];
}

export type Opened =
  | { kind: 'opened' | 'already-connected'; connectedVersion: number | null }
  | { kind: 'too-many-open' };

interface Dependencies {
  storage: Storage;
  logger: Logger;
  config: Pick<Config, 'http' | 'elicitation' | 'agents' | 'servers'>;
}

export function createElicitationActivities({ storage, config, logger }: Dependencies) {
  return {
    /**
     * Puts the question to the user. Whoever connects the account looks for open questions after writing the
     * connection, and this looks for the connection after writing the question: one of the two sees the other.
     */
    async openElicitation(input: {
      turn: Turn;
      workflowId: string;
      elicitationId: string;
      user: string;
      ask: ConnectionAsk;
      deadline: number;
    }): Promise<Opened> {
      const { turn, workflowId, elicitationId, user, ask, deadline } = input;
      const { tenant, conversation, turnId, agent } = turn;
      const server = serverOf(ask.server);
      const connectedVersion = async () => {
        const connection = await storage.connections.get(connectionKey(server, turn));
        return connection && connection.version > ask.seenVersion ? connection.version : null;
      };
      // A row without a record of it in history: an earlier attempt asked, and its worker died before it said so.
      const wasAsked = (await storage.elicitations.get(elicitationId)) !== null;
      const before = wasAsked ? null : await connectedVersion();
      if (before !== null) return { kind: 'already-connected', connectedVersion: before };

      const kind = await storage.elicitations.open(
        {
          tenant,
          conversation,
          turnId,
          agent,
          id: elicitationId,
          workflowId,
          user,
          request: {
            mode: 'url',
            message: connectionMessage(server.title, ask.reason, ask.tool),
            url: `${config.http.publicUrl}/auth/connect?e=${elicitationId}`,
            context: contextOf(server, turn, ask),
          },
          server: ask.server,
          seenVersion: ask.seenVersion,
          salt: randomBytes(16).toString('base64url'),
          deadline,
        },
        config.elicitation.maxOpen,
      );
      if (kind !== 'opened') return { kind };
      questionOpened(logger, {
        elicitationId,
        turnId,
        user,
        server: ask.server,
        reason: ask.reason,
      });
      return { kind, connectedVersion: await connectedVersion() };
    },

    async settleElicitation(input: {
      elicitationId: string;
      outcome: Outcome;
      responseId: string | null;
    }): Promise<void> {
      const { elicitationId, outcome, responseId } = input;
      const isNews = await storage.elicitations.settle(elicitationId, outcome, responseId);
      const row = isNews ? await storage.elicitations.get(elicitationId) : null;
      if (row)
        questionSettled(logger, { elicitationId, turnId: row.turnId, outcome, askedAt: row.createdAt });
    },
  };

  function serverOf(name: string): ServerConfig {
    const server = config.servers.get(name);
    if (!server)
      throw new Error(`The agents file no longer has a server "${name}", but a turn still needs it.`);
    return server;
  }

  function contextOf(server: ServerConfig, turn: Turn, ask: ConnectionAsk): Context {
    return {
      trigger: 'credential_required',
      agent: config.agents.get(turn.agent)?.title ?? turn.agent,
      ...(turn.delegation && { path: turn.delegation.path }),
      server: server.name,
      serverTitle: server.title,
      host: new URL(server.url).host,
      reason: ask.reason,
      ...(ask.tool !== undefined && { toolName: ask.tool }),
      ...(ask.scopes && { scopes: ask.scopes }),
    };
  }
}
