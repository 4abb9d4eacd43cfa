/** Remote A2A agents as what a turn calls. Owns what is remembered between calls: their cards. */
import { bestEffortSettled } from '../best-effort.ts';
import type { RemoteServers } from '../remote-servers.ts';
import { callAgent } from './call-agent.ts';
import { cancelTask } from './cancel-task.ts';
import { createCards } from './card.ts';
import { observeTask } from './observe-task.ts';
import { tryCredential } from './try-credential.ts';

export function createA2aAgents(): RemoteServers {
  const cards = createCards();
  return {
    listTools: (server, credential, signal) => tryCredential({ server, credential, signal, cards }),
    callTool: (server, credential, call) => callAgent(server, credential, call, cards),
    async cancelCall(access, open) {
      if (open.kind === 'task') await cancelTask({ ...access, cards }, open.task);
    },
    observeCall: (access, { questions, resume }, count) =>
      resume.kind === 'task'
        ? observeTask({ ...access, cards }, resume.task, questions, count)
        : Promise.resolve({ kind: 'ended' }),
    close: bestEffortSettled,
  };
}
