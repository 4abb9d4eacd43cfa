/**
 * CopilotKit's runtime before the service. It forwards each user's own token and has none itself. It keeps no threads either:
 * the service stores them, so a restart of the runtime loses nothing, and only the thread's user can read it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { EventType, HttpAgent } from '@ag-ui/client';
import type { BaseEvent } from '@ag-ui/client';
import { AgentRunner, CopilotRuntime } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';
import { catchError, of } from 'rxjs';
import type { Observable } from 'rxjs';

process.env['COPILOTKIT_TELEMETRY_DISABLED'] = 'true';

class StoredThreads extends AgentRunner {
  readonly #url: string;

  constructor(url: string) {
    super();
    this.#url = url;
  }

  run({ agent, input }: Parameters<AgentRunner['run']>[0]): Observable<BaseEvent> {
    return agent.run(input).pipe(catchError(failed));
  }

  /** A run without a message reads the thread, and follows what is at work. */
  connect({ threadId, headers = {} }: Parameters<AgentRunner['connect']>[0]): Observable<BaseEvent> {
    const agent = new HttpAgent({ url: this.#url, headers, fetch: fetchToTheEnd });
    const nothing = { messages: [], tools: [], context: [], state: {}, forwardedProps: {} };
    return agent.run({ threadId, runId: crypto.randomUUID(), ...nothing }).pipe(catchError(failed));
  }

  /** The service knows; pages stop a turn there. */
  isRunning = () => Promise.resolve(false);
  stop = () => Promise.resolve(false);
}

/** An error of a request. The page runs the thread again, unless the service refused. */
function failed({ message }: Error): Observable<BaseEvent> {
  return of(runError(message, message.startsWith('HTTP 4') ? 'refused' : 'lost'));
}

function runError(message: string, code: string): BaseEvent {
  return { type: EventType.RUN_ERROR, message, code } as BaseEvent;
}

/** A stream that breaks off ends with an event. As an error it would end this process: the client does not handle it in Node. */
async function fetchToTheEnd(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const reader = response.body?.getReader();
  if (!reader) return response;
  const lost = runError('The stream of the service broke off.', 'lost');
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch {
        controller.enqueue(new TextEncoder().encode(`\n\ndata: ${JSON.stringify(lost)}\n\n`));
        controller.close();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, response);
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
let listener: Listener | undefined;

export function runtimeFor(service: string): Listener {
  if (listener) return listener;
  const url = `${service}/run/agents/assistant/ag-ui`;
  const runtime = new CopilotRuntime({
    agents: { assistant: new HttpAgent({ url, fetch: fetchToTheEnd }) },
    runner: new StoredThreads(url),
    forwardHeaders: { allow: ['authorization', 'accept-language'] },
  });
  listener = createCopilotNodeListener({ runtime, basePath: '/api/copilotkit' });
  return listener;
}
