/** `interlude test`. Its code is loaded when it runs, so that help starts fast. */
import { defineCommand, GivenFileError } from '@interlude-ai/kit/terminal/command.ts';

export const test = defineCommand({
  // Files are optional.
  arguments: [],
  rest: true,
  options: {
    name: { type: 'string', value: 'text', description: 'only tests whose name contains this' },
    junit: { type: 'string', value: 'file', description: "also write a report in JUnit's format" },
  },
  details: [
    'Runs files with tests of agents, written with node:test. Default: all *.test.ts and *.test.js below this folder.',
    '',
    'Exit codes: 0 all passed, 1 a test failed, 2 wrong command line or no such file. More: docs/testing-agents.md',
  ].join('\n'),
  async run({ name, junit: junitFile }, patterns) {
    const { findTests, runTests } = await import('../../agent-tests/run-tests.ts');
    const folder = process.cwd();
    const files = await findTests({ patterns, folder });
    if (files.length === 0)
      throw new GivenFileError(
        `There is no test file: ${patterns.join(', ') || 'no *.test.ts or *.test.js here'}.`,
      );
    return (await runTests(files, { folder, name, junitFile })) ? 0 : 1;
  },
});
