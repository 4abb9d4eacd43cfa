/**
 * The flight agent: a small A2A agent on the SDK's own server, which Interlude's assistant hands tasks to. It asks once, where
 * the journey begins, in words: it knows nothing of Interlude.
 */
import { randomUUID } from 'node:crypto';
import type { AgentCard, Message, TaskStatus } from '@a2a-js/sdk';
import { Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import { serveA2aAgent } from '../a2a-server.ts';
import type { ServedAgent } from '../a2a-server.ts';
import { findFlights } from './timetable.ts';

/** 0 takes a free port. */
export function startFlightAgent({ port }: { port: number }): Promise<ServedAgent> {
  return serveA2aAgent({
    port,
    portVariable: 'DEMO_FLIGHTS_PORT',
    card: cardOf,
    handler: (card) => new DefaultRequestHandler(card, new InMemoryTaskStore(), executor),
  });
}

const executor: AgentExecutor = {
  async execute(context, bus) {
    const { task, taskId, contextId, userMessage } = context;
    const begun = { id: taskId, contextId, artifacts: [], history: [userMessage], metadata: undefined };
    bus.publish(AgentEvent.task(task ?? { ...begun, status: statusOf(TaskState.TASK_STATE_SUBMITTED) }));
    const said = textOf(userMessage);
    if (!task) {
      say(context, bus, TaskState.TASK_STATE_INPUT_REQUIRED, 'Which city do you want to fly from?');
    } else if (/^no\b/i.test(said)) {
      say(context, bus, TaskState.TASK_STATE_COMPLETED, 'No flight was looked for: nobody said where from.');
    } else {
      say(context, bus, TaskState.TASK_STATE_WORKING, 'Looking through the timetable');
      say(context, bus, TaskState.TASK_STATE_COMPLETED, findFlights(said, textOf(task.history[0])));
    }
    bus.finished();
  },
  async cancelTask(taskId, bus) {
    const status = statusOf(TaskState.TASK_STATE_CANCELED);
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId: '', status, metadata: undefined }));
    bus.finished();
  },
};

function say(
  { taskId, contextId }: RequestContext,
  bus: ExecutionEventBus,
  state: TaskState,
  text: string,
): void {
  const message: Message = {
    messageId: randomUUID(),
    taskId,
    contextId,
    role: Role.ROLE_AGENT,
    parts: [
      {
        content: { $case: 'text', value: text },
        mediaType: 'text/plain',
        filename: '',
        metadata: undefined,
      },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  bus.publish(
    AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, message), metadata: undefined }),
  );
}

function statusOf(state: TaskState, message?: Message): TaskStatus {
  return { state, message, timestamp: new Date().toISOString() };
}

function textOf(message: Message | undefined): string {
  const texts = message?.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')) ?? [];
  return texts.join(' ').trim();
}

function cardOf(origin: string): AgentCard {
  return {
    name: 'Flights',
    description: 'Finds flights',
    version: '1.0.0',
    supportedInterfaces: [
      { url: `${origin}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' },
    ],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: 'find-flights',
        name: 'Find flights',
        description: 'Finds flights between two cities',
        tags: ['travel'],
        examples: ['Find a flight to Lisbon'],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    securitySchemes: {},
    securityRequirements: [],
    signatures: [],
    provider: undefined,
    documentationUrl: '',
    iconUrl: '',
  };
}
