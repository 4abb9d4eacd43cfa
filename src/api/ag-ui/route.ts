/** The AG-UI surface: a run of an agent as a stream of events, and what the agent can do. */
import { z } from 'zod';
import { AgUiCapabilitiesSchema, AgUiEventSchema, AgUiRunSchema } from '@interlude-ai/core/contract/ag-ui.ts';
import type { AgUiRun } from '@interlude-ai/core/contract/ag-ui.ts';
import { AgentNameSchema, LanguageHeadersSchema } from '@interlude-ai/core/contract/http.ts';
import type { AgentConfig } from '../../platform/config/config.ts';
import { unknownAgent } from '../../service/start-turn.ts';
import { describeRoute, eventStream, json, problemsOf } from '../http/describe-route.ts';
import { refuseBeyondLimit } from '../http/limits.ts';
import { languageFrom } from '../http/reader-headers.ts';
import type { SurfaceParts } from '../http/readers.ts';
import type { Api } from '../http/validation.ts';
import { beginRun } from './begin-run.ts';
import { mayAnswer } from './run-input.ts';
import { streamRun } from './show-run.ts';

const params = z.object({
  agent: AgentNameSchema.meta({ description: 'The agent', examples: ['assistant'] }),
});

export function agUiSurface(api: Api, parts: SurfaceParts): void {
  const { service, bodyLimit } = parts;
  const agentCalled = (name: string): AgentConfig => {
    const agent = service.agents.get(name);
    if (!agent) throw unknownAgent(name, service.agents);
    return agent;
  };

  const run = describeRoute({
    tag: 'ag-ui',
    id: 'runAgent',
    summary: 'Start a turn, or answer its questions, and follow it',
    response: {
      200: eventStream('Events of AG-UI 1.0; an error after the first is `RUN_ERROR`', AgUiEventSchema),
    },
    problems: [...problemsOf.takingABody, ...problemsOf.startingATurn, ...problemsOf.answering],
    namesTurn: true,
  });
  api.post(
    '/run/agents/:agent/ag-ui',
    {
      bodyLimit,
      config: { isAnswer: (body) => mayAnswer(body as AgUiRun) },
      schema: { ...run, params, body: AgUiRunSchema, headers: LanguageHeadersSchema },
    },
    async (request, reply) => {
      const { body, principal, ip: address } = request;
      const agent = agentCalled(request.params.agent);
      const begun = await beginRun(service, agent, { principal, address }, body);
      if (!begun.answers.isNew) refuseBeyondLimit(request);
      return streamRun(reply, { parts, request, body, run: begun, language: languageFrom(request.headers) });
    },
  );

  const capabilities = describeRoute({
    tag: 'ag-ui',
    id: 'readAgentCapabilities',
    summary: 'What the agent can do',
    response: { 200: json('As AG-UI describes it', AgUiCapabilitiesSchema) },
    problems: ['unknown_agent'],
  });
  api.get('/run/agents/:agent/ag-ui/capabilities', { schema: { ...capabilities, params } }, async (request) =>
    toCapabilities(agentCalled(request.params.agent)),
  );
}

function toCapabilities({ name, title, description, agents, images, frontendTools }: AgentConfig) {
  return {
    identity: { name: title ?? name, ...(description !== undefined && { description }) },
    transport: { streaming: true },
    tools: { supported: true, clientProvided: frontendTools === true },
    state: { snapshots: false, deltas: false, persistentState: false },
    multiAgent: { supported: agents.length > 0, subagents: agents.map((delegate) => ({ name: delegate })) },
    multimodal: { input: { image: images === true }, output: { image: true } },
    humanInTheLoop: { supported: true, approvals: true, interrupts: true, approveWithEdits: false },
  };
}
