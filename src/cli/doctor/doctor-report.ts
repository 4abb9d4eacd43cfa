/** What `interlude doctor` found, for people. */
import { styleText } from 'node:util';
import { bold, counted, dim, plain } from '@interlude-ai/kit/terminal/terminal-text.ts';
import type { Area, Diagnosis } from './diagnose.ts';
import type { Finding } from './findings.ts';

const marks: Record<Finding['level'], string> = {
  ok: styleText('green', '✓'),
  warning: styleText('yellow', '!'),
  error: styleText('red', '✗'),
};

export function areaLines({ name, findings }: Area): string[] {
  if (findings.length === 0) return [];
  return [`  ${bold(name)}`, ...findings.flatMap(findingLines), ''];
}

function findingLines(finding: Finding): string[] {
  const [first = '', ...more] = plain(finding.text).split('\n');
  return [
    `    ${marks[finding.level]} ${first}`,
    ...more.map((line) => `      ${line.trim()}`),
    ...(finding.level === 'ok' ? [] : [dim(`      → ${plain(finding.remedy)}`)]),
  ];
}

export function endLines({ deploy, errors, warnings }: Diagnosis): string[] {
  const counts = [errors > 0 && counted(errors, 'error'), warnings > 0 && counted(warnings, 'warning')];
  const found = counts.filter(Boolean).join(', ');
  const end =
    errors > 0
      ? `${marks.error} Not safe to deploy: ${found}`
      : `${marks.ok} Safe to deploy${found && `, with ${found}`}`;
  return [
    ...(deploy
      ? [`  ${bold('a deploy now')}`, ...deploy.effects.map((effect) => `    · ${plain(effect)}`), '']
      : []),
    `  ${bold(end)}`,
    '',
  ];
}
