/** What a server of the old era does while people think: whether it still waits, or says that its page is done. */
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { activityInfo, cancellationSignal } from '@temporalio/activity';
import type { Config, ServerConfig } from '../config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import type { Credential, CredentialStore } from '../credentials/store.ts';
import { abandonServerCall, listenForPages, lookAtCall } from '../mcp/watch.ts';
import type { Sight } from '../mcp/watch.ts';
import type { Turn } from '../turn/turn.ts';
import type { ServerNews } from '../workflows/messages.ts';
import type { CallRounds, Round } from './call-rounds.ts';
import { whileHeartbeating } from './heartbeat.ts';

export interface AskedCall {
  turn: Turn;
  toolCallId: string;
  server: string;
  /** The round whose questions are open. */
  round: number;
}

interface Dependencies {
  rounds: CallRounds;
  servers: Config['servers'];
  storeOf(server: ServerConfig): CredentialStore;
}

export function createWatchServer({ rounds, servers, storeOf }: Dependencies) {
  return {
    /**
     * One look; `watchServer` is retried until there is news. Resolves with it, or with null when there is nothing to
     * look at any more.
     */
    watchServer: (call: AskedCall) =>
      whileHeartbeating(async (): Promise<ServerNews | null> => {
        const asked = await find(call);
        if (!asked) return null;
        const { round, server, credential } = asked;
        const watched = { server, credential, questions: round.questions, signal: cancellationSignal() };
        const sight = await look(round, watched);
        if (sight.kind === 'over') return null;
        if (sight.kind === 'quiet') throw notYet();
        const heard = round.questions.filter(({ key }) => sight.keys.includes(key));
        return { elicitationIds: heard.map(({ elicitationId }) => elicitationId), news: sight.news };
      }),

    /** Tells the server that nobody waits for the call any more. */
    async abandonCall(call: AskedCall): Promise<void> {
      const asked = await find(call);
      if (asked?.round.resume.kind !== 'detached') return;
      await abandonServerCall({ ...asked, signal: cancellationSignal() }, asked.round.resume.call);
    },
  };

  async function find({
    turn,
    toolCallId,
    server: name,
    round: number,
  }: AskedCall): Promise<{ round: Round; server: ServerConfig; credential: Credential } | null> {
    const server = servers.get(name);
    const round = (await rounds.list(turn, toolCallId))[number - 1];
    if (!server || !round) return null;
    const credential = await storeOf(server).resolve(server, connectionKey(server, turn));
    return credential.kind === 'credential' ? { round, server, credential } : null;
  }
}

function look({ resume }: Round, watched: Parameters<typeof lookAtCall>[0]): Promise<Sight> {
  if (resume.kind === 'detached') return lookAtCall(watched, resume.call, activityInfo().attempt);
  if (resume.kind === 'again' && resume.session) return listenForPages(watched, resume.session);
  return Promise.resolve({ kind: 'over' });
}

/** No failure that anybody should read of. */
function notYet(): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'The server still waits.',
    type: 'NoNewsYet',
    category: ApplicationFailureCategory.BENIGN,
  });
}
