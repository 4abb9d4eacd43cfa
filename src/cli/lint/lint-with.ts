/** What the command line of `interlude lint-server` means, and what comes of it: the exit code. */
import type { Values } from '../command.ts';
import { readSources } from '../try/answer-sources.ts';
import { atServer } from '../try/at-server.ts';
import type { TryInput } from '../try/at-server.ts';
import type { lintOptions } from './options.ts';
import { readCallsFile } from './calls-file.ts';
import { runLint } from './run-lint.ts';

const maxRounds = 5;

/** Throws `UsageError`. */
export function lintWith(values: Values<typeof lintOptions>, input: TryInput): Promise<number> {
  const { calls, tool, all, strict } = values;
  return atServer(values, input, async ({ canPrompt, ...at }) =>
    runLint({
      ...at,
      calls: calls === undefined ? new Map() : await readCallsFile(calls),
      named: tool,
      all,
      canSignIn: canPrompt,
      sources: await readSources({ ...values, order: input.order }, { ...at, canPrompt: false }),
      maxRounds,
      isStrict: strict,
    }),
  );
}
