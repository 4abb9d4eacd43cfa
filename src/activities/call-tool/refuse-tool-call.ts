/** Ends a tool call that was not made: with the reason for the model, and a notice for the person where they can help. */
import type { Config, ServerConfig } from '../../config/config.ts';
import { connectionKey } from '../../credentials/connection-key.ts';
import { connectionsAddress } from '../../elicitation/account-pages.ts';
import {
  connectionMessage,
  elsewhere,
  refusalForModel,
  unknownOutcomeForModel,
} from '../../elicitation/wording.ts';
import type { Refusal } from '../../elicitation/wording.ts';
import { modelNameOf } from '../../remote/model-tools.ts';
import type { Settlement } from '../../elicitation/elicitation.ts';
import type { NewEvent } from '../../storage/ports/turn-log.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ToolCallRow } from '../../storage/ports/tool-calls.ts';
import type { Turn } from '../../turn/turn.ts';
import { accountNotice, createToolResults } from '../tool-results.ts';

interface Dependencies {
  storage: Pick<Storage, 'toolCalls' | 'toolCatalogue' | 'elicitations'>;
  servers: Config['servers'];
  config: Pick<Config, 'http'>;
}

export interface RefusedToolCall {
  turn: Turn;
  toolCallId: string;
  server: string;
  refusal: Refusal;
  /** Of questions, told first: one of them may be why the call is not made. */
  outcomes: Settlement[];
}

export function createRefuseToolCall({ storage, servers, config: { http } }: Dependencies) {
  const address = connectionsAddress(http.publicUrl);
  const results = createToolResults(storage);

  return {
    async refuseToolCall({ turn, toolCallId, server, refusal, outcomes }: RefusedToolCall): Promise<void> {
      await storage.elicitations.settleAll(outcomes);
      const call = await results.requested(turn, toolCallId);
      const config = servers.get(server);
      const title = config?.title ?? server;
      const mayHaveRun = refusal === 'failed' && call.state === 'started';
      const text = mayHaveRun ? unknownOutcomeForModel(title) : refusalForModel(refusal, title, address);
      const notice =
        config && refusal === 'unsupported' ? await accountMissing(turn, call, config) : undefined;
      await results.finish(turn, call, { kind: 'error', text }, { notice });
    },
  };

  /** The person is there, only their client cannot show the question: they can connect the account elsewhere. */
  async function accountMissing(turn: Turn, call: ToolCallRow, config: ServerConfig): Promise<NewEvent> {
    const { name: server, title: serverTitle, store } = config;
    const by = store === 'vault' ? 'key' : 'account';
    const known = await storage.toolCatalogue.get(connectionKey(config, turn));
    const tool = known?.tools.find(({ name }) => modelNameOf(server, name) === call.toolName)?.name;
    const message = elsewhere(connectionMessage(serverTitle, 'missing', tool, by), false, address);
    return accountNotice(call, config, message, address);
  }
}
