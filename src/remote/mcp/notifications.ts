/** Notifications that belong to a call of either era: how far it has come, and that the server's tools have changed. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { plainLine } from '../../elicitation/plain-text.ts';
import type { CallListener, CallProgress } from '../call-listener.ts';

/** Longer ones are not for a line on a screen. */
const maxMessageLength = 200;

const progressSchema = z.looseObject({
  progressToken: z.union([z.string(), z.number()]),
  progress: z.number(),
  total: z.number().positive().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
});

/** `callId` is what the call was sent with as its progress token. */
export function notifyListener(message: JSONRPCMessage, callId: string, listener: CallListener): void {
  if (!('method' in message) || 'id' in message) return;
  switch (message.method) {
    case 'notifications/tools/list_changed':
      return listener.onToolsChanged?.();
    case 'notifications/progress': {
      const { data } = progressSchema.safeParse(message.params);
      if (data?.progressToken === callId) listener.onProgress?.(toProgress(data));
    }
  }
}

function toProgress({ progress, total, message }: z.infer<typeof progressSchema>): CallProgress {
  const words = message && plainLine(message).slice(0, maxMessageLength);
  return { progress, ...(total !== undefined && { total }), ...(words && { message: words }) };
}
