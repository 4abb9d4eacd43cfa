import { randomUUID } from 'node:crypto';
import type { InterludeOptions, OnElicitation } from '../../src/ai-sdk/index.ts';
import { connectAccount } from '../../../../test/service/connect-account.ts';
import type { Service } from '../../../../test/service/service.ts';
import { useService } from '../../../../test/service/use-service.ts';
import type { UsedService } from '../../../../test/service/use-service.ts';

export const listing = 'list my open issues';
export const both = { url: true, form: true };

export async function optionsFor(service: Service, user = 'alice'): Promise<InterludeOptions> {
  const timing = { firstRetryMs: 10, lastRetryMs: 50 };
  return { baseURL: service.baseUrl, token: await service.token(user), timing };
}

/** The service, and the options of a provider that calls it for alice. */
export function useInterlude(): UsedService & { options: InterludeOptions } {
  const options = {} as InterludeOptions;
  const used: UsedService = useService({
    async prepare() {
      Object.assign(options, await optionsFor(used.service));
    },
  });
  return { ...used, options };
}

/** Connects the account, as the person would. */
export const connect: OnElicitation = async (elicitation) => {
  if (elicitation.mode === 'url') await connectAccount('alice', elicitation.url);
  return undefined;
};

/** Ended with the service. */
export function newConversation(service: Service): string {
  const conversation = randomUUID();
  service.begun(conversation);
  return conversation;
}

/** All turns of the user's, in whichever conversation. */
export async function turnsOf({ storage }: Service, user = 'alice'): Promise<number> {
  const found = await storage.conversations.list({ tenant: 'demo', user }, { after: null, limit: 100 });
  const turns = found.map((conversation) =>
    storage.conversations.turns(conversation, { before: null, limit: 100 }),
  );
  return (await Promise.all(turns)).flat().length;
}
