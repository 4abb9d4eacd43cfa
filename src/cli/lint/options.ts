/** The options of `interlude lint-server`: a table only, so that help starts fast. */
import type { Options } from '../command.ts';
import { connectionOptions, sourceOptions } from '../try/options.ts';

const { prompt: _prompt, decline: _decline, ...answering } = sourceOptions;

export const lintOptions = {
  calls: { type: 'string', value: '<file>', description: 'with what to call the tools (YAML)' },
  tool: { type: 'strings', value: '<name>', description: 'call this one, whatever it says of itself' },
  all: { type: 'boolean', description: 'call all tools, those included that do not say that they ask' },
  ...answering,
  ...connectionOptions,
  timeout: { ...connectionOptions.timeout, default: '20s' },
  strict: { type: 'boolean', description: 'exit code 1 for warnings, too' },
  json: { type: 'boolean', description: 'for programs: one object on standard output' },
} as const satisfies Options;
