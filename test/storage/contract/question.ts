import { randomUUID } from 'node:crypto';
import type { ElicitationRequest } from '../../../src/elicitation/elicitation.ts';
import type { Elicitations } from '../../../src/storage/ports/elicitations.ts';
import type { TurnRef } from '../../../src/turn/turn.ts';

type NewElicitation = Parameters<Elicitations['open']>[0];

export const request: ElicitationRequest = {
  mode: 'url',
  url: 'https://interlude.example/auth/connect?e=1',
  message: 'Tracker needs your account to list issues.',
  context: {
    trigger: 'credential_required',
    agent: 'assistant',
    server: 'tracker',
    serverTitle: 'Tracker',
    host: 'tracker.example',
  },
};

export function question(turn: TurnRef, given: Partial<NewElicitation> = {}): NewElicitation {
  const { tenant, conversation, turnId } = turn;
  return {
    tenant,
    conversation,
    turnId,
    id: randomUUID(),
    workflowId: 'turn/1',
    agent: 'assistant',
    user: 'alice',
    request,
    server: 'tracker',
    seenVersion: 0,
    salt: 'salt',
    deadline: Date.now() + 600_000,
    ...given,
  };
}
