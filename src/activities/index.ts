/** All activities that a worker registers. They get their dependencies here and nowhere else; histories name them. */
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../config/config.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { CredentialStore } from '../credentials/store.ts';
import type { Catalogue } from '../remote/catalogue.ts';
import type { RemoteServers } from '../remote/remote-servers.ts';
import type { Models } from '../models/provider.ts';
import type { Storage } from '../storage/storage.ts';
import { createAbandonCall, createAbandonLostCalls, createAbandonTasks } from './call-tool/abandon-call.ts';
import { createCallModel } from './call-model/call-model.ts';
import { createCallRounds } from './call-tool/rounds.ts';
import { createToolActivities } from './call-tool/call-tool.ts';
import { createDelegationActivities } from './delegations.ts';
import { createDurableCallActivities } from './durable-tools/durable-calls.ts';
import type { OfferedTools } from './durable-tools/offered-tools.ts';
import { createElicitationActivities } from './questions/questions.ts';
import { createFinishModelQuestion } from './questions/finish-model-question.ts';
import { createFindConnection } from './find-connection.ts';
import type { HeldCallLimit } from './call-tool/held-call-limit.ts';
import { createRefuseToolCall } from './call-tool/refuse-tool-call.ts';
import { createPushActivities } from './push/push-activities.ts';
import { createSlackActivities } from './slack/slack-activities.ts';
import { createTurnActivities } from './turns.ts';

export interface ActivityDependencies {
  config: Config;
  storage: Storage;
  keys: KeyRing;
  models: Models;
  catalogue: Catalogue;
  remote: RemoteServers;
  heldCallLimit: HeldCallLimit;
  /** Absent: no agent has tools in TypeScript. */
  offeredTools?: OfferedTools;
  storeOf(server: ServerConfig): CredentialStore;
  logger: Logger;
}

export function createActivities(dependencies: ActivityDependencies) {
  const { config } = dependencies;
  const { agents, servers } = config;
  const rounds = createCallRounds(dependencies);
  return {
    ...createTurnActivities({
      ...dependencies,
      abandonCalls: createAbandonTasks({ ...dependencies, rounds, servers }),
    }),
    ...createDelegationActivities({
      ...dependencies,
      agents,
      abandonLostCalls: createAbandonLostCalls({ ...dependencies, rounds, servers }),
    }),
    ...createElicitationActivities({ ...dependencies, rounds }),
    ...createToolActivities({ ...dependencies, rounds, agents, servers }),
    ...createFinishModelQuestion(dependencies),
    ...createFindConnection({ ...dependencies, servers }),
    ...createAbandonCall({ ...dependencies, rounds, servers }),
    ...createDurableCallActivities(dependencies),
    ...createPushActivities(dependencies),
    ...createSlackActivities(dependencies),
    ...createRefuseToolCall({ ...dependencies, servers }),
    ...createCallModel({ ...dependencies, agents, servers }),
  };
}

export type Activities = ReturnType<typeof createActivities>;
