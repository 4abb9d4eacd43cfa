/** What the command line of `interlude try` means, and what comes of it: the exit code. */
import type { Readable, Writable } from 'node:stream';
import { readDuration } from '../../tools/read-duration.ts';
import type { Duration } from '../../tools/read-duration.ts';
import { UsageError } from '../command.ts';
import type { Options, Values } from '../command.ts';
import { readSources, sourceOptions } from './answer-sources.ts';
import { readCassetteFile } from './cassette-file.ts';
import { TryError } from './exit-codes.ts';
import { runTry } from './run-try.ts';
import { readHeaders } from './read-headers.ts';
import { readTarget } from './target.ts';
import { createTerminal } from './terminal.ts';

export const tryOptions = {
  tool: {
    type: 'string',
    value: '<name>',
    description: 'call this tool; without it, the tools are listed',
  },
  args: { type: 'strings', value: '<key=value | JSON>', description: 'its arguments' },
  ...sourceOptions,
  'max-rounds': { type: 'string', value: '<number>', description: 'how often it may ask', default: '5' },
  timeout: {
    type: 'string',
    value: '<duration>',
    description: 'how long the server may say nothing',
    default: '60s',
  },
  era: {
    type: 'string',
    value: '<auto | modern | legacy>',
    description: 'which MCP to speak',
    default: 'auto',
  },
  can: {
    type: 'string',
    value: '<form,url>',
    description: 'which questions the server is told it may ask: form,url, form, url or none',
    default: 'form,url',
  },
  token: {
    type: 'string',
    value: '<token>',
    description: 'for a server that wants one (INTERLUDE_TRY_TOKEN)',
  },
  header: { type: 'strings', value: '<name: value>', description: 'sent with every request' },
  record: { type: 'string', value: '<cassette>', description: 'write all that is said into a file' },
  replay: {
    type: 'string',
    value: '<cassette>',
    description: 'make the recorded calls again, and show what the server says differently',
  },
  json: { type: 'boolean', description: 'for programs: one object on standard output' },
} as const satisfies Options;

export interface TryInput {
  words: string[];
  /** Names of the options, in the order of the command line. */
  order: string[];
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable & { isTTY?: boolean; columns?: number };
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

/** Throws `UsageError`. */
export async function tryWith(values: Values<typeof tryOptions>, input: TryInput): Promise<number> {
  const { tool, args, json, token, header, can, era, timeout } = values;
  const { words, order, stdin, stdout, stderr, env, signal } = input;
  const canPrompt = stdin.isTTY === true && stderr.isTTY === true && !json;
  const terminal = createTerminal({ input: stdin, output: stderr, isQuiet: json });
  try {
    const target = readTarget(words);
    const sources = await readSources({ ...values, order }, { terminal, canPrompt });
    return await runTry({
      target,
      tool,
      args,
      era: readEra(era),
      capabilities: readCan(can),
      headers: withToken(readHeaders(header, '--header'), token ?? env['INTERLUDE_TRY_TOKEN']),
      sources,
      maxRounds: readCount(values['max-rounds']),
      timeoutMs: readTimeout(timeout),
      isJson: json,
      canPrompt,
      record: values.record,
      replay: values.replay === undefined ? undefined : await readCassetteFile(values.replay),
      terminal,
      env,
      print: (text) => stdout.write(text),
      signal,
    });
  } catch (error) {
    if (!(error instanceof TryError)) throw error;
    stderr.write(`${error.message}\n`);
    return error.exitCode;
  } finally {
    terminal.close();
  }
}

function readEra(text: string): 'auto' | 'modern' | 'legacy' {
  if (text === 'auto' || text === 'modern' || text === 'legacy') return text;
  throw new UsageError(`--era ${text} is none; there is auto, modern (2026-07-28) and legacy.`);
}

function readCan(text: string): { form: boolean; url: boolean } {
  const words = text === 'none' ? [] : text.split(',').map((word) => word.trim());
  const unknown = words.find((word) => word !== 'form' && word !== 'url');
  if (unknown !== undefined) throw new UsageError(`--can ${text}: there is form, url and none.`);
  return { form: words.includes('form'), url: words.includes('url') };
}

function withToken(headers: Headers, token: string | undefined): Headers {
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  return headers;
}

function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0) throw new UsageError(`--max-rounds ${text} is no whole number.`);
  return count;
}

function readTimeout(text: string): number {
  try {
    return readDuration(text as Duration);
  } catch (cause) {
    throw new UsageError(`--timeout ${text} is no duration; write for example 90s.`, { cause });
  }
}
