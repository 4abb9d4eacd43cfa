/** What `interlude lint-server` found, and its exit code: part of its contract, docs/testing-servers.md. */
import { styleText } from 'node:util';
import type { Era } from '../call/read-answer.ts';
import { bold, counted, cut, dim, oneLine, plain } from '../terminal/terminal-text.ts';
import { serverLine } from '../try/list-tools.ts';
import { targetInWords } from '../try/read-connection.ts';
import type { Target } from '../try/read-connection.ts';
import type { Finding, Level } from './rules.ts';

export interface LintedTool {
  name: string;
  /** Why it was not called. */
  leftOut?: string;
  /** How many distinct questions it asked. */
  questions: number;
  findings: Finding[];
}

export interface LintReport {
  server: { name: string; version: string; era: Era; protocolVersion: string };
  tools: LintedTool[];
  findings: Finding[];
}

const exitCodes = {
  clean: 0,
  /** Errors; with `--strict` also warnings. */
  found: 1,
  /** No tool asked anything, so nothing was checked. */
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

// The report as people read it.

export function reportLines({ server, tools, findings }: LintReport, target: Target): string[] {
  const width = Math.max(0, ...tools.map(({ name }) => oneLine(name).length)) + 2;
  return [
    serverLine({ server, version: server.protocolVersion }, targetInWords(target)),
    '',
    ...tools.map((tool) => `  ${oneLine(tool.name).padEnd(width)}${stateOf(tool)}`),
    ...(tools.some(({ leftOut }) => leftOut !== undefined) ? [dim(howToCall)] : []),
    '',
    ...findingLines(findings),
    lastLine(tools, findings),
  ];
}

const howToCall = '  To call one all the same: --tool <name>, its arguments in --calls <file>, or --all.';

function stateOf({ leftOut, questions, findings }: LintedTool): string {
  if (leftOut !== undefined) return dim(`not called: ${oneLine(leftOut)}`);
  const asked = questions === 0 ? 'asked nothing' : `asked ${counted(questions, 'question')}`;
  const counts = countsOf(findings);
  return counts === '' ? asked : `${asked}: ${counts}`;
}

/** In columns: rule, tool, observation; below it the remedy and the clause. */
function findingLines(findings: readonly Finding[]): string[] {
  const sorted = findings.toSorted((one, other) => order[one.level] - order[other.level]);
  const rules = Math.max(0, ...findings.map(({ rule }) => rule.length)) + 2;
  return sorted.flatMap(({ level, rule, tool, question, message, remedy, clause }) => {
    const asked = question === undefined || question === '' ? '' : dim(`  “${cut(oneLine(question), 60)}”`);
    return [
      `  ${mark[level]} ${rule.padEnd(rules)}${bold(oneLine(tool))}${asked}`,
      `      ${plain(message)}`,
      ...(remedy === undefined ? [] : [`      ${remedy}`]),
      dim(`      The rule: ${clause.text}.`),
      ...(clause.url === null ? [] : [dim(`      ${clause.url}`)]),
      '',
    ];
  });
}

const order: Record<Level, number> = { error: 0, warning: 1 };
const mark: Record<Level, string> = { error: styleText('red', '✗'), warning: styleText('yellow', '!') };

function lastLine(tools: readonly LintedTool[], findings: readonly Finding[]): string {
  const questions = tools.reduce((sum, tool) => sum + tool.questions, 0);
  const called = tools.filter(({ leftOut }) => leftOut === undefined).length;
  const looked = dim(
    ` · ${counted(questions, 'question')} of ${called} called, ${counted(tools.length, 'tool')}`,
  );
  const counts = countsOf(findings);
  const nothing = questions === 0 ? nothingAsked(tools) : '';
  if (counts !== '' || nothing !== '') return `  ${[counts, nothing].filter(Boolean).join('. ')}${looked}\n`;
  return `  ${styleText('green', '✓')} nothing to stumble over${looked}\n`;
}

/** Asking nothing is no success. */
function nothingAsked(tools: readonly LintedTool[]): string {
  const left = tools.filter(({ leftOut }) => leftOut !== undefined).length;
  const why =
    left === 0
      ? 'call them with arguments for which they ask (--calls)'
      : `${left === tools.length ? 'none' : 'not every one'} was called`;
  return `No tool asked anything, so there was nothing to look at: ${why}.`;
}

function countsOf(findings: readonly Finding[]): string {
  const of = (level: Level) => findings.filter((one) => one.level === level).length;
  const words = [
    of('error') > 0 && counted(of('error'), 'error'),
    of('warning') > 0 && counted(of('warning'), 'warning'),
  ];
  return words.filter(Boolean).join(', ');
}
