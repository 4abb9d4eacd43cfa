/** Log entries as readers get them, made from events. */
import type { UIMessageChunk } from 'ai';
import { createTranslator } from '../../../src/api/ui-message/translate.ts';
import { readerFrom } from '../../../src/api/http/reader-headers.ts';
import type { Reader } from '../../../src/api/http/reader-headers.ts';
import type { ElicitationEvent, Status } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { LogEntry, TurnEvent } from '../../../src/turn/event.ts';

const at = Date.parse('2026-11-21T10:00:00.000Z');

function log(events: TurnEvent[]): LogEntry[] {
  return events.map((event, index) => ({ seq: index + 1, turnId: 't', at, event }));
}

export function chunksFor(reader: Partial<Reader>, events: TurnEvent[]): UIMessageChunk[] {
  const capabilities = { url: true, form: true };
  return log(events).flatMap(createTranslator({ ...readerFrom({}), capabilities, ...reader }));
}

export function accountQuestion(status: Status, tool?: string): ElicitationEvent {
  return {
    type: 'elicitation-request',
    elicitationId: 'e1',
    mode: 'url',
    url: 'https://interlude.example/auth/connect?e=e1',
    message: 'Tracker needs your account to list issues.',
    context: {
      trigger: 'credential_required',
      agent: 'Assistant',
      server: 'tracker',
      serverTitle: 'Tracker',
      host: 'tracker.example',
      ...(tool !== undefined && { toolName: tool }),
    },
    status,
    expiresAt: '2026-11-21T10:10:00.000Z',
  };
}

export function toolCall(toolCallId: string, toolName: string): TurnEvent {
  return { type: 'tool-input-available', toolCallId, toolName, input: {} };
}
