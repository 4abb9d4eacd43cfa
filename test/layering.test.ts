/**
 * The arrows of the architecture, derived again from the source. A linter rule can be switched off in a comment; this
 * cannot, and it fails when it saw too little to mean anything.
 */
import { globSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, readSource } from './source-imports.ts';
import type { Import, SourceFile } from './source-imports.ts';

const root = path.resolve(import.meta.dirname, '..');
/** A folder of `src`, or of a package where it begins with the package's name. */
const isIn = (file: string, folder: string) => {
  const [, name = '', rest = ''] = /^(core|client|tools|kit|program|init|widget)(\/.*)?$/.exec(folder) ?? [];
  return file.startsWith(name === '' ? `src/${folder}/` : `packages/${name}/src${rest}/`);
};
const isInPackage = (file: string) => file.startsWith('packages/');
/** Where the surfaces are listed and assembled. */
const listOfSurfaces = 'src/api/app.ts';
/** What several surfaces use alike; itself none. */
const shared = ['http', 'ui-message'];
const isShared = (file: string) =>
  file !== listOfSurfaces && shared.some((folder) => isIn(file, `api/${folder}`));
const surfaceOf = (file: string) => {
  const folder = /^src\/api\/([^/]+)\//.exec(file)?.[1];
  return folder === undefined || shared.includes(folder) ? undefined : folder;
};

/** What a protocol calls things: known to the surface, and to what carries the turn to it. */
const isVocabulary = (file: string) => /^src\/api\/\w+\/vocabulary\//.test(file);

/** Each rule: whether it has anything to say about an import, and whether the import may be. */
const rules: { name: string; about: (file: string) => boolean; allows: (found: Import) => boolean }[] = [
  {
    name: 'packages import each other in one direction, and nothing of the service',
    about: isInPackage,
    allows: ({ from, to }) => {
      const order = ['core', 'client', 'tools', 'kit', 'program', 'init'];
      const [, own = ''] = /^packages\/(\w+)/.exec(from) ?? [];
      const [, other] = /^packages\/(\w+)/.exec(to) ?? [];
      if (other === undefined) return !to.startsWith('src/') && !to.startsWith('@temporalio/');
      if (other === own) return true;
      return own === 'widget'
        ? ['core', 'client'].includes(other)
        : order.includes(other) && order.indexOf(other) < order.indexOf(own);
    },
  },
  {
    name: 'elicitation/ imports nothing outside itself',
    about: (file) => isIn(file, 'core/elicitation'),
    allows: ({ to }) => isIn(to, 'core/elicitation'),
  },
  {
    name: 'contract/ imports only itself and zod',
    about: (file) => isIn(file, 'core/contract'),
    allows: ({ to }) => isIn(to, 'core/contract') || to === 'zod',
  },
  {
    name: 'markdown/ imports nothing outside itself but what makes the text of others harmless',
    about: (file) => isIn(file, 'core/markdown'),
    allows: ({ to }) => isIn(to, 'core/markdown') || to === 'packages/core/src/elicitation/plain-text.ts',
  },
  {
    name: 'the client imports only itself, a parser, the rule for addresses, its version, and the types of what goes over the wire',
    about: (file) =>
      isIn(file, 'client') && !isIn(file, 'client/ai-sdk') && file !== 'packages/client/src/contract.ts',
    allows: ({ to, typeOnly }) =>
      isIn(to, 'client') ||
      to === 'eventsource-parser' ||
      to === 'packages/core/src/elicitation/url-safety.ts' ||
      to === 'packages/core/src/contract/version.ts' ||
      (typeOnly && (isIn(to, 'core/contract') || isIn(to, 'core/elicitation') || to === 'zod')),
  },
  {
    name: 'ai-sdk/ imports only itself, the client, the AI SDK’s interface and the types of what goes over the wire',
    about: (file) => isIn(file, 'client/ai-sdk'),
    allows: ({ to, typeOnly }) =>
      isIn(to, 'client') ||
      to === '@ai-sdk/provider' ||
      (typeOnly && (isIn(to, 'core/contract') || isIn(to, 'core/elicitation'))),
  },
  {
    name: 'tools import only themselves, elicitation/ and zod, and what bundles them the rest',
    about: (file) => isIn(file, 'tools') && !isIn(file, 'tools/bundle'),
    allows: ({ to }) =>
      isIn(to, 'tools') ||
      isIn(to, 'core/elicitation') ||
      ['zod', 'packages/core/src/read-duration.ts'].includes(to),
  },
  {
    name: 'the widget imports only itself, the client, elicitation/, markdown/, React, useChat and types of what goes over the wire',
    about: (file) => isIn(file, 'widget'),
    allows: ({ to, typeOnly }) =>
      ['widget', 'client', 'core/elicitation', 'core/markdown'].some((folder) => isIn(to, folder)) ||
      [
        'react',
        'react-dom/client',
        '@ai-sdk/react',
        'packages/core/src/images.ts',
        'packages/core/src/with-timeout.ts',
      ].includes(to) ||
      (typeOnly && (isIn(to, 'core/contract') || to === 'ai')),
  },
  {
    name: 'the playground is a page around the widget, and imports nothing of the service but turn/ and how a timeline is drawn',
    about: (file) => isIn(file, 'api/pages/playground'),
    allows: ({ to, typeOnly }) =>
      ['api/pages/playground', 'widget', 'client', 'turn', 'core/elicitation'].some((folder) =>
        isIn(to, folder),
      ) ||
      ['react', 'react-dom/client', 'src/api/pages/timeline-markup.ts'].includes(to) ||
      (typeOnly && isIn(to, 'core/contract')),
  },
  {
    name: 'turn/ imports only itself, elicitation/, the limits of images, zod and the types of the AI SDK',
    about: (file) => isIn(file, 'turn'),
    allows: ({ to, typeOnly }) =>
      isIn(to, 'turn') ||
      isIn(to, 'core/elicitation') ||
      ['packages/core/src/images.ts', 'zod'].includes(to) ||
      (to === 'ai' && typeOnly),
  },
  {
    name: 'the vocabulary of A2A imports only itself, turn/, elicitation/, zod and the SDK',
    about: (file) => isIn(file, 'api/a2a/vocabulary'),
    allows: ({ to }) =>
      ['api/a2a/vocabulary', 'turn', 'core/elicitation'].some((folder) => isIn(to, folder)) ||
      to === 'zod' ||
      /^@a2a-js\/sdk(?:$|\/)/.test(to),
  },
  {
    name: 'the vocabulary of Slack imports only itself, turn/, elicitation/, markdown/, zod and the SDK',
    about: (file) => isIn(file, 'api/slack/vocabulary'),
    allows: ({ to }) =>
      ['api/slack/vocabulary', 'turn', 'core/elicitation', 'core/markdown'].some((folder) =>
        isIn(to, folder),
      ) || ['zod', '@slack/types', 'node:crypto'].includes(to),
  },
  {
    name: 'blocks and texts of Slack make data of data: they call nothing',
    about: (file) =>
      ['blocks', 'vocabulary/blocks', 'vocabulary/text'].some((folder) => isIn(file, `api/slack/${folder}`)),
    allows: ({ from, to }) =>
      ['blocks', 'text', 'words'].some((folder) => isIn(to, `api/slack/vocabulary/${folder}`)) ||
      (isIn(from, 'api/slack/blocks') && isIn(to, 'api/slack/blocks')) ||
      ['core/elicitation', 'core/markdown'].some((folder) => isIn(to, folder)) ||
      ['zod', '@slack/types'].includes(to),
  },
  {
    name: 'agent-tests/ is imported by its command only, and in the runner needs only the client',
    about: (file) => !isIn(file, 'agent-tests') || !/count-calls|service-process/.test(file),
    allows: ({ from, to, typeOnly }) =>
      isIn(from, 'agent-tests')
        ? typeOnly ||
          ['agent-tests', 'client'].some((folder) => isIn(to, folder)) ||
          ['src/platform/network/ports.ts', 'packages/core/src/read-duration.ts', 'jose'].includes(to) ||
          to.startsWith('node:')
        : !isIn(to, 'agent-tests') || from === 'src/cli/commands/test.ts',
  },
  {
    name: 'models/ import only themselves, turn/, elicitation/, providers, and settings as types',
    about: (file) => isIn(file, 'models'),
    allows: ({ to, typeOnly }) =>
      ['models', 'turn', 'core/elicitation'].some((folder) => isIn(to, folder)) ||
      to === 'src/platform/telemetry/redact-secrets.ts' ||
      (isIn(to, 'platform/config') && typeOnly) ||
      (!to.startsWith('src/') && !to.startsWith('@temporalio/')),
  },
  {
    name: 'network/ imports nothing of ours',
    about: (file) => isIn(file, 'platform/network'),
    allows: ({ to }) => isIn(to, 'platform/network') || !to.startsWith('src/'),
  },
  {
    name: 'telemetry/ knows what it logs as types only, and how words of others are made harmless',
    about: (file) => isIn(file, 'platform/telemetry'),
    allows: ({ to, typeOnly }) =>
      isIn(to, 'platform/telemetry') ||
      to === 'packages/core/src/with-timeout.ts' ||
      ['pino', 'pino-pretty', 'node:crypto'].includes(to) ||
      [
        'packages/core/src/elicitation/plain-text.ts',
        'packages/core/src/elicitation/secret-shapes.ts',
      ].includes(to) ||
      to.startsWith('@opentelemetry/') ||
      (typeOnly &&
        (to === '@temporalio/worker' ||
          ['turn', 'core/elicitation', 'storage', 'platform/config'].some((folder) => isIn(to, folder)))),
  },
  {
    name: 'the SDK of OpenTelemetry is imported by what is loaded where telemetry is on',
    about: (file) =>
      ![
        'src/platform/telemetry/metrics/meter-provider.ts',
        'src/platform/telemetry/traces/start-traces.ts',
        'src/platform/telemetry/resource.ts',
      ].includes(file),
    allows: ({ to, typeOnly }) =>
      typeOnly || !to.startsWith('@opentelemetry/') || to === '@opentelemetry/api',
  },
  {
    name: 'of workflows/, others know their messages only',
    about: (file) => !isIn(file, 'workflows') && !isIn(file, 'platform/processes'),
    allows: ({ to }) => !isIn(to, 'workflows') || to === 'src/workflows/messages.ts',
  },
  {
    name: 'workflows/ import only what is safe in a workflow, and activities as types',
    about: (file) => isIn(file, 'workflows'),
    allows: ({ to, typeOnly }) =>
      ['@temporalio/workflow', '@temporalio/common'].includes(to) ||
      ['workflows', 'turn', 'core/elicitation'].some((folder) => isIn(to, folder)) ||
      (typeOnly && isIn(to, 'activities')),
  },
  {
    name: 'surfaces never import each other',
    about: (file) => surfaceOf(file) !== undefined,
    allows: ({ from, to }) => surfaceOf(to) === undefined || surfaceOf(to) === surfaceOf(from),
  },
  {
    name: 'what surfaces share knows none of them',
    about: isShared,
    allows: ({ to }) => surfaceOf(to) === undefined,
  },
  {
    name: 'credentials/ know nothing of what calls servers, except the client of Slack',
    about: (file) => isIn(file, 'credentials'),
    allows: ({ to }) => !isIn(to, 'remote') || to === 'src/remote/slack.ts',
  },
  {
    name: 'service/ knows no transport, no surface and no wire format',
    about: (file) => isIn(file, 'service'),
    allows: ({ to }) =>
      !/^(?:fastify$|@fastify\/|@slack\/|@a2a-js\/|node:https?$)/.test(to) &&
      !isIn(to, 'activities') &&
      !isIn(to, 'api'),
  },
  {
    name: 'the API reaches the database, credentials and Temporal through service/ only, and knows not even their types',
    about: (file) => isIn(file, 'api'),
    allows: ({ to }) =>
      !to.startsWith('@temporalio/') &&
      !['workflows', 'storage', 'credentials'].some((folder) => isIn(to, folder)),
  },
  {
    name: 'loops of a process name what they need, and reach Temporal through service/ only',
    about: (file) => isIn(file, 'platform/loops'),
    allows: ({ to }) => !to.startsWith('@temporalio/') && !isIn(to, 'platform/processes') && !isIn(to, 'api'),
  },
  {
    name: 'leaves know neither workflows, activities, the service nor the API, except what protocols call things',
    about: (file) =>
      ['storage', 'credentials', 'remote', 'models', 'turn'].some((folder) => isIn(file, folder)),
    allows: ({ to }) =>
      isVocabulary(to) || !['workflows', 'activities', 'service', 'api'].some((folder) => isIn(to, folder)),
  },
  {
    name: 'activities/ know nothing of the service and the API, the API nothing of activities/',
    about: (file) => isIn(file, 'activities') || isIn(file, 'api'),
    allows: ({ from, to }) =>
      isIn(from, 'api')
        ? !isIn(to, 'activities')
        : !isIn(to, 'service') && (!isIn(to, 'api') || isVocabulary(to)),
  },
];

const violationsOf = (rule: (typeof rules)[number], files: SourceFile[]) =>
  files
    .filter(({ name }) => rule.about(name))
    .flatMap(({ imports }) => imports.filter((found) => !rule.allows(found)))
    .map(({ from, to }) => `${from} → ${to}`);

const mayReadEnvironment = (file: string) =>
  [
    'src/agent-tests/service.ts',
    'src/cli/checkout.ts',
    'src/platform/processes/read-config.ts',
    'src/platform/processes/hide-environment.ts',
    'packages/core/src/proxy.ts',
    'packages/program/src/commands/acp.ts',
    'packages/program/src/commands/answer.ts',
    'packages/program/src/commands/chat.ts',
    'packages/program/src/commands/login.ts',
    'packages/program/src/commands/mcp.ts',
    'packages/program/src/commands/service-options.ts',
    'packages/kit/src/terminal/program-command.ts',
  ].includes(file) || !file.startsWith('src/');
const environmentReaders = (files: SourceFile[]) =>
  files
    .filter(({ name, readsEnvironment }) => readsEnvironment && !mayReadEnvironment(name))
    .map(({ name }) => name);

const files = globSync(['src/**/*.{ts,tsx}', 'packages/*/src/**/*.{ts,tsx}'], { cwd: root })
  .map((name) => name.split(path.sep).join('/'))
  .map(readSource);

describe('the source', () => {
  test('was really read', () => {
    expect(files.length).toBeGreaterThan(60);
    expect(files.flatMap(({ imports }) => imports).length).toBeGreaterThan(200);
    for (const rule of rules) expect(files.some(({ name }) => rule.about(name))).toBe(true);
  });

  for (const rule of rules) {
    test(rule.name, () => expect(violationsOf(rule, files)).toEqual([]));
  }

  test('only read-config.ts reads the environment, what hides it, its proxy, and what runs at a terminal', () =>
    expect(environmentReaders(files)).toEqual([]));
});

describe('a planted violation is found:', () => {
  const violations: [name: string, code: string][] = [
    [
      'packages/core/src/planted.ts',
      "import type { ServerConfig } from '../../../src/platform/config/config.ts';",
    ],
    ['packages/kit/src/planted.ts', "import { commands } from '@interlude-ai/program/client-commands.ts';"],
    ['packages/widget/src/planted.ts', "import { readTool } from '@interlude-ai/tools/define-tool.ts';"],
    ['packages/core/src/elicitation/planted.ts', "import { z } from 'zod';"],
    ['packages/core/src/contract/planted.ts', "import { formTrouble } from '../form-check.ts';"],
    ['packages/core/src/markdown/planted.ts', "import { z } from 'zod';"],
    ['packages/tools/src/planted.ts', "import { findToolFiles } from '@interlude-ai/core/mcp/rounds.ts';"],
    [
      'packages/client/src/planted.ts',
      "import { StreamEventSchema } from '@interlude-ai/core/contract/stream-event.ts';",
    ],
    [
      'packages/client/src/ai-sdk/planted.ts',
      "import { ElicitationRequestSchema } from '@interlude-ai/core/contract/elicitation.ts';",
    ],
    [
      'packages/widget/src/planted.tsx',
      "import { ElicitationRequestSchema } from '@interlude-ai/core/contract/elicitation.ts';",
    ],
    ['src/api/pages/playground/planted.ts', "import { createApp } from '../../app.ts';"],
    ['src/turn/timeline/planted.ts', "import type { Storage } from '../../storage/storage.ts';"],
    ['src/turn/planted.ts', "export { openStorage } from '../storage/open-storage.ts';"],
    ['src/api/a2a/vocabulary/planted.ts', "import type { Service } from '../../../service/service.ts';"],
    ['src/api/slack/vocabulary/planted.ts', "import type { Service } from '../../../service/service.ts';"],
    ['src/api/slack/blocks/planted.ts', "import { WebClient } from '@slack/web-api';"],
    ['src/api/slack/vocabulary/blocks/planted.ts', "import { homeView } from '../../blocks/home-view.ts';"],
    ['src/agent-tests/planted.ts', "import { loadConfig } from '../platform/config/load-config.ts';"],
    ['src/models/planted.ts', "import type { Storage } from '../storage/storage.ts';"],
    ['src/platform/network/planted.ts', "import type { ServerConfig } from '../config/config.ts';"],
    [
      'src/platform/telemetry/planted.ts',
      "import { toElicitation } from '../../storage/tables/elicitation-rows.ts';",
    ],
    ['src/service/planted.ts', "import { MeterProvider } from '@opentelemetry/sdk-metrics';"],
    ['src/activities/planted.ts', "import { createElicit } from '../workflows/elicit.ts';"],
    ['src/workflows/planted.ts', "import { createHash } from 'node:crypto';"],
    ['src/workflows/planted.ts', "import { createActivities } from '../activities/index.ts';"],
    ['src/api/chat/planted.ts', "const { card } = await import('../pages/layout.ts');"],
    ['src/api/ui-message/planted.ts', "import { chatSurface } from '../chat/route.ts';"],
    ['src/api/http/planted.ts', "import { chatSurface } from '../chat/route.ts';"],
    ['src/credentials/planted.ts', "import type { ListOutcome } from '../remote/mcp/list-tools.ts';"],
    ['src/storage/planted.ts', "import type { Principal } from '../api/http/validation.ts';"],
    ['src/storage/planted.ts', "import type { Principal } from '../service/principal.ts';"],
    ['src/activities/planted.ts', "import type { Principal } from '../service/principal.ts';"],
    ['src/service/planted.ts', "import type { FastifyReply } from 'fastify';"],
    ['src/service/planted.ts', "import cookies from '@fastify/cookie';"],
    ['src/service/planted.ts', "import { toProblem } from '../api/http/problems.ts';"],
    ['src/service/planted.ts', "import type { ModalView } from '@slack/types';"],
    ['src/service/slack/planted.ts', "import { WebClient } from '@slack/web-api';"],
    ['src/service/slack/planted.ts', "import { homeView } from '../../api/slack/blocks/home-view.ts';"],
    ['src/service/planted.ts', "import { toTask } from '../api/a2a/vocabulary/task-view.ts';"],
    ['src/service/planted.ts', "import { agentTurn } from '../workflows/agent-turn.ts';"],
    ['src/api/chat/planted.ts', "import { openStorage } from '../../storage/database.ts';"],
    ['src/api/chat/planted.ts', "import type { Client } from '@temporalio/client';"],
    ['src/api/pages/planted.ts', "import type { Storage } from '../../storage/storage.ts';"],
    ['src/api/nango-webhook/planted.ts', "import type { Stores } from '../../credentials/stores.ts';"],
    ['src/api/planted.ts', "import '../activities/index.ts';"],
    ['src/platform/loops/planted.ts', "import type { Client } from '@temporalio/client';"],
    ['src/platform/loops/planted.ts', "import type { Dependencies } from '../processes/dependencies.ts';"],
  ];

  test.each(violations)('%s with %s', (name, code) => {
    const planted = parse(name, code);
    expect(rules.flatMap((rule) => violationsOf(rule, [planted]))).not.toEqual([]);
  });

  test.each(rules)('of the rule: $name', (rule) => {
    const planted = violations.map(([name, code]) => parse(name, code));
    expect(violationsOf(rule, planted)).not.toEqual([]);
  });

  test('a second reader of the environment', () => {
    expect(environmentReaders([parse('src/planted.ts', 'export const home = process.env.HOME;')])).toEqual([
      'src/planted.ts',
    ]);
  });

  test('while a type of an activity is fine', () => {
    const planted = parse(
      'src/workflows/planted.ts',
      "import type { Activities } from '../activities/index.ts';",
    );
    expect(rules.flatMap((rule) => violationsOf(rule, [planted]))).toEqual([]);
  });
});
