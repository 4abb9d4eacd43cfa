/** What the terminal says. Words that came from elsewhere (models, tools, servers) lose their control codes. */
import { styleText } from 'node:util';
import type { TurnView } from '../../src/client/turn-view.ts';
import type { ElicitationRequest } from '../../src/contract/elicitation.ts';

export const dim = (text: string): string => styleText('dim', text);
const bold = (text: string): string => styleText('bold', text);
const accent = (text: string): string => styleText(['bold', 'cyan'], text);

/** Without control characters, which could rewrite the screen or hide where a link leads. */
export function plain(text: string): string {
  return text.replaceAll(/(?![\n\t])\p{Cc}/gu, '');
}

export function promptLabel(who: string): string {
  return `${styleText('cyan', who)} ${dim('›')} `;
}

/** The question as a card; the link stands alone on its line, complete, to be copied or clicked. */
export function questionCard(question: ElicitationRequest, isInteractive: boolean): string[] {
  const { context, message } = question;
  const head = [
    `  ${styleText('yellow', '●')} ${bold(plain(message))}`,
    dim(`    ${plain(context.agent)} asks, for ${plain(context.serverTitle)} at ${plain(context.host)}`),
    ...(context.scopes?.length ? [dim(`    permissions: ${plain(context.scopes.join(', '))}`)] : []),
    ...(context.warnings ?? []).map((warning) => `    ${styleText('red', warningText(warning))}`),
    '',
  ];
  const way =
    question.mode === 'url'
      ? ['  Open this link in your browser:', '', `  ${accent(plain(question.url))}`, '']
      : ['  This terminal cannot show forms; answer it in another client, or here:', ''];
  const otherwise = dim('  Anything else you type is a new message; this question is then dropped.');
  return [...head, ...way, keys(question), ...(isInteractive ? [otherwise] : [])];
}

function keys({ expiresAt }: ElicitationRequest): string {
  const until = new Date(expiresAt).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return `  ${bold('n')} ${dim('Not now')}    ${bold('c')} ${dim('Dismiss')}    ${dim(`then Enter; open until ${until}`)}`;
}

function warningText(warning: string): string {
  switch (warning) {
    case 'punycode':
      return 'Careful: the address has letters that may only look familiar.';
    case 'userinfo':
      return 'Careful: the address has a name before the host, which can mislead.';
    case 'ip_host':
      return 'Careful: the address is a bare number, not a name.';
    case 'plain_http':
      return 'Careful: the address is not encrypted (http).';
    default:
      return `Careful with the address: ${plain(warning)}.`;
  }
}

export function settledLine({ status, context }: ElicitationRequest): string {
  const title = plain(context.serverTitle);
  switch (status) {
    case 'accept':
      return `  ${styleText('green', '✓')} ${context.trigger === 'credential_required' ? `${title} is connected.` : 'Answered.'}`;
    case 'decline':
      return dim(`  – Not now: ${title} is left out.`);
    case 'cancel':
      return dim(`  – Dismissed: ${title} was not decided on.`);
    case 'expired':
      return `  ${styleText('yellow', '–')} ${dim('Nobody answered in time. Ask again when you are ready.')}`;
    case 'pending':
      return dim(`  – ${title} is still asking.`);
    default:
      return status satisfies never;
  }
}

/** Of a question that was open when a new message came. */
export function supersededLine({ context }: ElicitationRequest): string {
  return dim(`  – Left undecided: ${plain(context.serverTitle)}. Your new message counts.`);
}

/** `tracker__list_issues` → `Tracker · list issues`; other agents go by their name. */
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
  return dim(`  ⚙ ${toolLabel(toolName)} … ${endInWords(end)}`);
}

function endInWords(end: ToolEnd): string {
  switch (end.kind) {
    case 'done':
      return end.tookMs === undefined ? 'done' : `done ${(end.tookMs / 1000).toFixed(1)} s`;
    case 'failed':
      return 'did not work';
    case 'not-connected':
      return 'not connected';
    case 'not-answered':
      return 'not answered';
    default:
      return end satisfies never;
  }
}

/** The last thing a turn was seen doing; who does it, unless it is the conversation's own agent. */
export function doing(view: TurnView | undefined): string {
  const operation = view?.operations.at(-1);
  if (!operation) return '…';
  const { agent } = operation.details;
  const who = agent === view?.operations[0]?.details.agent ? '' : `${plain(agent)}: `;
  switch (operation.type) {
    case 'tool_call':
    case 'delegation':
      return `${who}${plain(operation.label)} …`;
    case 'model_step':
    case 'tool_result':
    case 'elicitation':
      return `${who}thinking …`;
    default:
      operation satisfies never;
      // A type that is newer than this client.
      return '…';
  }
}

/** `9:41 left`, counted by this machine's clock. */
export function timeLeft(expiresAt: string, now: number): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(expiresAt) - now) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function trouble(text: string): string {
  return `  ${styleText('red', '✗')} ${plain(text)}`;
}

export const help = [
  '',
  `  ${bold('n')}  ${bold('/decline')}   answer a question with "not now"`,
  `  ${bold('c')}  ${bold('/cancel')}    dismiss a question without deciding`,
  dim('     anything else while a question is open is a new message, and drops the question'),
  `     ${bold('/stop')}      stop the turn (Ctrl+C does the same)`,
  `     ${bold('/quit')}      leave; the turn goes on without you (Ctrl+C twice)`,
  '',
];
