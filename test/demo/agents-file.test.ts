import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { renderAgentsSchema, schemaFile } from '../../scripts/agents-schema.ts';
import { loadConfig } from '../../src/platform/config/load-config.ts';

const demoFile = new URL('../../demo/agents.yaml', import.meta.url);

test('the schema for editors is current; if not, run: node scripts/agents-schema.ts', () => {
  expect(readFileSync(schemaFile, 'utf8')).toBe(renderAgentsSchema());
});

test('editors accept the demo’s agents file and point at what is wrong in a file', () => {
  const validate = new Ajv2020({ strict: false, formats: { uri: true } }).compile(
    JSON.parse(renderAgentsSchema()) as object,
  );
  const document = parse(readFileSync(demoFile, 'utf8')) as { servers: Record<string, object> };
  expect(validate(document)).toBe(true);
  expect(validate({ ...document, servers: { tracker: { title: 'No url' } } })).toBe(false);
  expect(validate({ ...document, agent: {} })).toBe(false);
});

test('the demo’s agents file is what the program starts with', () => {
  const config = loadConfig(
    {
      DEMO_TRACKER_PORT: '4002',
      DEMO_TRAVEL_PORT: '4003',
      DEMO_DESK_PORT: '4004',
      DEMO_FLIGHTS_PORT: '4005',
    },
    process.cwd(),
  );
  expect(config.servers.get('tracker')).toMatchObject({
    title: 'Tracker',
    url: 'http://127.0.0.1:4002/mcp',
    picture: expect.stringMatching(/^data:image\/svg\+xml;base64,/),
    credentialScope: 'user',
    approval: { default: 'never', tools: { close_issue: 'always' } },
  });
  expect(config.servers.get('travel')).toMatchObject({
    title: 'Travel Desk',
    url: 'http://127.0.0.1:4003/mcp',
    credentialScope: 'none',
    // Called in the other era, its questions end with the process, against what the README shows.
    era: '2026-07-28',
  });
  expect(config.demo.servers).toEqual({
    trackerPort: 4002,
    travelPort: 4003,
    deskPort: 4004,
    flightsPort: 4005,
    deskSecret: expect.stringMatching(/^[\w-]{32}$/),
  });
  // Each start makes up its own.
  expect(loadConfig({}, process.cwd()).demo.servers?.deskSecret).not.toBe(config.secret('DEMO_DESK_SECRET'));
  expect(config.agents.get('assistant')).toMatchObject({
    model: 'scripted',
    servers: [{ name: 'tracker' }, { name: 'travel' }],
    agents: ['researcher', 'flights'],
  });
});
