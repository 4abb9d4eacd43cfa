/** The report as a person reads it: the tools, what was found, and a last line that counts. */
import { styleText } from 'node:util';
import { bold, dim, oneLine, plain } from '../chat/wording.ts';
import { serverLine } from '../try/print-tools.ts';
import { targetInWords } from '../try/target.ts';
import type { Target } from '../try/target.ts';
import type { LintReport, ToolReport } from './report.ts';
import type { Finding, Level } from './rules.ts';

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

function stateOf({ leftOut, questions, findings }: ToolReport): string {
  if (leftOut !== undefined) return dim(`not called: ${oneLine(leftOut)}`);
  const asked = questions === 0 ? 'asked nothing' : `asked ${count(questions, 'question')}`;
  const counts = countsOf(findings);
  return counts === '' ? asked : `${asked}: ${counts}`;
}

/** Below one another, in columns: rule, tool, and what was seen; then what to do, and where it is written. */
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

function lastLine(tools: readonly ToolReport[], findings: readonly Finding[]): string {
  const questions = tools.reduce((sum, tool) => sum + tool.questions, 0);
  const called = tools.filter(({ leftOut }) => leftOut === undefined).length;
  const looked = dim(
    ` · ${count(questions, 'question')} of ${called} called, ${count(tools.length, 'tool')}`,
  );
  const counts = countsOf(findings);
  const nothing = questions === 0 ? nothingAsked(tools) : '';
  if (counts !== '' || nothing !== '') return `  ${[counts, nothing].filter(Boolean).join('. ')}${looked}\n`;
  return `  ${styleText('green', '✓')} nothing to stumble over${looked}\n`;
}

/** Why that is no success. */
function nothingAsked(tools: readonly ToolReport[]): string {
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
    of('error') > 0 && count(of('error'), 'error'),
    of('warning') > 0 && count(of('warning'), 'warning'),
  ];
  return words.filter(Boolean).join(', ');
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
