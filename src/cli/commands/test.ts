/** `interlude test`: tests of agents. */
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { UsageError } from '@interlude-ai/kit/terminal/command.ts';

export function test(): CommandUnknownOpts {
  return new Command('test')
    .description('run tests of agents')
    .argument('[files...]', 'files or patterns; default: all *.test.ts and *.test.js below this folder')
    .option('--name <text>', 'only tests whose name contains this')
    .option('--junit <file>', "also write a report in JUnit's format")
    .option('--prepare', "only fetch Temporal's CLI, which other test runners need beforehand")
    .addHelpText(
      'after',
      `
Runs files with tests of agents, written with node:test.

Exit codes: 0 all passed, 1 a test failed, 2 wrong command line or no such file.
More: docs/testing-agents.md`,
    )
    .action(async (patterns, { name, junit: junitFile, prepare }) => {
      const { installTemporalCli } = await import('../../../scripts/setup/temporal-cli.mjs');
      if (prepare) return installTemporalCli();
      const { findTests, runTests } = await import('../../agent-tests/run-tests.ts');
      const folder = process.cwd();
      const files = await findTests({ patterns, folder });
      if (files.length === 0)
        throw new UsageError(
          `There is no test file: ${patterns.join(', ') || 'no *.test.ts or *.test.js here'}.`,
        );
      // The time-out of the first test does not include it.
      await installTemporalCli();
      if (!(await runTests(files, { folder, name, junitFile }))) process.exitCode = 1;
    });
}
