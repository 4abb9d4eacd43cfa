/** Notifications of both eras that belong to a call: progress, and changes of the server's tools. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { plainLine } from '@interlude-ai/core/elicitation/plain-text.ts';
import type { CallListener, CallProgress } from '../remote-servers.ts';

const maxMessageLength = 200;

const progressSchema = z.looseObject({
  progressToken: z.union([z.string(), z.number()]),
  progress: z.number(),
  total: z.number().positive().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
});

/** `callId` is the progress token of the call. */
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
