/** All activities that a worker of turns registers. Their names are in recorded histories. */
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../platform/config/config.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { CredentialStore } from '../credentials/credential-store.ts';
import type { Catalogue } from '../remote/catalogue.ts';
import type { RemoteServers } from '../remote/remote-servers.ts';
import type { Models } from '../models/provider.ts';
import type { Storage } from '../storage/storage.ts';
import { createCallModel } from './call-model/call-model.ts';
import { abandonCall } from './call-tool/abandon-call.ts';
import { createToolActivities } from './call-tool/call-tool.ts';
import type { HeldCallLimit } from './call-tool/held-call-limit.ts';
import { createCallRounds } from './call-tool/rounds.ts';
import { createDelegationActivities } from './delegations.ts';
import { createDurableCallActivities } from './durable-tools/durable-calls.ts';
import type { OfferedTools } from './call-model/agent-tools.ts';
import { createModelQuestionActivity } from './model-question.ts';
import { createPushActivities } from './push/push-activities.ts';
import { createSlackActivities } from './slack/slack-activities.ts';
import { createTurnActivities } from './turns.ts';

interface ActivityDependencies {
  config: Config;
  storage: Storage;
  keys: KeyRing;
  models: Models;
  catalogue: Catalogue;
  remote: RemoteServers;
  heldCallLimit: HeldCallLimit;
  /** Absent if no agent has tools in TypeScript. */
  offeredTools?: OfferedTools;
  storeOf(server: ServerConfig): CredentialStore;
  logger: Logger;
}

export function createActivities(dependencies: ActivityDependencies) {
  const { agents, servers } = dependencies.config;
  const parts = { ...dependencies, rounds: createCallRounds(dependencies) };
  const { callModel, makeNextStep } = createCallModel({ ...parts, agents, servers });
  return {
    ...createTurnActivities(parts),
    callModel,
    ...createToolActivities(parts, makeNextStep),
    ...createModelQuestionActivity(parts),
    ...createDelegationActivities({
      ...parts,
      agents,
      abandonCall: (turn, call) => abandonCall(parts, turn, call),
    }),
    ...createDurableCallActivities(parts),
    ...createPushActivities(parts),
    ...createSlackActivities(parts),
  };
}

export type Activities = ReturnType<typeof createActivities>;
