/** What the command line of `interlude try` means, and what comes of it: the exit code. */
import { UsageError } from '../command.ts';
import type { Values } from '../command.ts';
import { readSources } from './answer-sources.ts';
import { atServer } from './at-server.ts';
import type { TryInput } from './at-server.ts';
import { checkWritable, readCallsToReplay } from './cassette-file.ts';
import type { tryOptions } from './options.ts';
import { runTry } from './run-try.ts';

/** Throws `UsageError`. */
export function tryWith(values: Values<typeof tryOptions>, input: TryInput): Promise<number> {
  const { tool, args, record, replay } = values;
  return atServer(values, input, async (at) => {
    if (record !== undefined) await checkWritable(record);
    return runTry({
      ...at,
      tool,
      args,
      sources: await readSources({ ...values, order: input.order }, at),
      maxRounds: readCount(values['max-rounds']),
      record,
      replay: replay === undefined ? undefined : await readCallsToReplay(replay),
    });
  });
}

function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0) throw new UsageError(`--max-rounds ${text} is no whole number.`);
  return count;
}
