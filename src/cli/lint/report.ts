/** What `interlude lint-server` has found, and how it ends: both part of its contract, docs/testing-servers.md. */
import type { Era } from '../../testing/call/read-answer.ts';
import type { Finding } from './rules.ts';

export interface ToolReport {
  name: string;
  /** Why it was not called. */
  leftOut?: string;
  /** How many different ones it asked. */
  questions: number;
  findings: Finding[];
}

export interface LintReport {
  server: { name: string; version: string; era: Era; protocolVersion: string };
  tools: ToolReport[];
  findings: Finding[];
}

const exitCodes = {
  clean: 0,
  /** Errors; with `--strict` also warnings. */
  found: 1,
  /** No tool asked anything: there was nothing to look at. */
  nothingAsked: 3,
} as const;

export function exitCodeOf({ tools, findings }: LintReport, isStrict: boolean): number {
  if (findings.some(({ level }) => isStrict || level === 'error')) return exitCodes.found;
  return tools.some(({ questions }) => questions > 0) ? exitCodes.clean : exitCodes.nothingAsked;
}

export function toJson({ server, tools, findings }: LintReport, exitCode: number): object {
  return {
    server,
    tools: tools.map(({ findings: _findings, leftOut, ...rest }) => ({
      ...rest,
      called: leftOut === undefined,
      ...(leftOut !== undefined && { leftOut }),
    })),
    findings,
    exitCode,
  };
}
