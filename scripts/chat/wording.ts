/** What the terminal says. Words that came from elsewhere (models, tools, servers) lose their control codes. */
import { styleText } from 'node:util';
import type { ToolCallPart } from '../../src/client/turn-view.ts';
import type { ElicitationEvent, UrlWarning } from '../../src/elicitation/elicitation.ts';

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
export function questionCard(question: ElicitationEvent): string[] {
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
  return [...head, ...way, keys(question)];
}

function keys({ expiresAt }: ElicitationEvent): string {
  const until = new Date(expiresAt).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return `  ${bold('n')} ${dim('Not now')}    ${bold('c')} ${dim('Dismiss')}    ${dim(`then Enter; open until ${until}`)}`;
}

function warningText(warning: UrlWarning): string {
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
      return warning satisfies never;
  }
}

export function settledLine({ status, context }: ElicitationEvent): string {
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

/** `tracker__list_issues` → `Tracker · list issues`. */
export function toolLabel(toolName: string): string {
  const words = (text: string) => plain(text).replaceAll('_', ' ').trim();
  const [server, ...tool] = toolName.split('__');
  if (tool.length > 0) return `${capitalised(words(server ?? ''))} · ${words(tool.join(' '))}`;
  const connected = /^connect_(.+)$/.exec(toolName)?.[1];
  return connected === undefined ? words(toolName) : `${capitalised(words(connected))} · connect`;
}

export function toolStarted(toolName: string): string {
  return dim(`⚙ ${toolLabel(toolName)} …`);
}

export function toolEnded({ toolName, state }: ToolCallPart, tookMs: number | undefined): string {
  const took = tookMs === undefined ? '' : ` ${(tookMs / 1000).toFixed(1)} s`;
  return dim(`  ⚙ ${toolLabel(toolName)} … ${state.kind === 'failed' ? 'did not work' : `done${took}`}`);
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
  `     ${bold('/stop')}      stop the turn (Ctrl+C does the same)`,
  `     ${bold('/quit')}      leave; the turn goes on without you (Ctrl+C twice)`,
  '',
];
