/** The changes from one view of a turn to the next, in the order in which to print them. Pure. */
import { keyOf } from '../../client/turn-view.ts';
import type { ElicitationRequest } from '../../contract/elicitation.ts';
import type { Part, TextPart, ToolCallPart, TurnView, ViewStatus } from '../../client/turn-view.ts';

export type ViewChange =
  | { kind: 'text'; text: string }
  | { kind: 'text-ended' }
  /** Text that was printed and is void. */
  | { kind: 'text-taken-back'; text: string }
  | { kind: 'tool-started' | 'tool-ended'; call: ToolCallPart }
  | { kind: 'question-opened' | 'question-settled'; question: ElicitationRequest }
  | { kind: 'notice'; text: string }
  | { kind: 'turn-ended'; status: Exclude<ViewStatus, 'running'>; errorText: string | undefined };

export function changesBetween(before: TurnView | undefined, after: TurnView): ViewChange[] {
  const known = new Map(before?.parts.map((part) => [keyOf(part), part]));
  const kept = new Set(after.parts.map(keyOf));
  const gone = before?.parts.filter((part) => part.kind === 'text' && !kept.has(keyOf(part))) ?? [];
  const takenBack = gone.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  const changes: ViewChange[] = takenBack === '' ? [] : [{ kind: 'text-taken-back', text: takenBack }];
  for (const part of after.parts) {
    const earlier = known.get(keyOf(part));
    if (part !== earlier) changes.push(...changesOfPart(earlier, part));
  }
  if (after.status !== 'running') {
    changes.push({ kind: 'turn-ended', status: after.status, errorText: after.errorText });
  }
  return changes;
}

function changesOfPart(known: Part | undefined, part: Part): ViewChange[] {
  switch (part.kind) {
    case 'text':
      return changesOfText(known?.kind === 'text' ? known : undefined, part);
    case 'reasoning':
      return [];
    case 'tool-call': {
      const started: ViewChange[] = known ? [] : [{ kind: 'tool-started', call: part }];
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

function changesOfText(known: TextPart | undefined, part: TextPart): ViewChange[] {
  const text = part.text.slice(known?.text.length ?? 0);
  const changes: ViewChange[] = text === '' ? [] : [{ kind: 'text', text }];
  return part.done && !known?.done ? [...changes, { kind: 'text-ended' }] : changes;
}
