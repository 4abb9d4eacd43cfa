/** `interlude answer`: sources of answers for a running service, in tests and in automation. */
import process from 'node:process';
import { createClient } from '../../client/client.ts';
import { decideFrom } from '../../testing/answers/answer-from.ts';
import { readDuration } from '../../tools/read-duration.ts';
import type { Duration } from '../../tools/read-duration.ts';
import { runAnswer } from '../answer/run-answer.ts';
import { defineCommand, UsageError } from '../command.ts';
import { findToken } from '../login/find-token.ts';
import { createKeptLogins, loginsFolder } from '../login/kept-logins.ts';
import { serviceAddress } from '../login/sign-in-server.ts';
import { readSources } from '../try/answer-sources.ts';
import { sourceOptions } from '../try/options.ts';
import { createTerminal } from '../try/terminal.ts';
import { readService, serviceOption } from './service-option.ts';
import { print, toJsonText } from '../terminal-text.ts';

export const answer = defineCommand({
  arguments: [],
  options: {
    for: {
      type: 'string',
      value: '<user>',
      description: 'whose questions; with an API key that acts for users (INTERLUDE_TOKEN)',
    },
    ...sourceOptions,
    prompt: { type: 'boolean', description: 'ask here in the terminal what nothing else answers' },
    once: { type: 'boolean', description: 'end when a question was answered and no other is open' },
    timeout: {
      type: 'string',
      value: '<duration>',
      description: 'end when nothing was asked for so long, like 60s',
    },
    service: serviceOption,
    token: { type: 'string', value: '<token>', description: 'an API token, instead of your login' },
    as: { type: 'string', value: '<user>', description: 'demo user: alice or bob' },
    json: { type: 'boolean', description: 'for programs: one object for each question, a line each' },
  },
  details: [
    'Answers what agents ask this user, in all conversations, from when it starts: what is open already, too.',
    'An answer that does not fit is not sent; the question stays open for a person. Answers are in the audit with what gave them.',
    '',
    'Exit codes: 0 every question was answered, 2 wrong command line, 3 a question was left open or an answer not confirmed, 5 nothing was asked in time.',
  ].join('\n'),
  async run({ json, once, timeout, token: given, as, ...values }, _, order) {
    const url = readService(values.service);
    const timeoutMs = timeout === undefined ? undefined : readTimeout(timeout);
    const { stdin, stderr, env } = process;
    const terminal = createTerminal({ input: stdin, output: stderr, isQuiet: json });
    const ended = new AbortController();
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ended.abort());
    try {
      const sources = await readSources({ ...values, order }, { terminal, canPrompt: false });
      if (sources.length === 0)
        throw new UsageError('Say what answers: --answers <file>, --responder <url>, --prompt or --decline.');
      const token = given ?? env['INTERLUDE_TOKEN'];
      if (values.for !== undefined && token === undefined)
        throw new UsageError('--for needs an API key that acts for users, in INTERLUDE_TOKEN or --token.');
      const service = token === undefined ? serviceAddress(url) : url;
      const logins = createKeptLogins(loginsFolder(env));
      const source = await findToken(logins, { service, token, as });
      const client = createClient({
        baseUrl: url,
        token: () => source.token(),
        ...(values.for !== undefined && { forUser: values.for }),
      });
      terminal.line(`  Waiting for questions to ${values.for ?? source.who} at ${url} …`);
      return await runAnswer({
        client,
        decide: decideFrom(sources),
        isOnce: once,
        timeoutMs,
        line: (text) => terminal.line(text),
        report: (outcome) => json && print(`${toJsonText(outcome)}\n`),
        signal: ended.signal,
      });
    } finally {
      terminal.close();
    }
  },
});

function readTimeout(text: string): number {
  try {
    return readDuration(text as Duration);
  } catch (cause) {
    throw new UsageError(`--timeout ${text} is no duration; write for example 60s.`, { cause });
  }
}
