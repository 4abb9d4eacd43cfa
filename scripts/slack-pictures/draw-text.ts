/** Slack's markup as HTML: only what our messages use. Pure. */

const names: Record<string, string> = { U1: 'ally', U9: 'Interlude' };

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Slack escapes `&`, `<` and `>` as HTML does, so what is left between them is HTML already. */
export function drawMrkdwn(text: string): string {
  return text
    .split('```')
    .map((part, index) => (index % 2 === 1 ? `<pre>${cells(part.trim())}</pre>` : drawLines(part)))
    .join('');
}

/** Each character as wide as any other, whatever letters the machine has. */
function cells(code: string): string {
  return code.replaceAll(/&\w+;|[^\n]/g, '<i>$&</i>');
}

function drawLines(text: string): string {
  return text
    .replaceAll(/<([^<>]*)>/g, (_, inside: string) => drawReference(inside))
    .replaceAll(/`([^`\n]+)`/g, '<code>$1</code>')
    .replaceAll(/(?<![\w>])\*([^*\n]+)\*/g, '<b>$1</b>')
    .replaceAll(/(?<![\w>/])_([^_\n]+)_(?!\w)/g, '<i>$1</i>')
    .trim()
    .replaceAll('\n', '<br>');
}

function drawReference(inside: string): string {
  const [target = '', label] = inside.split('|');
  if (target.startsWith('@'))
    return `<span class="person">@${names[target.slice(1)] ?? target.slice(1)}</span>`;
  if (target.startsWith('!date')) return label?.replace(' UTC', '') ?? '';
  return `<a>${label ?? target}</a>`;
}
