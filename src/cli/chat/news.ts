/** What a later view of a turn tells that an earlier one did not, in the order to say it. Pure. */
import { keyOf } from '../../client/turn-view.ts';
import type { ElicitationRequest } from '../../contract/elicitation.ts';
import type { Part, TextPart, ToolCallPart, TurnView, ViewStatus } from '../../client/turn-view.ts';

export type News =
  | { kind: 'text'; text: string }
  | { kind: 'text-ended' }
  /** Some of what was told. */
  | { kind: 'text-taken-back'; text: string }
  | { kind: 'tool-started' | 'tool-ended'; call: ToolCallPart }
  | { kind: 'question-opened' | 'question-settled'; question: ElicitationRequest }
  | { kind: 'notice'; text: string }
  | { kind: 'turn-ended'; status: Exclude<ViewStatus, 'running'>; errorText: string | undefined };

export function newsBetween(before: TurnView | undefined, after: TurnView): News[] {
  const known = new Map(before?.parts.map((part) => [keyOf(part), part]));
  const kept = new Set(after.parts.map(keyOf));
  const gone = before?.parts.filter((part) => part.kind === 'text' && !kept.has(keyOf(part))) ?? [];
  const takenBack = gone.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  const news: News[] = takenBack === '' ? [] : [{ kind: 'text-taken-back', text: takenBack }];
  for (const part of after.parts) {
    const earlier = known.get(keyOf(part));
    if (part !== earlier) news.push(...newsOfPart(earlier, part));
  }
  if (after.status !== 'running') {
    news.push({ kind: 'turn-ended', status: after.status, errorText: after.errorText });
  }
  return news;
}

function newsOfPart(known: Part | undefined, part: Part): News[] {
  switch (part.kind) {
    case 'text':
      return newsOfText(known?.kind === 'text' ? known : undefined, part);
    case 'reasoning':
      return [];
    case 'tool-call': {
      const started: News[] = known ? [] : [{ kind: 'tool-started', call: part }];
      return part.state.kind === 'running' ? started : [...started, { kind: 'tool-ended', call: part }];
    }
    case 'elicitation': {
      const { elicitation: question } = part;
      return [{ kind: question.status === 'pending' ? 'question-opened' : 'question-settled', question }];
    }
    case 'tool-auth-required':
      return [{ kind: 'notice', text: part.notice.message }];
    default:
      return part satisfies never;
  }
}

function newsOfText(known: TextPart | undefined, part: TextPart): News[] {
  const text = part.text.slice(known?.text.length ?? 0);
  const news: News[] = text === '' ? [] : [{ kind: 'text', text }];
  return part.done && !known?.done ? [...news, { kind: 'text-ended' }] : news;
}
