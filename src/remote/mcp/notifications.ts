/**
 * What happens to a call beside its answer and needs no reply: that it has left, how far it has come, and that the
 * server's tools have changed. The latter are read from its messages as they come, whatever connection brings them.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ProcessReport } from './stdio/process.ts';
import { plainLine } from '../../elicitation/plain-text.ts';

export interface CallProgress {
  progress: number;
  /** What `progress` comes to in the end, if the server knows. */
  total?: number;
  message?: string;
}

export interface Listener {
  /** A request of the call's is on the wire; told again for each one. */
  onSent?: () => void;
  /** For each notice of how far the call has come, however often the server sends one. */
  onProgress?: (progress: CallProgress) => void;
  /** The server's tools are not what they were. */
  onToolsChanged?: () => void;
  /** The process of the call has ended, for a server that is one. */
  onReport?: (report: ProcessReport) => void;
}

/** Longer ones are not for a line on a screen. */
const longestMessage = 200;

const progressSchema = z.looseObject({
  progressToken: z.union([z.string(), z.number()]),
  progress: z.number(),
  total: z.number().positive().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
});

/** `callId` is what the call was sent with as its progress token. */
export function hearNews(message: JSONRPCMessage, callId: string, listener: Listener): void {
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
  const words = message && plainLine(message).slice(0, longestMessage);
  return { progress, ...(total !== undefined && { total }), ...(words && { message: words }) };
}
