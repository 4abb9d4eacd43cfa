/** Logs how the process of a server ended and, unless it was stopped, the end of its standard error. */
import type { Logger } from 'pino';
import type { ServerConfig } from '../platform/config/config.ts';
import { plainText } from '@interlude-ai/core/elicitation/plain-text.ts';
import type { ProcessExit, ServerProcess } from '@interlude-ai/core/mcp/stdio/process.ts';
import { inheritedVariables } from '../platform/config/agents-file/server-config.ts';
import { hidden, withoutKeys } from '../platform/telemetry/redact-secrets.ts';

const maxLines = 10;

export function logProcessExit(
  logger: Pick<Logger, 'debug' | 'warn'>,
  { name: server, process }: ServerConfig,
): (exit: ProcessExit) => void {
  return ({ exitCode, signal, stderrBytes, stderrEnd, isFailure }) => {
    const facts = { server, exitCode, signal, stderrBytes };
    if (!isFailure || !process) {
      logger.debug(facts, 'the process of a stdio server has ended');
      return;
    }
    const lines = redactSecrets(plainText(stderrEnd), process).split('\n');
    const stderr = lines.filter((line) => line.trim() !== '').slice(-maxLines);
    const how = signal === null ? `exit code ${exitCode}` : signal;
    const said = stderr.length > 0 ? `it said:\n${stderr.join('\n')}` : 'it said nothing';
    logger.warn({ ...facts, stderr }, `the process of server "${server}" failed (${how}); ${said}`);
  };
}

const shortestSecret = 6;

/**
 * Hides the values that the program was given, and everything that looks like a key: more people read the log than may know
 * them.
 */
export function redactSecrets(text: string, { env, args }: Pick<ServerProcess, 'env' | 'args'>): string {
  const given = Object.entries(env).flatMap(([name, value]) =>
    inheritedVariables.includes(name) ? [] : value,
  );
  const known = [...given, ...args.flatMap(secretArgument)]
    .filter((value) => value.length >= shortestSecret)
    .toSorted((one, other) => other.length - one.length);
  const withoutKnown = known.reduce((words, value) => words.replaceAll(value, hidden), text);
  return withoutKeys(withoutKnown);
}

/** `--token=…`, and the argument after `--token`. */
function secretArgument(argument: string, index: number, all: string[]): string[] {
  const isNamed = (text: string) => /^-.*(?:token|secret|password|key|auth)/i.test(text);
  const [name = '', ...value] = argument.split('=');
  if (value.length > 0) return isNamed(name) ? [value.join('=')] : [];
  const before = all[index - 1];
  return before !== undefined && !before.includes('=') && isNamed(before) ? [argument] : [];
}
