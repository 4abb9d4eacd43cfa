import { randomBytes } from 'node:crypto';
import type { Config, ServerConfig } from '../config/config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import type { CredentialStore } from '../credentials/store.ts';
import type { Context, ElicitationRequest } from '../elicitation/elicitation.ts';
import { questionAddress } from '../elicitation/account-pages.ts';
import { inspectUrl } from '../elicitation/url-safety.ts';
import { connectionMessage } from '../elicitation/wording.ts';
import { placeOf } from '../remote/server-name.ts';
import type { Settlement } from '../elicitation/elicitation.ts';
import type { ElicitationRow } from '../storage/ports/elicitations.ts';
import type { NewPoll } from '../storage/ports/polls.ts';
import type { Storage } from '../storage/storage.ts';
import type { ConnectionAsk, NewQuestion, OpenResult, ServerAsk } from '../turn/ask.ts';
import type { Turn } from '../turn/turn.ts';
import type { CallRounds } from './call-tool/rounds.ts';
import { lookAtRound, lookForAccount } from './looks.ts';

type QuestionRow = Pick<ElicitationRow, 'request' | 'server' | 'seenVersion'>;

interface Dependencies {
  storage: Storage;
  rounds: Pick<CallRounds, 'list'>;
  storeOf(server: ServerConfig): CredentialStore;
  config: Pick<Config, 'http' | 'elicitation' | 'agents' | 'servers'>;
}

export function createElicitationActivities({ storage, rounds, storeOf, config }: Dependencies) {
  return {
    /** Puts the question to the user. */
    openElicitation(input: NewQuestion): Promise<OpenResult> {
      const { ask } = input;
      switch (ask.kind) {
        case 'connection':
          return openConnection({ ...input, ask });
        case 'server':
          return openServer({ ...input, ask });
        default:
          return ask satisfies never;
      }
    },

    /** For outcomes that nothing else writes down: nobody goes on because of them, or who did has failed. */
    async settleElicitations({ outcomes }: { outcomes: Settlement[] }): Promise<void> {
      await storage.elicitations.settleAll(outcomes);
    },
  };

  /**
   * Whoever connects the account looks for open questions after writing the connection, and this looks for the
   * connection after writing the question: one of the two sees the other.
   */
  async function openConnection(input: NewQuestion<ConnectionAsk>): Promise<OpenResult> {
    const { turn, elicitationId, ask } = input;
    const server = serverOf(ask.server);
    const connectedVersion = async () => {
      const connection = await storage.connections.get(connectionKey(server, turn));
      return connection && connection.version > ask.seenVersion ? connection.version : null;
    };
    // A row without a record of it in history: an earlier attempt asked, and its worker died before it said so.
    const wasAsked = (await storage.elicitations.get(elicitationId)) !== null;
    const before = wasAsked ? null : await connectedVersion();
    if (before !== null) return { kind: 'already-connected', connectedVersion: before };

    const context: Context = {
      ...contextOf(server, turn),
      trigger: 'credential_required',
      reason: ask.reason,
      ...(ask.tool !== undefined && { toolName: ask.tool }),
      ...(ask.toolCallId !== undefined && { toolCallId: ask.toolCallId }),
      ...(ask.scopes && { scopes: ask.scopes }),
    };
    const message = connectionMessage(
      server.title,
      ask.reason,
      ask.tool,
      server.store === 'vault' ? 'key' : 'account',
    );
    const url = questionAddress(config.http.publicUrl, elicitationId);
    const request = { mode: 'url' as const, message, url, context };
    const { seenVersion } = ask;
    const mayGoUnnoticed = storeOf(server).catchUp !== undefined;
    const look = mayGoUnnoticed
      ? lookForAccount(elicitationId, { turn, server: ask.server, seenVersion })
      : undefined;
    const kind = await open(input, { request, server: ask.server, seenVersion }, look);
    if (kind !== 'opened') return { kind };
    return { kind, connectedVersion: await connectedVersion(), ...(mayGoUnnoticed && { mayGoUnnoticed }) };
  }

  async function openServer(input: NewQuestion<ServerAsk>): Promise<OpenResult> {
    const { turn, elicitationId, ask } = input;
    const round = (await rounds.list(turn, ask.toolCallId))[ask.round - 1];
    if (!round) {
      // A worker that died while it opened this left it to be seen: it has to be closed, as any other.
      const isSeen = (await storage.elicitations.get(elicitationId)) !== null;
      return isSeen ? { kind: 'opened', connectedVersion: null } : { kind: 'call-ended' };
    }
    const asked = round.questions.find((question) => question.elicitationId === elicitationId)?.request;
    if (!asked) throw new Error(`Question ${elicitationId} is not in round ${ask.round} of its tool call.`);
    const warnings = asked.mode === 'url' ? warningsAbout(asked.url) : [];
    const context: Context = {
      ...contextOf(serverOf(ask.server), turn),
      trigger: 'mcp_elicitation',
      toolName: ask.tool,
      toolCallId: ask.toolCallId,
      ...(warnings.length > 0 && { warnings }),
    };
    const request: ElicitationRequest = { ...asked, context };
    const look = lookAtRound(
      { turn, toolCallId: ask.toolCallId, server: ask.server, round: ask.round },
      round,
    );
    const kind = await open(input, { request, server: null, seenVersion: null }, look);
    return kind === 'opened' ? { kind, connectedVersion: null } : { kind };
  }

  async function open(
    { turn, workflowId, elicitationId, user, deadline }: NewQuestion,
    question: QuestionRow,
    look: NewPoll | undefined,
  ): Promise<'opened' | 'too-many-open'> {
    const { tenant, conversation, turnId, agent } = turn;
    const salt = randomBytes(16).toString('base64url');
    const row = { tenant, conversation, turnId, agent, id: elicitationId, workflowId, user, salt, deadline };
    return storage.elicitations.open({ ...row, ...question }, config.elicitation.maxOpen, look);
  }

  function serverOf(name: string): ServerConfig {
    const server = config.servers.get(name);
    if (!server)
      throw new Error(`The agents file no longer has a server "${name}", but a turn still needs it.`);
    return server;
  }

  function contextOf(server: ServerConfig, turn: Turn): Omit<Context, 'trigger'> {
    return {
      agent: config.agents.get(turn.agent)?.title ?? turn.agent,
      ...(turn.delegation && { path: turn.delegation.path }),
      server: server.name,
      serverTitle: server.title,
      host: placeOf(server),
    };
  }
}

function warningsAbout(url: string) {
  const inspected = inspectUrl(url);
  return inspected.kind === 'ok' ? inspected.warnings : [];
}
