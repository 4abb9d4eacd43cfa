/** Slack's markup and blocks as text for a terminal. */
interface Text {
  text: string;
}

interface Block {
  type: string;
  text?: Text;
  elements?: { text: string | Text; url?: string }[];
}

export function plain(text: string): string {
  return text
    .replaceAll(/<(https?:[^|>]+)\|([^>]+)>/g, '$2: $1')
    .replaceAll(/<(?:[^|>]*\|)?([^>]+)>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** All that a window says; its inputs are asked one by one. */
export function wordsOf({ blocks }: { blocks: unknown[] }): string {
  return (blocks as Block[])
    .flatMap(({ text, elements = [] }) => [
      text?.text ?? '',
      ...elements.map((one) => `${typeof one.text === 'string' ? one.text : one.text.text} ${one.url ?? ''}`),
    ])
    .filter((line) => line !== '')
    .map(plain)
    .join('\n');
}
