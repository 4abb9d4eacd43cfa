/** What a person typed, from the way Slack writes it: `<@U1>`, `<https://a.example|label>`, `&amp;`. Pure. */

/** Slack's ids of the people whom a text names. */
export function mentionsIn(text: string): string[] {
  return [...new Set([...text.matchAll(/<@([A-Z0-9]+)(?:\|[^<>]*)?>/g)].map(([, id = '']) => id))];
}

export interface TextOptions {
  /** Who we are there: to call us by name is no part of what is said. */
  botUser: string;
  /** What people are called, by their ids. */
  names: ReadonlyMap<string, string>;
}

export function plainText(text: string, options: TextOptions): string {
  const read = text.replaceAll(/<([^<>]*)>/g, (_, inside: string) => readMarkup(inside, options));
  return read.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&').trim();
}

function readMarkup(inside: string, { botUser, names }: TextOptions): string {
  const bar = inside.indexOf('|');
  const [target, label] =
    bar === -1 ? [inside, undefined] : [inside.slice(0, bar), inside.slice(bar + 1) || undefined];
  switch (target[0]) {
    case '@': {
      const id = target.slice(1);
      return id === botUser ? '' : `@${names.get(id) ?? label ?? id}`;
    }
    case '#':
      return `#${label ?? target.slice(1)}`;
    case '!':
      return readCommand(target.slice(1), label);
    default:
      return readLink(target, label);
  }
}

/** `here`, `subteam^S1`, `date^…`: the last two come with words for who cannot show them. */
function readCommand(command: string, label: string | undefined): string {
  const [name = ''] = command.split('^');
  if (label !== undefined) return label;
  return name === 'subteam' ? '@group' : `@${name}`;
}

function readLink(address: string, label: string | undefined): string {
  const shown = address.startsWith('mailto:') ? address.slice('mailto:'.length) : address;
  if (label === undefined || label === shown || address.endsWith(`://${label}`)) return shown;
  return `${label} (${shown})`;
}
