/** What of its servers' tools an agent is offered, by what the agents file lists for it. */
import { expect, test } from 'vitest';
import {
  createAgentTools,
  mayUse,
  createToolFitter,
} from '../../../src/activities/call-model/agent-tools.ts';
import type { AgentConfig, ServerConfig } from '../../../src/platform/config/config.ts';
import type { ModelTool } from '../../../src/remote/model-tools.ts';
import { createBackoff } from '../../../src/remote/catalogue.ts';
import { connectTool, toModelTool } from '../../../src/remote/model-tools.ts';
import type { StoredMessage } from '../../../src/storage/schema/turn-tables.ts';
import { toFrontendToolsPart } from '../../../src/turn/message-parts.ts';
import { serverConfig } from '../../credentials/guarded-server.ts';
import { agent } from './model-step.ts';

const owner = { tenant: 'acme', user: 'alice' };
const tracker: ServerConfig = serverConfig('http://tracker.example/mcp');
const tool = (name: string) => toModelTool(tracker, { name, inputSchema: { type: 'object' } });

function toolsOf(listed: ModelTool[], agents: AgentConfig[], said: StoredMessage[] = []) {
  const warnings: object[] = [];
  const away = createBackoff();
  const logger = { warn: (about: object) => void warnings.push(about) };
  const of = createAgentTools({
    agents: new Map(agents.map((one) => [one.name, one])),
    servers: new Map([['tracker', tracker]]),
    catalogue: { toolsFor: async (_, servers) => (servers.length > 0 ? listed : []), backoff: away },
    fitter: createToolFitter({ providers: {}, logger }),
    logger,
  });
  return {
    of: async (one: AgentConfig) =>
      (await of(one, owner, Promise.resolve(said))).tools.map(({ modelName }) => modelName),
    awayFor: async (one: AgentConfig) => (await of(one, owner, Promise.resolve(said))).away,
    away,
    warnings,
  };
}

test('an agent that lists nothing is offered whatever there is', async () => {
  const all = { ...agent, servers: [{ name: 'tracker' }] };
  const { of, warnings } = toolsOf([tool('list'), tool('delete')], [all]);
  expect(await of(all)).toEqual(['tracker__list', 'tracker__delete']);
  expect(warnings).toEqual([]);
});

test('tools of the front end are offered if the agent takes them, and never in place of its own', async () => {
  const brought = ['set_theme', 'tracker__list'].map((name) => ({ name, description: '', parameters: {} }));
  const content = [{ type: 'text', text: 'hello' }, toFrontendToolsPart(brought)];
  const said = [{ id: 'm1', turnId: 't', role: 'user' as const, content }];
  const all = { ...agent, servers: [{ name: 'tracker' }] };
  const { of } = toolsOf([tool('list')], [all], said);
  expect(await of(all)).toEqual(['tracker__list']);
  expect(await of({ ...all, frontendTools: true })).toEqual(['tracker__list', 'set_theme']);
});

test('each agent has a list of its own, also one that another one hands tasks to', async () => {
  const reader = { ...agent, name: 'reader', servers: [{ name: 'tracker', tools: ['list'] }] };
  const boss = { ...agent, servers: [{ name: 'tracker', tools: ['delete'] }], agents: ['reader'] };
  const { of } = toolsOf([tool('list'), tool('delete')], [boss, reader]);
  expect(await of(boss)).toEqual(['tracker__delete', 'agent__reader']);
  expect(await of(reader)).toEqual(['tracker__list']);
  expect(mayUse(boss, 'tracker', 'list')).toBe(false);
  expect(mayUse(reader, 'tracker', 'list')).toBe(true);
  expect(mayUse(reader, 'notes', null)).toBe(false);
  expect(mayUse(undefined, 'tracker', 'list')).toBe(false);
});

test('a listed tool that the server does not have is named once, with those that it has', async () => {
  const one = { ...agent, servers: [{ name: 'tracker', tools: ['list_issues', 'delete'] }] };
  const { of, warnings } = toolsOf([tool('list'), tool('delete')], [one]);
  expect(await of(one)).toEqual(['tracker__delete']);
  await of(one);
  expect(warnings).toEqual([
    { agent: 'assistant', server: 'tracker', toolName: 'list_issues', there: ['list', 'delete'] },
  ]);
});

test('while nobody has listed a server, nothing is known to be missing, and its account can be connected', async () => {
  const one = { ...agent, servers: [{ name: 'tracker', tools: ['list'] }] };
  const { of, warnings } = toolsOf([connectTool(tracker)], [one]);
  expect(await of(one)).toEqual(['connect_tracker']);
  expect(warnings).toEqual([]);
});

test('a server that cannot be reached is named, unless its tools are known all the same', async () => {
  const one = { ...agent, servers: [{ name: 'tracker' }] };
  const unknown = toolsOf([], [one]);
  expect(await unknown.awayFor(one)).toEqual([]);
  unknown.away.failed(tracker, { code: 'busy', server: 'Tracker' });
  expect(await unknown.awayFor(one)).toEqual(['Tracker']);
  const known = toolsOf([tool('list')], [one]);
  known.away.failed(tracker, { code: 'busy', server: 'Tracker' });
  expect(await known.awayFor(one)).toEqual([]);
});

test('a tool that the provider cannot accept is left out, and named once with its server and why', async () => {
  const one = { ...agent, model: 'openai:gpt', servers: [{ name: 'tracker' }] };
  const bad: ModelTool = { ...tool('bad'), inputSchema: { type: 'array' } };
  const { of, warnings } = toolsOf([bad, tool('list')], [one]);
  expect(await of(one)).toEqual(['tracker__list']);
  await of(one);
  expect(warnings).toEqual([
    {
      agent: 'assistant',
      model: 'openai:gpt',
      server: 'tracker',
      toolName: 'bad',
      reason: 'takes arguments of type "array", and arguments are an object',
    },
  ]);
});

test('of more tools than the provider takes, the last of the servers are left out, and delegates stay', async () => {
  const many = Array.from({ length: 130 }, (_, index) => tool(`tool${index}`));
  const helper = { ...agent, name: 'helper', servers: [] };
  const one = { ...agent, model: 'openai:gpt', servers: [{ name: 'tracker' }], agents: ['helper'] };
  const { of, warnings } = toolsOf(many, [one, helper]);
  const offered = await of(one);
  expect(offered).toHaveLength(128);
  expect(offered.slice(-2)).toEqual(['tracker__tool126', 'agent__helper']);
  expect(warnings).toMatchObject(['tool127', 'tool128', 'tool129'].map((name) => ({ toolName: name })));
});
