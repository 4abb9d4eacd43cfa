/** The models that OpenAI clients can choose from, which are the agents. */
import { z } from 'zod';
import type { AgentConfig } from '../../config/config.ts';
import { AgentNameSchema } from '../../contract/ids.ts';
import { ModelListSchema, ModelSchema } from '../../contract/openai.ts';
import { describeRoute, json } from '../http/describe-route.ts';
import { unknownAgent } from '../../service/start-turn.ts';
import type { Service } from '../../service/service.ts';
import type { Api } from '../http/validation.ts';

export function listModels(api: Api, agents: Service['agents']): void {
  const list = describeRoute({
    tag: 'openai',
    id: 'listModels',
    summary: 'List the agents',
    response: { 200: json('Every agent is a model', ModelListSchema) },
  });
  api.get('/run/v1/models', { schema: list }, async () => ({
    object: 'list',
    data: [...agents.values()].map(toModel),
  }));

  const one = describeRoute({
    tag: 'openai',
    id: 'readModel',
    summary: 'One agent',
    response: { 200: json('The agent', ModelSchema) },
    problems: ['unknown_agent'],
  });
  const params = z.object({
    model: AgentNameSchema.meta({ description: 'The agent', examples: ['assistant'] }),
  });
  api.get('/run/v1/models/:model', { schema: { ...one, params } }, async ({ params: { model } }) => {
    const agent = agents.get(model);
    if (!agent) throw unknownAgent(model, agents);
    return toModel(agent);
  });
}

function toModel({ name, images }: AgentConfig) {
  return { id: name, object: 'model', created: 0, owned_by: 'interlude', ...(images && { images }) };
}
