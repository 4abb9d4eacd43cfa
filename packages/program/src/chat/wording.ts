/** The terminal's texts. Text of models, tools and servers loses its control codes. */
import { styleText } from 'node:util';
import type { TurnView } from '@interlude-ai/client/turn-view.ts';
import { bold, dim, plain } from '@interlude-ai/kit/terminal/terminal-text.ts';

export function promptLabel(who: string): string {
  return `${styleText('cyan', who)} ${dim('›')} `;
}

/** `tracker__list_issues` → `Tracker · list issues`; other agents are called by their name. */
export function toolLabel(toolName: string): string {
  const words = (text: string) => plain(text).replaceAll('_', ' ').trim();
  const [server, ...tool] = toolName.split('__');
  if (server === 'agent' && tool.length > 0) return capitalised(words(tool.join(' ')));
  if (tool.length > 0) return `${capitalised(words(server ?? ''))} · ${words(tool.join(' '))}`;
  const connected = /^connect_(.+)$/.exec(toolName)?.[1];
  return connected === undefined ? words(toolName) : `${capitalised(words(connected))} · connect`;
}

export type ToolEnd =
  | { kind: 'done'; tookMs?: number }
  | { kind: 'failed' | 'not-connected' | 'not-answered' };

export function toolEnded(toolName: string, end: ToolEnd): string {
  const took = 'tookMs' in end && end.tookMs !== undefined ? ` ${(end.tookMs / 1000).toFixed(1)} s` : '';
  return dim(`  ⚙ ${toolLabel(toolName)} … ${ends[end.kind]}${took}`);
}

const ends: Record<ToolEnd['kind'], string> = {
  done: 'done',
  failed: 'did not work',
  'not-connected': 'not connected',
  'not-answered': 'not answered',
};

/** What the turn was last seen doing, with the agent's name unless it is the conversation's own agent. */
export function doing(view: TurnView | undefined): string {
  // An open question is shown itself; once it is settled, the tool that asked is at work again.
  const operation = view?.operations.findLast(({ type }) => type !== 'elicitation');
  if (!operation) return '…';
  const { agent } = operation.details;
  const who = agent === view?.operations[0]?.details.agent ? '' : `${plain(agent)}: `;
  switch (operation.type) {
    case 'tool_call':
    case 'tool_progress':
    case 'delegation':
      return `${who}${plain(operation.label)} …`;
    case 'waiting_for_worker':
      return operation.details.status === 'waiting' ? `${plain(operation.label)} …` : '…';
    case 'model_step':
    case 'tool_result':
    case 'elicitation':
      return `${who}thinking …`;
    default:
      operation satisfies never;
      // A newer type.
      return '…';
  }
}

/** `9:41 left`, counted by this machine's clock. */
export function timeLeft(expiresAt: string, now: number): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(expiresAt) - now) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`;
}

/** A time of today, in the local format. */
export function shortTime(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Printed when a model call is repeated and its void text cannot be removed from the screen. */
export const cutOff = dim('  That was cut off; the agent begins again.');

export function trouble(text: string): string {
  return `  ${styleText('red', '✗')} ${plain(text)}`;
}

export const help = [
  '',
  `  ${bold('n')}  ${bold('/decline')}   answer a question with "not now" (in a form: ${bold('/n')})`,
  `  ${bold('c')}  ${bold('/cancel')}    dismiss a question without deciding (in a form: ${bold('/c')})`,
  `     ${bold('/back')}      in a form: the field before`,
  `     ${bold('/new')} words a new message; it drops an open question, as any other line does outside a form`,
  `     ${bold('/stop')}      stop the turn`,
  `     ${bold('/quit')}      leave; the turn goes on without you, and a question stays open (Ctrl+C)`,
  '',
];
