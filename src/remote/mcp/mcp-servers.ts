/** MCP servers as what a turn calls. Owns what is remembered between calls: eras, and sessions of the old era. */
import type { LearnedEras } from '../../storage/ports/learned-eras.ts';
import { bestEffortSettled } from '../best-effort.ts';
import type { Resume } from '../input-required.ts';
import type { RemoteServers } from '../remote-servers.ts';
import { callServerTool } from './call.ts';
import { cancelServerCall, listenForPages, observeCall } from './legacy/observe-call.ts';
import { createSessionPool } from './legacy/session-pool.ts';
import { listServerTools } from './list-tools.ts';
import { ServerEras } from './server-eras.ts';

interface Options {
  /** How long a session of the old era is kept for the next call, default ten seconds. */
  idleMs?: number;
  /** Without it, what was learned is kept in this process. */
  learnedEras?: LearnedEras;
}

export function createMcpServers({ idleMs, learnedEras }: Options = {}): RemoteServers {
  const eras = new ServerEras(learnedEras);
  const sessions = createSessionPool({ ...(idleMs !== undefined && { idleMs }) });
  return {
    listTools: (server, credential, signal, listener = {}) =>
      listServerTools(server, credential, signal, { ...listener, eras }),
    callTool: (server, credential, call) =>
      callServerTool(server, credential, call, {
        eras,
        sessions: call.owner === undefined ? undefined : sessions.of(call.owner),
      }),
    async cancelCall(access, open) {
      const call = open.kind === 'detached' || open.kind === 'held' ? open.call : undefined;
      if (call) await cancelServerCall(access, call);
    },
    observeCall(access, { questions, resume }, count) {
      const watched = { ...access, questions };
      if (resume.kind === 'detached') return observeCall(watched, resume.call, count);
      const session = sessionOf(resume);
      return session ? listenForPages(watched, session) : Promise.resolve({ kind: 'ended' });
    },
    async close() {
      sessions.close();
      await bestEffortSettled();
    },
  };
}

function sessionOf(resume: Resume) {
  return resume.kind === 'again' ? resume.session : undefined;
}
