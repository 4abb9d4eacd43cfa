/** The workflow of a conversation's latest turn that has begun. */
import type { Storage } from '../../src/storage/storage.ts';
import { turnWorkflowId } from '../../src/workflows/messages.ts';

export async function workflowOf(
  { turnLog }: Pick<Storage, 'turnLog'>,
  conversation: string,
  tenant = 'demo',
): Promise<string> {
  const latest = (await turnLog.read({ tenant, conversation }, 0)).at(-1);
  if (!latest) throw new Error(`No turn of conversation ${conversation} has begun`);
  return turnWorkflowId({ tenant, conversation, turnId: latest.turnId });
}
