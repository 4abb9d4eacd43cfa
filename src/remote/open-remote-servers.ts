/**
 * MCP servers and remote A2A agents behind one interface. Owns what is remembered between calls: the eras and sessions of MCP
 * servers, and the cards of agents.
 */
import type { LearnedEras } from '../storage/tables/tool-catalogue.ts';
import { callAgent, tryCredential } from './a2a/call-agent.ts';
import { createCards } from './a2a/connect.ts';
import { cancelTask, observeTask } from './a2a/follow-task.ts';
import { bestEffortSettled } from './best-effort.ts';
import { callServerTool } from './mcp/call.ts';
import { cancelServerCall, listenForPages, observeCall } from './mcp/legacy/observe-call.ts';
import { createSessionPool } from './mcp/legacy/session-pool.ts';
import { listServerTools } from './mcp/list-tools.ts';
import { ServerEras } from './mcp/server-eras.ts';
import type { RemoteServers } from './remote-servers.ts';

interface Options {
  /** How long a session of the old era is kept for the next call, default ten seconds. */
  idleMs?: number;
  /** Default: what was learned is kept in this process. */
  learnedEras?: LearnedEras;
}

export function openRemoteServers({ idleMs, learnedEras }: Options = {}): RemoteServers {
  const eras = new ServerEras(learnedEras);
  const sessions = createSessionPool({ ...(idleMs !== undefined && { idleMs }) });
  const cards = createCards();
  return {
    listTools: (server, credential, signal, listener = {}) =>
      server.agent
        ? tryCredential({ server, credential, signal, cards })
        : listServerTools(server, credential, signal, { ...listener, eras }),
    async callTool(server, credential, call) {
      if (server.agent) return callAgent(server, credential, call, cards);
      const ownSessions = call.owner === undefined ? undefined : sessions.of(call.owner);
      return callServerTool(server, credential, call, { eras, sessions: ownSessions });
    },
    async cancelCall(access, open) {
      if (access.server.agent) {
        if (open.kind === 'task') await cancelTask({ ...access, cards }, open.task);
      } else if (open.kind === 'detached' || open.kind === 'held') {
        if (open.call) await cancelServerCall(access, open.call);
      }
    },
    async observeCall(access, { questions, resume }, count) {
      if (access.server.agent)
        return resume.kind === 'task'
          ? observeTask({ ...access, cards }, resume.task, questions, count)
          : { kind: 'ended' };
      const observed = { ...access, questions };
      if (resume.kind === 'detached') return observeCall(observed, resume.call, count);
      const session = resume.kind === 'again' ? resume.session : undefined;
      return session ? listenForPages(observed, session) : { kind: 'ended' };
    },
    async close() {
      sessions.close();
      await bestEffortSettled();
    },
  };
}
