/**
 * Notices about missing accounts, for readers that cannot show the question: which tool call needs which account, and where to
 * connect it. The same whether no one was asked or another reader shows the question. Pure.
 */
import type { ToolAuthRequired } from '@interlude-ai/core/contract/stream-event.ts';
import { connectionsBeside } from '@interlude-ai/core/elicitation/account-pages.ts';
import { isCallOf } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { TurnEvent } from '../../turn/event.ts';
import { shownElsewhere } from '../../turn/for-person.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';

export interface Notice {
  type: 'data-tool-auth-required';
  /** The tool call's. */
  id: string;
  data: ToolAuthRequired;
}

type Call = { toolCallId: string; toolName: string };

/** Stateful: one per reader. Remembers tool calls without a result. */
export function createNotices(language: Language | null = null): (event: TurnEvent) => Notice[] {
  const unfinished = new Map<string, Call & { by: string }>();

  return (event) => {
    const by = JSON.stringify(event.path ?? []);
    switch (event.type) {
      case 'tool-input-available':
        unfinished.set(event.toolCallId, { toolCallId: event.toolCallId, toolName: event.toolName, by });
        return [];
      case 'tool-output-available':
      case 'tool-output-error':
        unfinished.delete(event.toolCallId);
        return [];
      case 'tool-auth-required': {
        const { toolCallId, toolName, server, serverTitle, message, url } = event;
        return [toNotice({ toolCallId, toolName }, { server, serverTitle, message, url })];
      }
      case 'elicitation-request': {
        const { status } = event;
        if (status !== 'pending' || !isAboutAnAccount(event)) return [];
        const calls = [...unfinished.values()].filter((call) => call.by === by);
        const { server, serverTitle = server } = event.context;
        const isOurs = event.context.trigger === 'credential_required';
        const url = isOurs ? connectionsBeside(event.url) : undefined;
        const message = shownElsewhere(event.message, url, language);
        return [toNotice(callOf(event, calls), { server, serverTitle, message, url })];
      }
      default:
        return [];
    }
  };
}

type AccountQuestion = Extract<ElicitationEvent, { mode: 'url' }> & { context: { server: string } };

function isAboutAnAccount(event: ElicitationEvent): event is AccountQuestion {
  const { trigger, server } = event.context;
  const isAccount = trigger === 'credential_required' || trigger === 'a2a_auth_required';
  return event.mode === 'url' && isAccount && server !== undefined;
}

interface Missing {
  server: string;
  serverTitle: string;
  message: string;
  url: string | undefined;
}

function toNotice({ toolCallId, toolName }: Call, { server, serverTitle, message, url }: Missing): Notice {
  return {
    type: 'data-tool-auth-required',
    id: toolCallId,
    data: { server, serverTitle, toolName, message, ...(url !== undefined && { url }) },
  };
}

/** The call that the question names; old logs have questions that name none: then the first waiting call. */
function callOf({ elicitationId, context }: AccountQuestion, calls: Call[]): Call {
  const { server, toolCallId, toolName = `connect_${server}` } = context;
  const waiting = calls.filter((call) => isCallOf(server, call.toolName));
  return (
    calls.find((call) => call.toolCallId === toolCallId) ??
    waiting.find((call) => call.toolName === `${server}__${toolName}`) ??
    waiting[0] ?? { toolCallId: toolCallId ?? elicitationId, toolName }
  );
}
